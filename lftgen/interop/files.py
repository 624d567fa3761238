"""Writing files so that nothing is ever half-written: one, or several of which all appear or none."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lftgen.errors import ModelError


def as_path(path: Any) -> Path:
    """A path from text or a path object.

    Raises
    ------
    ModelError
        Anything else (``None``, a number), an empty text, or one with a zero byte.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError(f"expected the path of a file, got {path!r} ({type(path).__name__})")
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise ModelError(f"expected the path of a file, got {text!r}")
    return Path(text)


def write_text(path: str | Path, text: str) -> None:
    """Write a whole text file: to a temporary file beside it first, then renamed.

    Raises
    ------
    ModelError
        A folder that does not exist or cannot be written.
    """
    write_files({as_path(path): text})


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files: all of them, or none, and what was there before stays.

    Each goes to a temporary file beside its target; only when all are complete are they renamed, and a rename that
    fails takes back those before it.

    Raises
    ------
    ModelError
        A folder that does not exist or cannot be written, a target that is a folder or may not be written.
    """
    temporary: dict[Path, Path] = {}
    target = Path()
    try:
        for target, content in contents.items():
            _check_target(target)
            temporary[target] = _temporary(target, content)
        _rename_all(temporary)
    except OSError as error:
        named = Path(error.filename2) if isinstance(error.filename2, str) else target
        raise ModelError(f"cannot write {named}: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise ModelError(f"cannot write {target}: a name in it is not valid text ({error.reason})") from error
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)


def _check_target(target: Path) -> None:
    if target.is_dir():
        raise ModelError(f"cannot write {target}: it is a folder; give the name of a file")
    if target.exists() and not (target.is_file() and os.access(target, os.W_OK)):
        raise ModelError(f"cannot write {target}: it is no ordinary file that may be written")


def _temporary(target: Path, content: str | bytes) -> Path:
    """A complete file beside the target, with the usual permissions."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
    except BaseException:
        os.unlink(name)
        raise
    return Path(name)


def _rename_all(temporary: Mapping[Path, Path]) -> None:
    """Rename each temporary file to its target; where one fails, put back what was there."""
    before: dict[Path, Path | None] = {}
    last = len(temporary) - 1
    try:
        for k, (target, source) in enumerate(temporary.items()):
            if k < last:  # nothing comes after the last one that could fail
                before[target] = _kept(target)
            os.replace(source, target)
    except BaseException:
        for target, old in before.items():
            if old is not None:
                os.replace(old, target)
            elif not temporary[target].exists():
                target.unlink(missing_ok=True)
        raise
    finally:
        for old in before.values():
            if old is not None:
                with contextlib.suppress(OSError):
                    old.unlink(missing_ok=True)


def _kept(target: Path) -> Path | None:
    """A second copy of what stands at the target now, if anything."""
    return _temporary(target, target.read_bytes()) if target.exists() else None


def read_text(path: str | Path, *, limit: int) -> str:
    """A whole text file of at most ``limit`` bytes.

    Raises
    ------
    ModelError
        A file that does not exist, is no ordinary file, is too large, or is not UTF-8 text.
    """
    source = as_path(path)
    try:
        status = source.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "no ordinary file"
            raise ModelError(f"cannot read {source}: it is {what}")
        if status.st_size > limit:
            raise ModelError(f"{source} has {status.st_size} bytes; more than {limit} are not read")
        return source.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot read {source}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{source} is not UTF-8 text") from error
