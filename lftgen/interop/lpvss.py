"""MATLAB's ``lpvss``: a mechanism as a data function with the offsets of its equilibrium.

The function works in plain arithmetic (MATLAB or Octave without toolboxes): it evaluates ``F_u(M, Delta)`` at the
point, and one more LFT without states for all offsets.  See ``docs/matlab.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lftgen.errors import ModelError
from lftgen.interop.files import write_files
from lftgen.interop.identifiers import matlab_name, unique_names
from lftgen.interop.lpvss_offsets import Offset, Offsets, offsets, stacked
from lftgen.interop.matlab import matlab_target
from lftgen.interop.matlab_model import Element, float_plant
from lftgen.interop.matlab_text import comment, matrix, number, plain, row, strings
from lftgen.lft.build import realize, vstack
from lftgen.lft.model import LFT
from lftgen.mechanics.mechanism import Mechanism
from lftgen.mechanics.trim import Trim
from lftgen.parameters import Parameter


def to_lpvss(
    mechanism: Mechanism,
    path: str | Path,
    *,
    plant: LFT | None = None,
    trim: Trim | None = None,
    inputs: Any = None,
    outputs: Any = None,
) -> Path:
    """Write the data function of an ``lpvss`` model, ``[A,B,C,D,E,dx0,x0,u0,y0,Delays] = name(t, p)``.

    The scheduling parameters are ``p``, in their own units; values of the uncertain ones may be given as a third
    argument and are nominal otherwise.  Called without arguments the function gives the names.  The offsets are the
    equilibrium: angles and lengths of joints in ``x0``, holding torques, loads and base accelerations in ``u0``, values
    of outputs in ``y0``; ``dx0`` is zero.

    Parameters
    ----------
    mechanism : Mechanism
    path : str or Path
        ``name`` or ``name.m``.
    plant : LFT, optional
        A model of this mechanism (reduced, normalised, fewer inputs); linearised here where left out.
    trim : Trim, optional
        The equilibrium; with one that solved for something, its mechanism is meant.
    inputs, outputs : sequence of str, optional
        As for :meth:`Mechanism.linearize`, where there is no ``plant``.

    Raises
    ------
    ModelError
        No mechanism, a plant of another mechanism, blocks that are no parameters, free symbols, a bad name or target.

    Examples
    --------
    >>> import lftgen as lg, tempfile
    >>> theta = lg.scheduled_angle("theta", (-60, 60), unit="deg")
    >>> bob = lg.RigidBody("bob", mass=1.0, com=(0, 0, -1))
    >>> hinge = lg.RevoluteJoint("hinge", parent="ground", child="bob", axis=(1, 0, 0), angle=theta)
    >>> arm = lg.Mechanism("arm", bodies=[bob], joints=[hinge])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lg.to_lpvss(arm, f"{folder}/arm_lpv").read_text().splitlines()[0]
    'function [A, B, C, D, E, dx0, x0, u0, y0, Delays] = arm_lpv(t, p, q)'
    """
    files = lpvss_files(mechanism, path, plant=plant, trim=trim, inputs=inputs, outputs=outputs)
    write_files(files)
    (target,) = files
    return target


def lpvss_files(
    mechanism: Mechanism,
    path: str | Path,
    *,
    plant: LFT | None = None,
    trim: Trim | None = None,
    inputs: Any = None,
    outputs: Any = None,
) -> dict[Path, str | bytes]:
    """What :func:`to_lpvss` writes: contents by file."""
    if not isinstance(mechanism, Mechanism):
        raise ModelError(f"to_lpvss writes a Mechanism, got {mechanism!r:.60} ({type(mechanism).__name__})")
    if trim is not None and not isinstance(trim, Trim):
        raise ModelError(f"to_lpvss: trim must be what {mechanism.name}.trim() gives, got {trim!r:.60}")
    if plant is not None and (inputs is not None or outputs is not None):
        raise ModelError("to_lpvss: give a plant, or the names of inputs and outputs, not both")
    target = matlab_target(path, "to_lpvss")
    trim = mechanism.trim() if trim is None else trim
    if plant is None:
        plant = mechanism.linearize(trim, inputs=inputs, outputs=outputs)
    model = float_plant(plant, "to_lpvss")
    owner = trim.mechanism if isinstance(trim.mechanism, Mechanism) else mechanism
    model = model.declare(*(p for p in owner.parameters if p.name not in model.repetitions))
    return {target: _Writer(owner, trim, model, target.stem).text()}


class _Writer:
    """The text of one data function."""

    def __init__(self, mechanism: Mechanism, trim: Trim, plant: LFT, name: str) -> None:
        other = [b.name for b in plant.delta if b.parameter is None]
        if other:
            raise ModelError(
                f"to_lpvss: {', '.join(other)} is no parameter; a data function takes parameters only: "
                "fix it with plant.subs first"
            )
        self.plant, self.name, self.mechanism = plant, name, mechanism
        self.offsets: Offsets = offsets(mechanism, trim, plant)
        first = {p: k for k, p in enumerate(mechanism.parameters)}
        ordered = sorted(plant.parameters, key=lambda p: first.get(p, len(first)))
        self.scheduling = [p for p in ordered if p.role == "scheduling"]
        self.uncertain = [p for p in ordered if p.role != "scheduling"]
        self.names = unique_names([p.name for p in plant.parameters], matlab_name)
        self.place = {p: f"p({k + 1})" for k, p in enumerate(self.scheduling)}
        self.place |= {p: f"q({k + 1})" for k, p in enumerate(self.uncertain)}
        self.values = self._stack()

    def _stack(self) -> LFT:
        """All offsets that are LFTs, one above the other."""
        o = self.offsets
        rows = stacked([*o.states, *o.inputs, *o.outputs])
        if not rows:
            return realize([[0.0]]).declare(*self.plant.parameters)
        named = [r.rename(inputs=["one"], outputs=[f"v{k}"]) for k, r in enumerate(rows)]
        whole = vstack(named).reduce() if len(named) > 1 else named[0]
        return whole.declare(*(p for p in self.plant.parameters if p.name not in whole.repetitions))

    def text(self) -> str:
        """The whole file."""
        n = len(self.plant.states)
        o = self.offsets
        count = iter(range(1, 10**9))
        offsets = [
            (k, self._vector(v, count)) for k, v in (("x0", o.states), ("u0", o.inputs), ("y0", o.outputs))
        ]
        parts = [
            f"function [A, B, C, D, E, dx0, x0, u0, y0, Delays] = {self.name}(t, p, q)",
            comment(self._help()),
            "persistent M N",
            "if isempty(M)",
            f"M = {matrix(self.plant.M)};",
            "% offsets that depend on parameters, one a row",
            f"N = {matrix(self.values.M)};",
            "end",
            *self._description(),
            f"if nargin < 3 || isempty(q), q = {_column([p.nominal for p in self.uncertain])}; end",
            f"if numel(p) ~= {len(self.scheduling)} || numel(q) ~= {len(self.uncertain)}",
            f"  error('{self.name}: expected {len(self.scheduling)} scheduling and {len(self.uncertain)} uncertain parameters');",
            "end",
            "% angles in radians where they are added; deviations of the coordinates from their nominals",
            *(f"{self._angle(p)} = {self._radians(p)};" for p in self.plant.parameters if p.is_angle),
            *self._deltas("d", self.plant),
            *self._deltas("v", self.values),
            f"S = closed(M, {n}, d);",
            "v = closed(N, 0, v);",
            f"A = S(1:{n}, 1:{n}); B = S(1:{n}, {n + 1}:end); C = S({n + 1}:end, 1:{n}); D = S({n + 1}:end, {n + 1}:end);",
            "E = []; Delays = [];",
            f"dx0 = zeros({n}, 1);",
            *(f"{k} = {text};" for k, text in offsets),
            "end",
            _CLOSED,
        ]
        return "\n".join(parts) + "\n"

    def _help(self) -> str:
        lines = [
            f"{self.name.upper()}  Data function of an lpvss model of {plain(self.mechanism.name)}, written by lftgen",
            "",
            f"  i = {self.name}();",
            f"  sys = lpvss(i.parameters, @{self.name}, 0, 0, i.parameters_range(:, 2), ...",
            "              'StateName', i.states, 'InputName', i.inputs, 'OutputName', i.outputs);",
            "",
            "E dx/dt = dx0 + A (x - x0) + B (u - u0),  y = y0 + C (x - x0) + D (u - u0): SI units and radians; x, u and y",
            "are absolute where the signal has an absolute value, and deviations otherwise (i.deviations).",
            "The model holds around the equilibrium of the momentary p; ranges are not checked.",
            "",
        ]
        for what, group in (("p", self.scheduling), ("q", self.uncertain)):
            for p in group:
                name = f" ({plain(p.name)} in lftgen)" if self.names[p.name] != p.name else ""
                lines.append(f"  {self.place[p]:6} {self.names[p.name]:20} in {plain(p.range_text())}{name}")
            lines += [] if group else [f"  {what} is empty"]
        return "\n".join([*lines, "", "q, the uncertain parameters, are nominal where they are left out."])

    def _description(self) -> list[str]:
        """What a call without arguments gives."""
        o, groups = self.offsets, (("parameters", self.scheduling), ("uncertain", self.uncertain))
        signals = (
            *zip(self.plant.states, o.states, strict=True),
            *zip(self.plant.inputs, o.inputs, strict=True),
            *zip(self.plant.outputs, o.outputs, strict=True),
        )
        loose = dict.fromkeys(n for n, offset in signals if offset.deviation)
        out = ["if nargin == 0", "  i = struct();"]
        for key, group in groups:
            out.append(f"  i.{key} = {strings(self.names[p.name] for p in group)};")
            out.append(f"  i.{key}_lftgen = {strings(p.name for p in group)};")
            out.append(f"  i.{key}_units = {strings(p.unit for p in group)};")
            ranges = "; ".join(f"{number(p.lower)} {number(p.nominal)} {number(p.upper)}" for p in group)
            out.append(
                f"  i.{key}_range = {f'[{ranges}]' if group else 'zeros(0, 3)'};  % lower, nominal, upper"
            )
        for p in self.scheduling:
            if p.rate is not None:
                out.append(f"  i.rate.{self.names[p.name]} = {row(p.rate)};")
        for key in ("states", "inputs", "outputs"):
            out.append(f"  i.{key} = {strings(getattr(self.plant, key))};")
        return [*out, f"  i.deviations = {strings(loose)};", "  A = i; return", "end"]

    def _radians(self, p: Parameter) -> str:
        return f"{self.place[p]}*(pi/180)" if p.unit == "deg" else self.place[p]

    def _angle(self, p: Parameter) -> str:
        return f"a{self.plant.parameters.index(p) + 1}"

    def _deltas(self, name: str, plant: LFT) -> list[str]:
        """The diagonal of Delta as a column."""
        rows, index = [], []
        for b in plant.delta:
            if b.parameter is None or not b.repetitions:
                continue
            rows.append(self._delta(Element(b, self.names[b.name])))
            index += [len(rows)] * b.repetitions
        if not rows:
            return [f"{name} = zeros(0, 1);"]
        body = "; ...\n  ".join(rows)
        repeated = " ".join(map(str, index))
        return [f"{name} = [ ...\n  {body}];", f"{name} = reshape({name}([{repeated}]), [], 1);"]

    def _delta(self, e: Element) -> str:
        assert e.parameter is not None
        m = e.block.map
        x = e.to_coordinate(self.place[e.parameter])
        d = (
            f"({x} - {number(m.origin)})"
            if m.origin > 0
            else f"({x} + {number(-m.origin)})"
            if m.origin
            else f"({x})"
        )
        if (m.scale, m.skew) == (1.0, 0.0):
            return d
        return (
            f"{d}/({number(m.scale)} - {number(m.skew)}*{d})"
            if m.skew >= 0
            else f"{d}/({number(m.scale)} + {number(-m.skew)}*{d})"
        )

    def _vector(self, rows: tuple[Offset, ...], count: Any) -> str:
        if not rows:
            return "zeros(0, 1)"
        return "[ ...\n  " + "; ...\n  ".join(self._row(o, count) for o in rows) + "]"

    def _row(self, o: Offset, count: Any) -> str:
        terms = [f"{number(c)}*{self._angle(p)}" if c != 1 else self._angle(p) for p, c in o.angles.items()]
        if o.value is not None:
            terms.append(f"v({next(count)})")
        if o.constant or not terms:
            terms.append(number(o.constant))
        return terms[0] if len(terms) == 1 else f"({' + '.join(f'({t})' for t in terms)})"


def _column(values: list[float]) -> str:
    return f"[{'; '.join(number(v) for v in values)}]" if values else "zeros(0, 1)"


_CLOSED = """
function S = closed(M, n, d)
% [A B; C D] of M with the loop over Delta = diag(d) closed; its first n rows and columns belong to the states
r = numel(d);
i = n + (1:r);
k = [1:n, n + r + 1:size(M, 1)];
l = [1:n, n + r + 1:size(M, 2)];
S = M(k, l) + M(k, i)*diag(d)*((eye(r) - M(i, i)*diag(d)) \\ M(i, l));
end"""
