"""Julia: an LFT as text that makes an ``UncertainSS`` of RobustAndOptimalControl.jl, ``LFT_u(M, Diagonal(delta))``.

That package takes its elements as normalised (radius one around zero), so M goes over normalised: delta is -1, 0, 1 at the
lower end, the nominal and the upper end of a range.  See ``docs/julia.md``.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lftgen.errors import ModelError, ParameterWarning
from lftgen.interop.files import as_path, write_files
from lftgen.interop.identifiers import julia_name, unique_names
from lftgen.interop.matlab_model import float_plant, partition
from lftgen.lft import maps
from lftgen.lft.model import LFT
from lftgen.lft.structure import DeltaBlock
from lftgen.parameters import Parameter

FORMAT, VERSION = "lftgen-julia", 1
_TAKEN = frozenset(
    (
        "A", "Any", "B", "C", "D", "Dict", "Float64", "Function", "M", "P", "String", "Symbol", "UncertainSS", "complex",
        "deltas", "fill", "inputs", "names", "normalize", "outputs", "pi", "reshape", "ss", "states", "tan", "value", "zeros",
    )
)  # fmt: skip
"""Words that the file uses itself."""


def to_julia(plant: LFT, path: str | Path) -> Path:
    """Write an LFT as a Julia file ``name.jl`` that defines a module with the ``UncertainSS``.

    Parameters
    ----------
    plant : LFT
        Without free symbols.  Blocks: parameters, complex scalars, full complex blocks (``δDyn``).
    path : str or Path
        ``name`` or ``name.jl``.

    Returns
    -------
    Path

    Raises
    ------
    ModelError
        No LFT, free symbols, entries that overflow, a full real block, a target that cannot be written.

    Notes
    -----
    The text is checked for its form, it is not run with Julia here.

    Examples
    --------
    >>> import lftgen as lg, tempfile
    >>> inverse = lg.realize([[1 / lg.uncertain("m", 2.0, bounds=(1, 4))]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = lg.to_julia(inverse, f"{folder}/inverse").read_text()
    >>> [line for line in text.splitlines() if "δr(" in line]
    ['const m = δr(0.0, 1.0, :m)']
    """
    files = julia_files(plant, path)
    write_files(files)
    (target,) = files
    return target


def julia_files(plant: LFT, path: str | Path) -> dict[Path, str | bytes]:
    """What :func:`to_julia` writes: contents by file."""
    model = float_plant(plant, "to_julia")
    target = as_path(path)
    if target.suffix != ".jl":
        target = target.with_name(f"{target.name}.jl")
    wide = [b.name for b in model.delta if b.kind == "full real" and b.shape != (1, 1)]
    if wide:
        raise ModelError(
            f"to_julia: {', '.join(wide)} is a full real block, which RobustAndOptimalControl has none of; "
            "fix it with plant.subs, or make its entries parameters"
        )
    return {target: julia_text(_normalised(model), julia_name(target.stem))}


def _normalised(plant: LFT) -> LFT:
    """All blocks at radius one: constants put in, and a nominal on the edge of its range moved to the middle."""
    constant = {p.name: p.lower for p in plant.parameters if p.is_constant}
    fixed = [p for p in plant.parameters if p.is_constant]
    data = (plant.subs(**constant).declare(*fixed) if fixed else plant).data
    with (
        warnings.catch_warnings()
    ):  # a map's pole near the box matters to whoever leaves the box, not within it
        warnings.simplefilter("ignore", ParameterWarning)
        wanted = {
            b.name: maps.normalized_map(b, recenter=_at_edge(b.parameter))
            for b in data.structure.blocks
            if b.parameter is not None
        }
    data = maps.change_maps(data, wanted)
    M, s = data.M.copy(), data.structure
    for block, columns in zip(s.blocks, s.column_slices(), strict=True):
        M[:, columns] *= block.bound if block.parameter is None else 1.0
    blocks = tuple(replace(b, bound=1.0) for b in s.blocks)
    return LFT(replace(data, M=M, structure=replace(s, blocks=blocks)))


def _at_edge(p: Parameter) -> bool:
    low, high = p.coordinate_bounds
    return min(p.coordinate_nominal - low, high - p.coordinate_nominal) <= 1e-9 * (high - low)


# --- the text ---------------------------------------------------------------------------------------------------------


def julia_text(plant: LFT, name: str) -> str:
    """The whole file; ``plant`` is normalised."""
    names = unique_names([b.name for b in plant.delta], julia_name, taken={*_TAKEN, name}, limit=200)
    blocks = [(b, names[b.name]) for b in plant.delta]
    parts = [
        f"# Written by lftgen ({FORMAT} {VERSION}) for RobustAndOptimalControl.jl.",
        "#",
        f'#   include("{name}.jl"); using .{name}',
        f"#   {name}.P            UncertainSS: {len(plant.states)} states, {len(plant.inputs)} inputs, {len(plant.outputs)} outputs",
        f"#   {name}.normalize    functions from the values that people speak to delta in [-1, 1]",
        "#",
        *(f"#   {_line(b, n)}" for b, n in blocks),
        "",
        f"module {name}",
        "",
        "using RobustAndOptimalControl, ControlSystemsBase",
        "using RobustAndOptimalControl: UncertainSS, δDyn, δc, δr",
        "",
        *(
            f"const {n} = {_element(b, n)}"
            for b, n in blocks
            if b.parameter is None or not b.parameter.is_constant
        ),
        "",
        f"const M = {matrix(plant.M)}",
        "",
        "# each element as often as it is repeated, in the order of M",
        f"const deltas = {_deltas(blocks)}",
        *_system(plant),
        "",
        f"const states = {_symbols(plant.states)}",
        f"const inputs = {_symbols(plant.inputs)}",
        f"const outputs = {_symbols(plant.outputs)}",
        "",
        "# names in lftgen => names here",
        f"const names = Dict{{String, Symbol}}({', '.join(f'{string(b.name)} => :{n}' for b, n in blocks)})",
        "const normalize = Dict{Symbol, Function}(",
        *(
            f"    :{n} => {_function(b)},"
            for b, n in blocks
            if b.parameter is not None and not b.parameter.is_constant
        ),
        ")",
        "",
        f"end # module {name}",
    ]
    return "\n".join(parts) + "\n"


def _line(b: DeltaBlock, name: str) -> str:
    p = b.parameter
    if p is None:
        return f"{name} ({_plain(b.name)}): {b.kind}, {b.repetitions} times"
    if p.is_constant:
        return f"{name} ({_plain(b.name)}): constant {number(p.lower)} {_plain(p.unit)}".rstrip()
    return f"{name} ({_plain(b.name)}): {b.repetitions} times, {_plain(p.describe())}"


def _element(b: DeltaBlock, name: str) -> str:
    if b.kind == "complex":
        return f"δc(complex(0.0), {number(b.bound)}, :{name})"
    if b.kind == "full complex":
        return f"δDyn({b.shape[0]}, {b.shape[1]}; bound = {number(b.bound)}, name = :{name})"
    return f"δr(0.0, {number(b.bound)}, :{name})"


def _deltas(blocks: list[tuple[DeltaBlock, str]]) -> str:
    parts = [f"fill({n}, {b.repetitions})" for b, n in blocks if b.repetitions]
    return f"Any[{'; '.join(parts)}]" if parts else "Any[]"


def _system(plant: LFT) -> list[str]:
    """The partitioned model: states, then z and w of Delta, then outputs and inputs."""
    s = partition(plant)
    n, z, w = s["n"], s["n"] + s["nz"], s["n"] + s["nw"]
    y, u = z + s["ny"], w + s["nu"]
    rows = {"x": f"1:{n}", "z": f"{n + 1}:{z}", "y": f"{z + 1}:{y}"}
    columns = {"x": f"1:{n}", "w": f"{n + 1}:{w}", "u": f"{w + 1}:{u}"}
    order = ("xx", "xw", "xu", "zx", "yx", "zw", "zu", "yw", "yu")
    parts = [f"M[{rows[pair[0]]}, {columns[pair[1]]}]" for pair in order]
    lines = ",\n        ".join(", ".join(parts[k : k + 3]) for k in (0, 3, 6))
    return [
        "# ExtendedStateSpace(A, B1, B2, C1, C2, D11, D12, D21, D22): 1 is Delta's side, 2 the outer one",
        f"const P = UncertainSS(ss({lines}), deltas)",
    ]


def _function(b: DeltaBlock) -> str:
    """From the user's value to delta."""
    p, m = b.parameter, b.map
    assert p is not None
    x = "value"
    if p.is_angle:
        radians = "*(pi/180)" if p.unit == "deg" else ""
        x = f"tan((value - {_signed(p.center)}){radians}/{p.chart_divisor})"
    d = f"({x} - {_signed(m.origin)})"
    return (
        f"value -> {d}/({number(m.scale)} - {_signed(m.skew)}*{d})"
        if m.skew
        else f"value -> {d}/{number(m.scale)}"
    )


def number(value: float) -> str:
    """A Float64 literal that reads back to the last bit: the shortest one, always with a point or an exponent.

    Examples
    --------
    >>> number(2), number(1e-300), number(0.1 + 0.2)
    ('2.0', '1.0e-300', '0.30000000000000004')
    """
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{e}{exponent}"


def _signed(value: float) -> str:
    return number(value) if value >= 0 else f"({number(value)})"


def matrix(values: Any) -> str:
    """A matrix of Float64, one row a line.

    Examples
    --------
    >>> print(matrix([[1, 0.5], [0, -2]]))
    Float64[
        1.0 0.5;
        0.0 -2.0]
    """
    array = np.atleast_2d(np.asarray(values, dtype=float))
    if not array.size:
        return f"zeros({array.shape[0]}, {array.shape[1]})"
    rows = [" ".join(number(v) for v in line) for line in array]
    if len(rows) == 1:  # without a semicolon one row of one number would be a vector
        return f"reshape(Float64[{rows[0].replace(' ', ', ')}], 1, {array.shape[1]})"
    return "Float64[\n    " + ";\n    ".join(rows) + "]"


def string(text: str) -> str:
    """A string literal; nothing in it is interpolated or ends it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return '"' + re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", lambda m: f"\\u{ord(m[0]):04x}", escaped) + '"'


def _symbols(names: tuple[str, ...]) -> str:
    return f"Symbol[{', '.join(f'Symbol({string(n)})' for n in names)}]"


def _plain(text: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", " ", text)
