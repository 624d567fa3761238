"""Writing files so that nothing is ever half-written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lftgen.errors import ModelError


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file: to a temporary file beside it first, then renamed.

    Raises
    ------
    ModelError
        A folder that does not exist or cannot be written.
    """
    target = Path(path)
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        raise ModelError(f"cannot write {target}: {error.strerror or error}") from error


def read_text(path: str | Path, *, limit: int) -> str:
    """A whole text file of at most ``limit`` bytes.

    Raises
    ------
    ModelError
        A file that does not exist, is too large, or is not UTF-8 text.
    """
    source = Path(path)
    try:
        size = source.stat().st_size
        if size > limit:
            raise ModelError(f"{source} has {size} bytes; more than {limit} are not read")
        return source.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot read {source}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{source} is not UTF-8 text") from error
