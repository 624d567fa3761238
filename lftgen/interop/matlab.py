"""MATLAB: an LFT as a function that makes the ``uss`` or ``umat``, and the same data in a MAT-file beside it.

The convention is ``lftdata``'s: the model is ``lft(Delta, M)``, the upper LFT.  See ``docs/matlab.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lftgen.errors import ModelError
from lftgen.interop.files import as_path, write_files
from lftgen.interop.identifiers import is_matlab_name, matlab_name
from lftgen.interop.matlab_mat import FORMAT, VERSION, mat_bytes, mat_content
from lftgen.interop.matlab_model import Element, elements_of, float_plant, partition
from lftgen.interop.matlab_text import comment, matrix, number, plain, row, string, strings
from lftgen.lft.model import LFT


def to_matlab(plant: LFT, path: str | Path) -> tuple[Path, Path]:
    """Write an LFT as a MATLAB function ``name.m`` and a MAT-file ``name.mat`` (version 5) beside it.

    ``[P, info] = name()`` makes a ``uss``, or a ``umat`` where there are no states, by ``lft(Delta, M)``: parameters are
    ``ureal`` (an angle as the ``ureal`` of its t), complex scalars ``ucomplex``, full complex blocks ``ultidyn`` (without
    states ``ucomplexm``).  Numbers read back to the last bit.

    Parameters
    ----------
    plant : LFT
        Without free symbols.
    path : str or Path
        ``name`` or ``name.m``; the last part is the function's name, so it must be one that MATLAB takes.

    Returns
    -------
    (Path, Path)
        The two files; both are written, or none.

    Raises
    ------
    ModelError
        No LFT, free symbols, entries that overflow, a name that is none in MATLAB, a target that cannot be written.

    Warns
    -----
    ModelWarning
        A full real block of several entries (MATLAB has none): they become independent parameters, a larger set.

    Examples
    --------
    >>> import lftgen as lg, tempfile
    >>> inverse = lg.realize([[1 / lg.uncertain("m", 2.0, bounds=(1, 4))]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = lg.to_matlab(inverse, f"{folder}/inverse")
    ...     text = files[0].read_text()
    >>> [line for line in text.splitlines() if "ureal(" in line]
    ["e.m = ureal('m', 2, 'Range', [1 4]);"]
    """
    files = matlab_files(plant, path)
    write_files(files)
    program, data = files
    return program, data


def matlab_files(plant: LFT, path: str | Path) -> dict[Path, str | bytes]:
    """What :func:`to_matlab` writes: contents by file."""
    model = float_plant(plant, "to_matlab")
    target = matlab_target(path, "to_matlab")
    elements = elements_of(model)
    return {
        target: function_text(model, elements, target.stem),
        target.with_suffix(".mat"): mat_bytes(mat_content(model, elements)),
    }


def matlab_target(path: Any, writer: str) -> Path:
    """The ``.m`` file of a name or path.

    Raises
    ------
    ModelError
        A last part that MATLAB cannot call.
    """
    target = as_path(path)
    if target.suffix != ".m":
        target = target.with_name(f"{target.name}.m")
    if not is_matlab_name(target.stem):
        raise ModelError(
            f"{writer}: {target.name} would hold a function that MATLAB cannot call: expected letters, digits and "
            f"underscores, a letter first, at most 63, no reserved word; {matlab_name(target.stem)}.m would do"
        )
    return target


# --- the function -----------------------------------------------------------------------------------------------------


def function_text(plant: LFT, elements: list[Element], name: str) -> str:
    """The whole ``.m`` file."""
    parts = [
        f"function [P, info] = {name}()",
        comment(_help(plant, elements, name)),
        f"\nM = {matrix(plant.M)};",
        "\n% uncertain elements, those that do not occur in P as well",
        "e = struct();",
        *(f"e.{e.name} = {e.definition(dynamic=bool(plant.states))};" for e in elements),
        "",
        *_closing(plant, elements),
        "",
        *_info(plant, elements),
        "end",
    ]
    return "\n".join(parts) + "\n"


def _help(plant: LFT, elements: list[Element], name: str) -> str:
    size = partition(plant)
    kind = "uss" if plant.states else "umat"
    lines = [
        f"{name.upper()}  Uncertain model written by lftgen ({FORMAT} {VERSION})",
        "",
        f"  [P, info] = {name}()",
        "",
        f"P is a {kind}: P = lft(Delta, M), the upper LFT, as lftdata has it, with {size['n']} states, {size['nu']} inputs,",
        f"{size['ny']} outputs and {size['nz']} repetitions in all.  info.elements holds the uncertain elements,",
        "info.coordinate.<element>(value) turns a value that people speak into a value of the element, and",
        "info.value.<element>(x) turns it back:  usubs(P, 'm', info.coordinate.m(1.8), ...)",
        "",
        "  element                   of                        role        repetitions  range that people speak",
    ]
    lines += [_element_line(e) for e in elements] or ["  (none)"]
    return "\n".join([*lines, *_notes(elements)])


def _element_line(e: Element) -> str:
    p, b = e.parameter, e.block
    role = p.role if p is not None else b.kind
    spoken = (
        f"{number(p.nominal)} in [{number(p.lower)}, {number(p.upper)}] {plain(p.unit)}"
        if p is not None
        else f"gain up to {number(b.bound)}"
    )
    return f"  {e.name:25} {plain(b.name):25} {role:13} {b.repetitions:9}  {spoken}".rstrip()


def _notes(elements: list[Element]) -> list[str]:
    """Explanations of what this file needs, no others."""
    real = [e for e in elements if e.parameter is not None]
    angles = [e for e in real if e.block.parameter is not None and e.block.parameter.is_angle]
    out: list[str] = []
    if angles:
        out += ["", "The element of an angle is t, in which the model is rational, not the angle:"]
        out += [f"  {e.name} = {e.to_coordinate(matlab_name(e.block.name))}" for e in angles]
    if any(_is_skewed(e) for e in real):
        out += [
            "",
            "Nominals that are not the middle of the range: M goes with the plain deviation (element - nominal), so",
            "M is independent of how MATLAB normalises.  lftdata(P) normalises by a fraction with -1, 0, 1 at lower",
            "end, nominal and upper end, as lftgen's plant.normalized() does; values of P are the same either way.",
        ]
    edge = [e.name for e in real if e.at_edge]
    if edge:
        out += [
            "",
            f"The nominal of {', '.join(edge)} is an end of its range, which ureal does not take: its ureal has the",
            "middle for nominal.  P has the same values; only P.NominalValue is at another point.",
        ]
    constant = [e.name for e in real if e.is_constant]
    if constant:
        out += ["", f"The range of {', '.join(constant)} is one point: a number here, no element of P."]
    if any(e.block.kind == "full real" and e.entries for e in elements):
        out += [
            "",
            "A full real block has independent entries here (MATLAB has no other): a larger set than its norm allows.",
        ]
    return out


def _is_skewed(e: Element) -> bool:
    low, high = e.bounds
    return not e.is_constant and abs(high + low - 2 * e.nominal) > 1e-12 * (high - low)


def _closing(plant: LFT, elements: list[Element]) -> list[str]:
    """Delta, the state-space model around it, and the loop."""
    size = partition(plant)
    occurring = [e for e in elements if e.block.repetitions]
    pad_y, pad_u = int(bool(occurring) and not size["ny"]), int(bool(occurring) and not size["nu"])
    out = []
    if pad_y or pad_u:
        out += [
            "% lft cannot tell which loop to close without outputs or inputs: one that is zero goes in and out again"
        ]
        out += [f"M = blkdiag(M, zeros({pad_y}, {pad_u}));"]
    if plant.states:
        n = size["n"]
        out += [
            f"G = ss(M(1:{n}, 1:{n}), M(1:{n}, {n + 1}:end), M({n + 1}:end, 1:{n}), M({n + 1}:end, {n + 1}:end));",
            f"G.StateName = {strings(plant.states)};",
        ]
    source = "G" if plant.states else "M"
    if not occurring:
        out += [f"P = {'uss' if plant.states else 'umat'}({source});"]
    else:
        parts = [_repeated(e) for e in occurring]
        inner = ", ...\n  ".join(parts)
        out += [f"Delta = {parts[0]};" if len(parts) == 1 else f"Delta = blkdiag( ...\n  {inner});"]
        out += [f"P = lft(Delta, {source});"]
    if pad_y or pad_u:
        out += [f"P = P(1:{size['ny']}, 1:{size['nu']});"]
    if plant.states:
        out += [
            f"P.{k} = {strings(v)};"
            for k, v in (("InputName", plant.inputs), ("OutputName", plant.outputs))
            if v
        ]
    return out


def _repeated(e: Element) -> str:
    r, text = e.block.repetitions, e.delta()
    if e.block.is_scalar:
        return f"({text})*eye({r})"
    return text if r == 1 else f"blkdiag({', '.join([text] * r)})"


def _info(plant: LFT, elements: list[Element]) -> list[str]:
    out = [
        f"info.format = {string(FORMAT)};",
        f"info.version = {VERSION};",
        f"info.states = {strings(plant.states)};",
        f"info.inputs = {strings(plant.inputs)};",
        f"info.outputs = {strings(plant.outputs)};",
        "info.elements = e;",
        "info.coordinate = struct();",
        "info.value = struct();",
        "info.rate = struct();",
        "% names in lftgen, names here, units of the values that people speak",
    ]
    names = [f"  {string(e.block.name)}, {string(e.name)}, {string(_unit(e))}" for e in elements]
    out += ["info.names = { ...\n" + "; ...\n".join(names) + "};" if names else "info.names = cell(0, 3);"]
    for e in elements:
        out += [f"info.coordinate.{e.name} = @(value) {e.to_coordinate('value')};"]
        out += [f"info.value.{e.name} = @(x) {e.from_coordinate('x')};"]
        if e.parameter is not None and e.parameter.rate is not None:
            out += [
                f"info.rate.{e.name} = {row(e.parameter.rate)};  % of the value that people speak, per second"
            ]
    return out


def _unit(e: Element) -> str:
    return e.parameter.unit if e.parameter is not None else ""
