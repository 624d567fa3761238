"""One self-contained HTML page about a model: mechanism, parameters, order, check, figures."""

from __future__ import annotations

import base64
import importlib.resources
import io
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lftgen.analysis.influence import influence
from lftgen.arguments import instance, whole_number
from lftgen.check import check
from lftgen.errors import LftgenError, ModelError
from lftgen.extras import require
from lftgen.interop.files import as_path, write_text
from lftgen.lft.model import LFT
from lftgen.mechanics.mechanism import Mechanism
from lftgen.plotting import (
    block_diagram,
    delta_structure,
    influence_bars,
    parameter_map,
    pole_map,
    singular_values,
)
from lftgen.report import rows

DPI = 140
STEPS = ("model", "order", "check", "influence", "figures")


def write_report(
    source: Any,
    path: str | Path,
    *,
    plant: LFT | None = None,
    samples: int = 200,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write one HTML page about a model, which opens in any browser without network.

    Parameters
    ----------
    source : Mechanism, model file (of ``read_model`` or ``read_urdf``) or LFT
        An LFT alone has no mechanism to show and nothing to be checked against.
    path : path
        The page, usually ``NAME.html``.
    plant : LFT, optional
        The model of a mechanism where it has been built already; by default ``source.linearize()``.
    samples : int
        Random points of the check and of the figures.
    progress : callable, optional
        Called with (steps done, steps in all).

    Returns
    -------
    Path

    Raises
    ------
    ModelError
        Something else than a model, or a target that cannot be written.
    MissingDependencyError
        jinja2 or matplotlib is not installed.

    Examples
    --------
    >>> import lftgen as lg, tempfile, pathlib
    >>> k = lg.uncertain("k", 4.0, percent=50)
    >>> plant = lg.ss([[0, 1], [-k, -1]], [[0], [1]], [[1, 0]], [[0]])
    >>> page = lg.write_report(plant, pathlib.Path(tempfile.mkdtemp()) / "plant.html", samples=10)
    >>> "<html" in page.read_text()
    True
    """
    target = as_path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise ModelError(f"cannot write {target}: expected the name of a file in a folder that exists")
    count = whole_number(samples, "write_report: samples", minimum=1)
    jinja2 = require("jinja2", "report", "a report")
    require("matplotlib.pyplot", "report", "a report")
    steps = iter(range(1, len(STEPS) + 1))

    def done() -> None:
        if progress is not None:
            progress(next(steps), len(STEPS))

    content = _content(source, plant, count, seed, done)
    text = importlib.resources.files("lftgen.report").joinpath("template.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["number"] = number_text
    write_text(target, environment.from_string(text).render(content))
    return target


def number_text(value: Any) -> str:
    """A number as people read it; text stays."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return str(value)
    return f"{value:.6g}"


def _content(
    source: Any, plant: LFT | None, samples: int, seed: int, done: Callable[[], None]
) -> dict[str, Any]:
    mechanism = _mechanism(source)
    model = _plant(source, plant)
    content: dict[str, Any] = {
        "name": getattr(source, "name", "model"),
        "description": getattr(source, "description", ""),
        "version": version("lftgen"),
        "parameters": rows.parameter_rows(model.parameters),
        "signals": rows.signals(model),
        "mechanism": None,
        "check": None,
        "figures": [],
    }
    if mechanism is not None:
        content["mechanism"] = {"bodies": rows.body_rows(mechanism), "joints": rows.joint_rows(mechanism)}
        content["holding"] = rows.holding(mechanism, mechanism.trim(), {})
    done()
    content["order"] = rows.repetition_rows(model, model)
    content["poles"] = rows.poles(model.at()) if model.states else []
    box = model.well_posed()
    content["well_posed"] = {"answer": box.answer, "how": box.how}
    done()
    if mechanism is not None:
        content["check"] = _check(mechanism, model, samples, seed)
    done()
    found = influence(model, samples=min(samples, 64), seed=seed) if model.parameters else None
    content["influence"] = _influence_table(found)
    done()
    content["figures"] = _figures(mechanism, model, found, samples, seed)
    done()
    return content


def _mechanism(source: Any) -> Mechanism | None:
    found = getattr(source, "mechanism", source)
    return found if isinstance(found, Mechanism) else None


def _plant(source: Any, plant: LFT | None) -> LFT:
    if plant is not None:
        return instance(plant, LFT, "write_report: plant")
    if isinstance(source, LFT):
        return source
    if not hasattr(source, "linearize"):
        raise ModelError(
            f"write_report: source must be a Mechanism, a model file or an LFT, got {source!r:.60}"
        )
    return instance(source.linearize(), LFT, "write_report: the linear model")


def _check(mechanism: Mechanism, plant: LFT, samples: int, seed: int) -> dict[str, Any]:
    known = {p.name for p in mechanism.parameters}
    unused: dict[str, Any] = {p.name: p.nominal for p in plant.parameters if p.name not in known}
    try:
        result = check(mechanism, plant.subs(**unused) if unused else plant, samples=samples, seed=seed)
    except LftgenError as problem:  # a plant with other signals: said in the page, not hidden
        return {"passed": None, "why": str(problem)}
    return result.to_dict()


def _influence_table(found: Any) -> list[dict[str, Any]]:
    return [] if found is None else found.rows()


def _figures(
    mechanism: Mechanism | None, plant: LFT, found: Any, samples: int, seed: int
) -> list[dict[str, str]]:
    pyplot = require("matplotlib.pyplot", "report", "a report")
    calls: list[tuple[str, Callable[[], Any]]] = []
    if mechanism is not None:
        calls.append(("Assembly", lambda: block_diagram(mechanism)))
    calls.append(("Structure of the LFT", lambda: delta_structure(plant)))
    if plant.states:
        scheduled = [p.name for p in plant.parameters if p.role == "scheduling"]
        names = scheduled or [p.name for p in plant.parameters]
        calls.append(
            ("Poles", lambda: pole_map(plant, samples, seed=seed, color_by=names[0] if names else None))
        )
        if all(plant.shape):
            calls.append(("Singular values", lambda: singular_values(plant, samples, seed=seed)))
        if len(names) > 1:
            calls.append(("Fastest growth", lambda: parameter_map(plant, names[0], names[1])))
    if found is not None:
        calls.append(("Influence of the parameters", lambda: influence_bars(found)))
    pictures = []
    with pyplot.rc_context({"font.size": 9}):
        for title, call in calls:
            figure = call().figure
            pictures.append({"title": title, "data": _png(figure)})
            pyplot.close(figure)
    return pictures


def _png(figure: Any) -> str:
    """A figure as the data of an image; thousands of marks would make a drawing by lines much larger."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DPI, bbox_inches="tight")
    return base64.b64encode(stream.getvalue()).decode("ascii")
