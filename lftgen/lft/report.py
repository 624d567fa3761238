"""The order report: per parameter the repetitions, the least possible number, and whether they meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

from lftgen.lft.data import LFTData
from lftgen.lft.reduction.attainable import excess, obstructions
from lftgen.lft.reduction.bound import parameter_bounds

CLEAR = 1e-3
"""A parameter counts as minimal only where its singular-value gap is below this."""


@dataclass(frozen=True)
class OrderRow:
    """One parameter of an order report.

    Attributes
    ----------
    parameter : str
    repetitions, bound : int
    ranks : tuple of int
        The ranks behind the bound, with the other parameters frozen at several generic points.
    singular_gap : float
        First dropped over last kept singular value at these ranks (the worst of the points): a small number means
        that the bound is not in doubt.
    """

    parameter: str
    repetitions: int
    bound: int
    ranks: tuple[int, ...] = ()
    singular_gap: float = 0.0

    @property
    def gap(self) -> int:
        """Repetitions above the bound."""
        return self.repetitions - self.bound

    @property
    def minimal(self) -> bool:
        """Whether no realisation of any kind has fewer: count and bound meet, and the ranks are clear."""
        return self.gap == 0 and self.singular_gap <= CLEAR


@dataclass(frozen=True)
class OrderReport:
    """Repetitions against their lower bounds.

    Each bound holds by itself: fewer repetitions of that parameter are impossible.  That all bounds can be met at
    once is not claimed (``(x + y)/(1 - x y)`` has bounds 1 and 1 and needs three).

    Attributes
    ----------
    rows : tuple of OrderRow
    obstruction : str
        What proves that the sum of the bounds cannot be met; empty where nothing does.
    excess : int
        How many parameters are above their bounds in any realisation, by that proof.
    """

    rows: tuple[OrderRow, ...]
    obstruction: str = ""
    excess: int = 0

    @property
    def attainability(self) -> str:
        """Of the sum of the bounds: "met", "not attainable" (proven), or "unknown"."""
        if self.order == self.bound:
            return "met"
        return "not attainable" if self.obstruction else "unknown"

    @property
    def order(self) -> int:
        """Sum of the repetitions."""
        return sum(r.repetitions for r in self.rows)

    @property
    def bound(self) -> int:
        """Sum of the bounds."""
        return sum(r.bound for r in self.rows)

    @property
    def least(self) -> int:
        """Total that no realisation of any kind is below: the sum of the bounds and what an obstruction adds."""
        return self.bound + self.excess

    @property
    def minimal(self) -> bool:
        """Whether every parameter is at its bound: then no realisation of any kind has a smaller Delta."""
        return all(r.minimal for r in self.rows)

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        rows = [
            {
                "parameter": r.parameter,
                "repetitions": r.repetitions,
                "bound": r.bound,
                "minimal": r.minimal,
                "gap": r.gap,
                "ranks": list(r.ranks),
                "singular_gap": r.singular_gap,
            }
            for r in self.rows
        ]
        return {
            "rows": rows,
            "order": self.order,
            "bound": self.bound,
            "minimal": self.minimal,
            "attainability": self.attainability,
            "obstruction": self.obstruction,
            "least": self.least,
        }

    def _cells(self) -> list[tuple[str, ...]]:
        rows = [
            (
                r.parameter,
                str(r.repetitions),
                str(r.bound),
                "yes" if r.minimal else "",
                str(r.gap),
                f"{r.singular_gap:.0e}" if r.bound else "",
            )
            for r in self.rows
        ]
        total = (
            "total",
            str(self.order),
            str(self.bound),
            "yes" if self.minimal else "",
            str(self.order - self.bound),
            "",
        )
        return [("parameter", "repetitions", "bound", "minimal", "gap", "singular gap"), *rows, total]

    def _statement(self) -> str:
        told = {
            "met": "The sum of the bounds is met.",
            "not attainable": f"The sum of the bounds is not attainable: {self.obstruction}. "
            + (
                "No realisation has a smaller total."
                if self.order == self.least
                else f"No total is below {self.least}."
            ),
            "unknown": "Whether the sum of the bounds can be met is not known.",
        }
        return told[self.attainability]

    def __str__(self) -> str:
        return f"{text_table(self._cells())}\n{self._statement()}"

    def _repr_html_(self) -> str:
        return f"{html_table(self._cells())}<p>{escape(self._statement())}</p>"


def report_of(a: LFTData) -> OrderReport:
    """Counts, bounds and what is known about meeting them all, of an LFT."""
    bounds = parameter_bounds(a)
    rows = [
        OrderRow(b.name, b.repetitions, found.bound, found.ranks, found.singular_gap)
        for b in a.structure.blocks
        if b.parameter is not None
        for found in (bounds[b.name],)
    ]
    report = OrderReport(tuple(rows))
    if report.attainability != "unknown":
        return report
    found = obstructions(a, {k: b.bound for k, b in bounds.items()})
    return replace(report, obstruction="; ".join(o.reason for o in found), excess=excess(found))


def text_table(cells: list[tuple[str, ...]]) -> str:
    """Aligned plain text, header first."""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)


def html_table(cells: list[tuple[str, ...]]) -> str:
    """An HTML table, header first."""
    head = "".join(f"<th>{escape(c)}</th>" for c in cells[0])
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in cells[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
