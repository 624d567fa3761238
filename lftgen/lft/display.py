"""An LFT for people: text, HTML and LaTeX."""

from __future__ import annotations

from html import escape

from lftgen.lft.data import LFTData
from lftgen.lft.report import html_table, text_table
from lftgen.lft.structure import DeltaBlock

_MAX_NAMES = 12


def _cells(a: LFTData) -> list[tuple[str, ...]]:
    rows = [("Delta block", "repetitions", "kind", "nominal", "range", "delta")]
    return rows + [_row(b) for b in a.structure.blocks]


def _row(b: DeltaBlock) -> tuple[str, ...]:
    p = b.parameter
    if p is None:
        size = "" if b.is_scalar else f" {b.shape[0]}x{b.shape[1]}"
        return b.name, str(b.repetitions), b.kind + size, "0", f"gain <= {b.bound:g}", b.name
    x = (
        f"tan(({p.name}{-p.center:+.6g})/{p.chart_divisor})"
        if p.center
        else f"tan({p.name}/{p.chart_divisor})"
    )
    x = x if p.is_angle else p.name
    m = b.map
    if (m.scale, m.skew) == (1.0, 0.0):
        delta = x if m.origin == 0 else f"{x} {-m.origin:+.6g}"
    else:
        bottom = f"(1 {m.skew:+.6g} delta)" if m.skew else ""
        delta = f"{x} = {m.origin:.6g} {m.scale:+.6g} delta" + (f"/{bottom}" if bottom else "")
    unit = f" {p.unit}" if p.unit else ""
    return b.name, str(b.repetitions), p.role, f"{p.nominal:.6g}{unit}", p.range_text(), delta


def _summary(a: LFTData) -> str:
    order = sum(b.repetitions for b in a.structure.blocks if b.parameter is not None)
    entries = "exact" if a.field.exact else "float"
    symbols = f", free symbols {', '.join(map(str, a.field.symbols))}" if a.field.symbols else ""
    return f"LFT: {a.n_states} states, {a.shape[1]} inputs, {a.shape[0]} outputs, order {order}, {entries} entries{symbols}"


def _listed(kind: str, names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MAX_NAMES]) + (f", ... ({len(names)})" if len(names) > _MAX_NAMES else "")
    return f"{kind}: {shown}"


def text(a: LFTData) -> str:
    """Several lines of plain text."""
    lines = [_summary(a)]
    lines += [
        _listed(k, n)
        for k, n in (("states", a.structure.states), ("inputs", a.inputs), ("outputs", a.outputs))
        if n
    ]
    if a.structure.blocks:
        lines.append(text_table(_cells(a)))
    return "\n".join(lines)


def html(a: LFTData) -> str:
    """A table for notebooks, with the entries each parameter changes."""
    names = "".join(
        f"<div>{escape(_listed(k, n))}</div>"
        for k, n in (("states", a.structure.states), ("inputs", a.inputs), ("outputs", a.outputs))
        if n
    )
    table = html_table(_cells(a)) if a.structure.blocks else ""
    return f"<div><b>{escape(_summary(a))}</b>{names}{table}{_dependence(a)}</div>"


def _dependence(a: LFTData) -> str:
    from lftgen.lft.dependence import dependence

    if a.field.symbols or not a.n_states or sum(b.repetitions for b in a.structure.blocks) > 100:
        return ""
    rows: list[tuple[str, ...]] = [("parameter", "changes the rows")]
    rows += [(k, ", ".join(dict.fromkeys(r for r, _ in v)) or "nothing") for k, v in dependence(a).items()]
    return html_table(rows)


def latex(a: LFTData) -> str:
    """``F_u(M, Delta)`` with the blocks of Delta."""
    parts = [rf"\tfrac{{1}}{{s}} I_{{{a.n_states}}}"] if a.n_states else []
    for b in a.structure.blocks:
        if b.repetitions:
            name = b.name.replace("_", r"\_")
            core = rf"\delta_{{\mathrm{{{name}}}}}" if b.is_scalar else rf"\Delta_{{\mathrm{{{name}}}}}"
            parts.append(core + (rf" I_{{{b.repetitions}}}" if b.is_scalar or b.repetitions > 1 else ""))
    return rf"$\mathcal{{F}}_u\left(M,\ \mathrm{{blkdiag}}\left({', '.join(parts)}\right)\right)$"
