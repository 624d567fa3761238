"""Text of a model file -> exact SymPy expression, through Python's syntax tree and a white-list of its nodes.

Nothing is evaluated as code. The tree of ``ast.parse(text, mode="eval")`` is walked; numbers, names, the four
operations, integer powers, the sign and calls of a few functions are translated, other nodes are errors.
Length, depth, digits, powers and the size of the result are bounded: hostile text is refused at once.
"""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy

from lftgen.errors import ModelError

MAX_LENGTH = 1000
"""Longest expression read, in characters."""
MAX_DEPTH = 40
"""Deepest nesting of a syntax tree."""
MAX_POWER = 32
"""Largest absolute value of an exponent."""
MAX_BITS = 2048
"""Largest numerator or denominator, in bits."""
SMALLEST, LARGEST = 1e-100, 1e100
"""Range of the size of numbers other than zero."""
MAX_OCCURRENCES = 1000
"""Most occurrences of parameters when the powers of an expression are written out."""

FUNCTIONS: Mapping[str, Any] = {"sqrt": sympy.sqrt, "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan}
"""Functions that an expression may call, angles in radians."""
CONSTANTS: Mapping[str, sympy.Expr] = {"pi": sympy.pi}
"""Names that every expression knows."""
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS)
"""Names that a file cannot give to a parameter or a constant."""

_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def parse_expression(text: str, names: Mapping[str, Any]) -> sympy.Expr:
    """Read an expression exactly.

    Parameters
    ----------
    text : str
        Numbers, names, ``+ - * / **``, parentheses, ``sqrt sin cos tan`` and ``pi``. Decimal numbers are read
        as the fraction that they print: ``0.1`` is one tenth.
    names : Mapping[str, object]
        Value of each name: a parameter, a SymPy expression or a number.

    Returns
    -------
    sympy.Expr
        The expression, without any floating-point number.

    Raises
    ------
    ModelError
        The text is not such an expression; the message gives the expression and the column.

    Examples
    --------
    >>> import sympy
    >>> m, L = sympy.symbols("m L")
    >>> parse_expression("m*L**2/12 + 0.1", {"m": m, "L": L})
    L**2*m/12 + 1/10
    """
    return _Reader(text, names).read()


def exact_number(value: float) -> sympy.Rational:
    """Return the fraction that a finite number prints: ``0.1`` -> 1/10.

    Examples
    --------
    >>> exact_number(0.25)
    1/4
    """
    fraction = Fraction(value) if isinstance(value, int) else Fraction(repr(float(value)))
    return sympy.Rational(fraction.numerator, fraction.denominator)


def as_quantity(expression: sympy.Expr) -> int | float | sympy.Expr:
    """Return a plain Python number where that loses nothing, or where the value is irrational.

    Expressions with parameters, and fractions such as 1/3 that have no short decimal form, stay exact.

    Examples
    --------
    >>> as_quantity(sympy.Rational(1, 4)), as_quantity(sympy.Rational(1, 3)), as_quantity(sympy.pi / 2)
    (0.25, 1/3, 1.5707963267948966)
    """
    if expression.free_symbols:
        return expression
    if expression.is_Integer:
        return int(expression)
    value = float(expression)
    return expression if expression.is_Rational and exact_number(value) != expression else value


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return "; did you mean ...?" for a misspelt name, or the known names, or nothing.

    Examples
    --------
    >>> suggestion("mas", ["mass", "com"])
    "; did you mean 'mass'?"
    """
    names = sorted(known)
    folded = [known for known in names if known.lower() == str(name).lower()]
    close = folded or difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    return f"; known: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}" if names else ""


class _Reader:
    """One expression being read; keeps its text for the messages."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self.text = text
        self.names = names

    def read(self) -> sympy.Expr:
        if len(self.text) > MAX_LENGTH:
            raise ModelError(
                f"expected an expression of at most {MAX_LENGTH} characters, came {len(self.text)}"
            )
        source = self.text.strip()
        self.indent = len(self.text) - len(self.text.lstrip())
        try:
            tree = ast.parse(source, mode="eval")
        except SyntaxError as error:
            column = (error.offset or 1) + self.indent
            raise self._error(
                f"expected a formula such as m1*L1**2/12, came something else ({error.msg})", column
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise self._error(f"expected a formula such as m1*L1**2/12 ({type(error).__name__})", 1) from None
        self.source = source
        result = self._walk(tree.body, 0)
        if not result.free_symbols:
            self._check_number(result)
        return result

    def _check_number(self, result: sympy.Expr) -> None:
        if not result.is_extended_real:
            raise self._error("expected a real value, came the root of a negative number", 1)
        if abs(result) > LARGEST:
            raise self._error(f"expected a value up to {LARGEST:g}", 1)

    def _error(self, what: str, at: ast.expr | int) -> ModelError:
        column = at if isinstance(at, int) else at.col_offset + 1 + self.indent
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return ModelError(f"expression {shown!r}, column {column}: {what}")

    def _walk(self, node: ast.expr, depth: int) -> sympy.Expr:
        if depth > MAX_DEPTH:
            raise self._error(f"expected at most {MAX_DEPTH} nested operations", node)
        if isinstance(node, ast.Constant):
            result = self._number(node)
        elif isinstance(node, ast.Name):
            result = self._name(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            operand = self._walk(node.operand, depth + 1)
            result = -operand if isinstance(node.op, ast.USub) else operand
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            result = self._binary(node, depth)
        elif isinstance(node, ast.Call):
            result = self._call(node, depth)
        else:
            raise self._refuse(node)
        return self._bounded(result, node)

    def _refuse(self, node: ast.expr) -> ModelError:
        came = ast.get_source_segment(self.source, node) or type(node).__name__
        allowed = "numbers, names, + - * / **, parentheses, " + ", ".join(sorted(RESERVED))
        return self._error(f"expected {allowed}; came {came[:40]!r} ({type(node).__name__})", node)

    def _number(self, node: ast.Constant) -> sympy.Expr:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._refuse(node)
        if isinstance(value, int):
            if value > LARGEST:
                raise self._error(f"expected a number up to {LARGEST:g}", node)
            return sympy.Integer(value)
        text = ast.get_source_segment(self.source, node) or repr(value)
        if not any(digit in "123456789" for digit in text.lower().split("e")[0]):
            return sympy.Integer(0)
        if not SMALLEST <= value <= LARGEST:
            raise self._error(f"expected a number between {SMALLEST:g} and {LARGEST:g}", node)
        fraction = Fraction(text)
        return sympy.Rational(fraction.numerator, fraction.denominator)

    def _name(self, node: ast.Name) -> sympy.Expr:
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        if node.id not in self.names:
            hint = suggestion(node.id, [*self.names, *CONSTANTS])
            raise self._error(
                f"expected a parameter or a constant, came the unknown name {node.id!r}{hint}", node
            )
        value = self.names[node.id]
        return value if isinstance(value, sympy.Basic) else exact_number(value)

    def _binary(self, node: ast.BinOp, depth: int) -> sympy.Expr:
        left, right = self._walk(node.left, depth + 1), self._walk(node.right, depth + 1)
        operator = _OPERATORS[type(node.op)]
        if operator == "**":
            return self._power(left, right, node)
        if operator == "/":
            if right.is_zero:
                raise self._error("division by zero", node.right)
            return left / right
        return {"+": left + right, "-": left - right, "*": left * right}[operator]

    def _power(self, base: sympy.Expr, exponent: sympy.Expr, node: ast.BinOp) -> sympy.Expr:
        if not exponent.is_Integer or abs(exponent) > MAX_POWER:
            raise self._error(
                f"expected an integer exponent between -{MAX_POWER} and {MAX_POWER}", node.right
            )
        if base.is_zero and exponent < 0:
            raise self._error("division by zero", node)
        size = abs(int(exponent)) or 1
        if _bits(base) * size > MAX_BITS or _occurrences(base) * size > MAX_OCCURRENCES:
            raise self._error("the power is too large", node)
        return base**exponent

    def _call(self, node: ast.Call, depth: int) -> sympy.Expr:
        if not isinstance(node.func, ast.Name):
            raise self._refuse(node)
        name = node.func.id
        if name not in FUNCTIONS:
            hint = suggestion(name, FUNCTIONS)
            raise self._error(
                f"expected one of the functions {', '.join(FUNCTIONS)}, came {name!r}{hint}", node
            )
        if len(node.args) != 1 or node.keywords:
            raise self._error(f"expected one argument of {name}", node)
        return FUNCTIONS[name](self._walk(node.args[0], depth + 1))

    def _bounded(self, result: sympy.Expr, node: ast.expr) -> sympy.Expr:
        if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise self._error("the value is not finite", node)
        if _bits(result) > MAX_BITS or _occurrences(result) > MAX_OCCURRENCES:
            raise self._error("the expression is too large", node)
        return result


def _bits(expression: sympy.Expr) -> int:
    """Largest numerator or denominator in an expression, in bits."""
    numbers = expression.atoms(sympy.Rational)
    return max((max(int(abs(n.p)).bit_length(), int(n.q).bit_length()) for n in numbers), default=1)


def _occurrences(expression: sympy.Expr) -> int:
    """Occurrences of symbols when powers are written out: m**2*(m + 1)**3 -> 5."""
    if expression.is_Symbol:
        return 1
    if expression.is_Pow and expression.exp.is_Rational:
        return _occurrences(expression.base) * max(1, math.ceil(abs(expression.exp)))
    return sum(_occurrences(argument) for argument in expression.args)
