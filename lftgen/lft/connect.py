"""Interconnection: feedback, star product, and connection by signal name."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lftgen.arguments import items
from lftgen.errors import ModelError, ModelWarning
from lftgen.lft.algebra import block_diag, wire
from lftgen.lft.data import LFTData, default_names

Connection = tuple[str, str]


def renamed(
    a: LFTData, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> LFTData:
    """The same LFT with other signal names."""
    return replace(
        a,
        inputs=a.inputs if inputs is None else tuple(inputs),
        outputs=a.outputs if outputs is None else tuple(outputs),
    )


def unnamed(a: LFTData) -> LFTData:
    """The same LFT with python-control's default signal names."""
    return renamed(a, inputs=default_names("u", a.shape[1]), outputs=default_names("y", a.shape[0]))


def _private(a: LFTData, tag: str) -> LFTData:
    """Names that cannot clash with a user's, for use inside one connection."""
    return renamed(a, inputs=[f"{tag}>{n}" for n in a.inputs], outputs=[f"{tag}<{n}" for n in a.outputs])


def _selection(rows: Sequence[int], n: int, a: LFTData) -> np.ndarray:
    out = a.field.zeros(len(rows), n)
    out[range(len(rows)), list(rows)] = a.field.element(1)
    return out


def feedback(plant: LFTData, controller: LFTData, sign: int = -1) -> LFTData:
    """The loop ``u = r + sign K y`` around a plant; r keeps the names of the plant's inputs.

    Raises
    ------
    ModelError
        Sizes that do not fit, or names that are the plant's in another order.
    IllPosedError
        A singular algebraic loop.
    """
    if sign not in (-1, 1):
        raise ModelError(f"feedback: sign must be -1 or +1, got {sign!r}")
    p, m = plant.shape
    if controller.shape != (m, p):
        raise ModelError(
            f"feedback: a {p}x{m} plant needs a {m}x{p} controller, got {controller.shape[0]}x{controller.shape[1]}"
        )
    for mine, theirs, what in (
        (plant.outputs, controller.inputs, "inputs"),
        (plant.inputs, controller.outputs, "outputs"),
    ):
        if mine != theirs and sorted(mine) == sorted(theirs):
            raise ModelError(
                f"feedback: the controller's {what} {list(theirs)} are the plant's signals {list(mine)} in another order"
            )
    both = block_diag([_private(plant, "plant"), _private(controller, "controller")])
    f = both.field
    loop = f.zeros(m + p, p + m)
    loop[range(m), range(p, p + m)] = f.element(sign)
    loop[range(m, m + p), range(p)] = f.element(1)
    feed = np.vstack([f.eye(m), f.zeros(p, m)])
    return wire(
        both, loop, feed, _selection(range(p), p + m, both), f.zeros(p, m), plant.inputs, plant.outputs
    )


def star(upper: LFTData, lower: LFTData, n_y: int | None = None, n_u: int | None = None) -> LFTData:
    """Redheffer star product: the last ``n_y`` outputs of ``upper`` feed ``lower``, whose first ``n_u`` outputs return.

    By default the smaller of the two systems is closed completely: a controller below a plant gives the lower LFT.
    """
    (p, m), (q, k) = upper.shape, lower.shape
    n_y = min(p, k) if n_y is None else n_y
    n_u = min(m, q) if n_u is None else n_u
    if not (0 <= n_y <= min(p, k) and 0 <= n_u <= min(m, q)):
        raise ModelError(f"star: cannot share {n_y} and {n_u} signals between a {p}x{m} and a {q}x{k} system")
    both = block_diag([_private(upper, "upper"), _private(lower, "lower")])
    f = both.field
    loop, feed = f.zeros(m + k, p + q), f.zeros(m + k, m - n_u + k - n_y)
    one = f.element(1)
    loop[range(m - n_u, m), range(p, p + n_u)] = one
    loop[range(m, m + n_y), range(p - n_y, p)] = one
    feed[range(m - n_u), range(m - n_u)] = one
    feed[range(m + n_y, m + k), range(m - n_u, m - n_u + k - n_y)] = one
    read = _selection([*range(p - n_y), *range(p + n_u, p + q)], p + q, both)
    names = (*upper.inputs[: m - n_u], *lower.inputs[n_y:]), (*upper.outputs[: p - n_y], *lower.outputs[n_u:])
    return wire(both, loop, feed, read, f.zeros(read.shape[0], feed.shape[1]), *names)


def connect(
    systems: Sequence[LFTData],
    connections: Sequence[Connection] | None,
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> LFTData:
    """Connect systems by signal name.

    Parameters
    ----------
    connections : sequence of (to_input, "from_output" or "-from_output"), optional
        Several connections to one input add up.  None: an input is driven by the output of the same name.
    inputs, outputs : sequence of str
        Signals of the whole.  An input name that several systems have feeds all of them, and adds to what a
        connection brings there.

    Raises
    ------
    ModelError
        Unknown names (close ones are listed), or two systems with an output of the same name.

    Warns
    -----
    ModelWarning
        Inputs that nothing drives: they are zero.
    """
    inputs, outputs = items(inputs, "connect: inputs", str), items(outputs, "connect: outputs", str)
    whole = block_diag([_private(s, str(i)) for i, s in enumerate(systems)])
    ins = [n for s in systems for n in s.inputs]
    outs = [n for s in systems for n in s.outputs]
    twice = sorted({n for n in outs if outs.count(n) > 1})
    if twice:
        raise ModelError(f"connect: output {', '.join(twice)} occurs in several systems; rename one")
    if connections is None:
        connections = [(n, n) for n in dict.fromkeys(ins) if n in outs]
    f = whole.field
    loop, feed = f.zeros(len(ins), len(outs)), f.zeros(len(ins), len(inputs))
    driven = set(inputs)
    for target, source in connections:
        sign, name = (-1, source[1:]) if source.startswith("-") else (1, source)
        j = _find(name, outs, "output")
        _find(target, ins, "input")
        driven.add(target)
        for i in [i for i, n in enumerate(ins) if n == target]:
            loop[i, j] = loop[i, j] + f.element(sign)
    for k, name in enumerate(inputs):
        _find(name, ins, "input")
        for i in [i for i, n in enumerate(ins) if n == name]:
            feed[i, k] = f.element(1)
    idle = [n for n in dict.fromkeys(ins) if n not in driven]
    if idle:
        warnings.warn(
            f"connect: nothing drives the input {', '.join(idle)}; it is zero. Connect it or list it in inputs",
            ModelWarning,
            stacklevel=3,
        )
    read = _selection([_find(n, outs, "output") for n in outputs], len(outs), whole)
    return wire(whole, loop, feed, read, f.zeros(len(outputs), len(inputs)), inputs, outputs)


def _find(name: str, names: Sequence[str], kind: str) -> int:
    if name in names:
        return list(names).index(name)
    close = difflib.get_close_matches(name, names, n=3)
    hint = (
        f"did you mean {' or '.join(close)}?"
        if close
        else f"there are {', '.join(dict.fromkeys(names)) or 'none'}"
    )
    raise ModelError(f"unknown {kind} {name!r}: {hint}")


def indices(keys: object, names: Sequence[str], kind: str) -> list[int]:
    """Positions of signals given by name, group name, number, slice, or a list of those.

    A group name stands for the signals that add one suffix to it: ``B_P_force`` for ``B_P_force_x, _y, _z``.
    """
    if isinstance(keys, slice):
        return list(range(len(names)))[keys]
    if isinstance(keys, (int, np.integer)):
        if not -len(names) <= keys < len(names):
            raise ModelError(f"{kind} {keys} is out of range: there are {len(names)}")
        return [int(keys) % len(names)]
    if isinstance(keys, str):
        group = [i for i, n in enumerate(names) if n.startswith(f"{keys}_") and "_" not in n[len(keys) + 1 :]]
        return group if keys not in names and group and _is_group(keys, names) else [_find(keys, names, kind)]
    if isinstance(keys, (list, tuple, np.ndarray)):
        return [i for k in keys for i in indices(k, names, kind)]
    raise ModelError(f"{kind}s are picked by name, number, slice or a list of those, got {keys!r}")


def _is_group(key: str, names: Sequence[str]) -> bool:
    suffixes = {n[len(key) + 1 :] for n in names if n.startswith(f"{key}_")}
    return bool(suffixes & {"x", "y", "z", "tx", "ty", "tz", "fx", "fy", "fz"})
