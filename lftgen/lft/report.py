"""The order report: per parameter the repetitions, the least possible number, and whether they meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class OrderRow:
    """One parameter of an order report."""

    parameter: str
    repetitions: int
    bound: int

    @property
    def gap(self) -> int:
        """Repetitions above the bound."""
        return self.repetitions - self.bound

    @property
    def minimal(self) -> bool:
        """Whether no realisation of any kind has fewer."""
        return self.gap == 0


@dataclass(frozen=True)
class OrderReport:
    """Repetitions against their lower bounds.

    Each bound holds by itself: fewer repetitions of that parameter are impossible.  That all bounds can be met at
    once is not claimed (``(x + y)/(1 - x y)`` has bounds 1 and 1 and needs three).
    """

    rows: tuple[OrderRow, ...]

    @property
    def order(self) -> int:
        """Sum of the repetitions."""
        return sum(r.repetitions for r in self.rows)

    @property
    def bound(self) -> int:
        """Sum of the bounds."""
        return sum(r.bound for r in self.rows)

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
            }
            for r in self.rows
        ]
        return {"rows": rows, "order": self.order, "bound": self.bound, "minimal": self.minimal}

    def _cells(self) -> list[tuple[str, ...]]:
        rows = [
            (r.parameter, str(r.repetitions), str(r.bound), "yes" if r.minimal else "", str(r.gap))
            for r in self.rows
        ]
        total = (
            "total",
            str(self.order),
            str(self.bound),
            "yes" if self.minimal else "",
            str(self.order - self.bound),
        )
        return [("parameter", "repetitions", "bound", "minimal", "gap"), *rows, total]

    def __str__(self) -> str:
        return text_table(self._cells())

    def _repr_html_(self) -> str:
        return html_table(self._cells())


def order_rows(repetitions: Mapping[str, int], bounds: Mapping[str, int]) -> OrderReport:
    """Report from counts by parameter."""
    return OrderReport(tuple(OrderRow(k, repetitions[k], bounds[k]) for k in repetitions))


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
