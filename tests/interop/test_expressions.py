"""Expressions of model files: read exactly, and nothing but arithmetic."""

import time

import pytest
import sympy

from lftgen.errors import ModelError
from lftgen.interop.expressions import as_quantity, parse_expression

m, L = sympy.symbols("m L")
NAMES = {"m": m, "L": L, "k": 0.3, "half": sympy.Rational(1, 2)}

GOOD = [
    ("m*L**2/12", m * L**2 / 12),
    ("0.1", sympy.Rational(1, 10)),
    ("k + 0.1", sympy.Rational(2, 5)),
    ("1e-3", sympy.Rational(1, 1000)),
    ("-(+2)**-3", -sympy.Rational(1, 8)),
    (" 2*pi ", 2 * sympy.pi),
    ("sqrt(2)*m", sympy.sqrt(2) * m),
    ("sin(pi/6) + cos(pi) + tan(0)", -sympy.Rational(1, 2)),
    ("half*m - m/2", sympy.Integer(0)),
    ("1_000", sympy.Integer(1000)),
    ("0e99999999", sympy.Integer(0)),
]

BAD = [
    ("__import__('os').system('true')", "column 1", "expected"),
    ("__import__('os')", "column 1", "'__import__'"),
    ("m.real", "column 1", "Attribute"),
    ("lambda: 1", "column 1", "Lambda"),
    ("1 + 'a'", "column 5", "Constant"),
    ("f'{m}'", "column 1", "JoinedStr"),
    ("[1]", "column 1", "List"),
    ("m if m else 1", "column 1", "IfExp"),
    ("1j", "column 1", "1j"),
    ("True", "column 1", "True"),
    ("m // 2", "column 1", "BinOp"),
    ("9**9**9", "column 4", "exponent"),
    ("m**0.5", "column 4", "exponent"),
    ("(9**32)**32", "column 1", "too large"),
    ("((m + L)**32)**32", "column 1", "too large"),
    ("1/0", "column 3", "division by zero"),
    ("1/(m - m)", "column 4", "division by zero"),
    ("(m - m)**-1", "column 1", "division by zero"),
    ("tan(pi/2)", "column 1", "not finite"),
    ("sqrt(-1)", "column 1", "real"),
    ("1e999", "column 1", "between"),
    ("1e-999999999", "column 1", "between"),
    ("9" * 400, "column 1", "up to 1e+100"),
    ("10**30*10**30*10**30*10**30", "column 1", "up to 1e+100"),
    ("2*mm", "column 3", "did you mean 'm'"),
    ("sinn(m)", "column 1", "did you mean 'sin'"),
    ("sin(m, m)", "column 1", "one argument"),
    ("sin(x=m)", "column 1", "one argument"),
    ("m L", "column 3", "syntax"),
    ("  m +* 3", "column 6", "syntax"),
    ("", "column 1", "expected a formula"),
    ("m\x00", "column 1", "expected a formula"),
    ("(" * 300 + "1" + ")" * 300, "column", "nested"),
    ("-" * 900 + "1", "column", "nested"),
    ("9" * 5000, "characters", "5000"),
]


@pytest.mark.parametrize(("text", "expected"), GOOD)
def test_value_is_exact(text: str, expected: sympy.Expr) -> None:
    """An expression becomes the exact SymPy expression, without any Float."""
    result = parse_expression(text, NAMES)
    assert result == expected
    assert not result.atoms(sympy.Float)


@pytest.mark.parametrize(("text", "place", "reason"), BAD)
def test_everything_else_is_refused(text: str, place: str, reason: str) -> None:
    """Whatever is not plain arithmetic is a ModelError with its column and the reason, at once."""
    start = time.process_time()
    with pytest.raises(ModelError) as caught:
        parse_expression(text, NAMES)
    assert time.process_time() - start < 1.0
    assert place in str(caught.value)
    assert reason in str(caught.value)


def test_repeated_squaring_through_names_is_bounded() -> None:
    """Names that stand for expressions cannot grow without limit."""
    names = {"a": m + 1}

    def square(times: int) -> None:
        for _ in range(times):
            names["a"] = parse_expression("a*(a + 1)", names)

    square(3)
    with pytest.raises(ModelError, match="too large"):
        square(40)


@pytest.mark.parametrize(("text", "expected"), [("2*3", 6), ("1/4", 0.25), ("pi/2", 1.5707963267948966)])
def test_plain_numbers_without_parameters(text: str, expected: float) -> None:
    """Where no parameter occurs, a Python number is handed on."""
    result = as_quantity(parse_expression(text, NAMES))
    assert result == expected
    assert type(result) is type(expected)


def test_expression_with_parameter_is_handed_on() -> None:
    """Where a parameter occurs, the expression is handed on."""
    assert as_quantity(m / 3) == m / 3
    assert as_quantity(sympy.Rational(1, 3)) == sympy.Rational(1, 3)
