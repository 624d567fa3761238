"""What reports and the command line tell, as plain data: pages, tables and ``--json`` show the same."""

from __future__ import annotations

from typing import Any

import numpy as np

Data = dict[str, Any]


def parameter_rows(parameters: Any) -> list[Data]:
    """Return one row for each parameter, in its own unit; an angle with its coordinate t."""
    keys = ("name", "role", "nominal", "lower", "upper", "unit")
    rows = []
    for p in parameters:
        row = {key: getattr(p, key) for key in keys}
        if p.is_angle:
            low, high = p.coordinate_bounds
            chart = {"divisor": p.chart_divisor, "center": p.center}
            row["coordinate"] = {**chart, "lower": low, "upper": high}
        rows.append(row)
    return rows


def repetition_rows(raw: Any, plant: Any) -> Data:
    """Return repetitions by parameter, as built and in ``plant``, the proven lower bounds, and the sums."""
    report = plant.order_report()
    rows = [
        {
            "parameter": row.parameter,
            "as_built": raw.repetitions.get(row.parameter, 0),
            "repetitions": row.repetitions,
            "bound": row.bound,
            "minimal": row.minimal,
            "ranks": list(row.ranks),
            "singular_gap": row.singular_gap,
        }
        for row in sorted(report.rows, key=lambda row: row.parameter)
    ]
    total: Data = {"as_built": raw.order, "repetitions": report.order, "bound": report.bound}
    told = {"attainability": report.attainability, "obstruction": report.obstruction}
    return {"rows": rows, "total": {**total, "minimal": report.minimal, **told}}


def poles(system: Any) -> list[list[float]]:
    """Return the poles of a state-space model as [real, imaginary] pairs, slowest decay first."""
    values = np.linalg.eigvals(np.asarray(system.A)) if system.nstates else np.array([])
    return [[float(z.real), float(z.imag)] for z in sorted(values, key=lambda z: (-z.real.round(9), z.imag))]


def matrices(system: Any) -> Data:
    """Return A, B, C, D of a state-space model as nested lists."""
    return {name: np.asarray(getattr(system, name)).tolist() for name in "ABCD"}


def signals(plant: Any) -> Data:
    """Return the names of states, inputs and outputs."""
    return {key: list(getattr(plant, key)) for key in ("states", "inputs", "outputs")}


def body_rows(mechanism: Any) -> list[Data]:
    """Return one row for each body: its mass and its ports."""
    return [{"name": b.name, "mass": str(b.mass), "ports": list(b.ports)} for b in mechanism.bodies]


def joint_rows(mechanism: Any) -> list[Data]:
    """Return one row for each joint: what it connects."""
    keys = ("name", "kind", "parent", "child")
    return [{key: getattr(joint, key) for key in keys} for joint in mechanism.joints]


def holding(mechanism: Any, trim: Any, point: dict[str, float]) -> list[Data]:
    """Return the torque or force that holds each moving joint at a point."""
    rows = []
    for joint in mechanism.joints:
        if joint.dof:
            values = [float(value) for value in trim.torque[joint.name].at(**point)[:, 0]]
            names = joint.names(joint.forces)
            rows += [
                {"name": n, "value": v, "unit": joint.force_unit} for n, v in zip(names, values, strict=True)
            ]
    return rows


def dependence(plant: Any) -> list[Data]:
    """Return the entries of [A B; C D] that change with parameters, each with their names."""
    entries: dict[tuple[str, str], list[str]] = {}
    for parameter, places in plant.dependence().items():
        for place in places:
            entries.setdefault(place, []).append(parameter)
    return [{"row": row, "column": column, "parameters": names} for (row, column), names in entries.items()]
