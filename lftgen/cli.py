"""The command line: ``lftgen build | info | check | eval | schema``.

Results go to standard output, progress, warnings and errors to standard error. Exit codes: 0 done, 1 a check
failed, 2 wrong input or usage.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lftgen import _console as console
from lftgen._command_export import SchemaOf, export
from lftgen._command_grid import grid
from lftgen._command_report import report
from lftgen.errors import LftgenError

CHECK_FAILED = 1
"""Exit code when the model does not agree with the numeric one, or does not exist in the whole box."""
WRONG_INPUT = 2
"""Exit code when a file, a value or the usage is wrong."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Exact LFT/LPV models of multibody mechanisms around parameter-dependent equilibria.",
    epilog="Exit codes: 0 done, 1 a check failed, 2 wrong input or usage.",
)

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file (.yaml) or robot file (.urdf).")]
AnyPath = Annotated[
    Path, typer.Argument(metavar="FILE", help="Model file, robot file (.urdf), or LFT file (.json).")
]
Robot = Annotated[
    list[str] | None,
    typer.Option(
        "--robot",
        metavar="KEY=VALUE",
        help="For robot files, repeatable: scheduled=all, uncertain.LINK.mass=20%, payload.LINK=0:3, locked=J1,J2, "
        "range.JOINT=-90deg:90deg, position.JOINT=0.5, base=free, gravity=0,0,0, mimic=lock, unit=deg.",
    ),
]
Reduce = Annotated[
    bool, typer.Option("--reduce/--no-reduce", help="Reduce the repetitions of the parameters.")
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object to standard output, and nothing else.")
]
Samples = Annotated[int, typer.Option(min=1, help="Random points of a check, besides the corners.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the random points.")]
Tolerance = Annotated[float, typer.Option(min=0.0, help="Largest relative error that passes.")]


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        print(f"lftgen {version('lftgen')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def _headline(data: dict[str, Any]) -> str:
    sizes = {key: len(data[key]) for key in ("states", "inputs", "outputs")}
    counts = ", ".join(f"{n} {key if n != 1 else key[:-1]}" for key, n in sizes.items())
    text = f"{data['model']}: {counts}"
    return f"{text}\n{data['description']}" if data["description"] else text


def _show(data: dict[str, Any], seconds: dict[str, float]) -> None:
    print(_headline(data))
    console.show(
        console.parameter_table(data["parameters"]),
        console.repetition_table(data["repetitions"]),
        console.pole_table("Poles at the nominal", data["poles"]),
    )
    if "check" in data:
        _show_check(data)
    if "saved" in data:
        print(f"saved {data['saved']}")
    print(", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()))


def _show_check(data: dict[str, Any]) -> None:
    console.show(console.check_table(data["check"]))
    print(f"worst point: {console.point(data['check']['worst_point']) or 'the only one'}")
    box = data["well_posed"]
    where = f" at {console.point(box['point'])}" if box["point"] else ""
    print(f"well-posed over the whole box: {box['answer']}{where} ({box['how']})")


@app.command()
def build(
    model: ModelPath,
    reduce: Reduce = True,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder for the LFT file.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check against the numeric articulated-body model.")
    ] = False,
    samples: Samples = 200,
    seed: Seed = 0,
    tolerance: Tolerance = 1e-8,
    search: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            help="Go on looking for fewer repetitions; ends earlier where all are at their bounds.",
        ),
    ] = 0.0,
    robot: Robot = None,
    json: Json = False,
) -> None:
    """Build the LFT of a model file: parameters, repetitions, poles; save and check it on request."""
    from lftgen._work import Work, save_plant

    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    work = Work(model, reduce, robot, search=search)
    work.describe()
    if check:
        work.check(samples, seed, tolerance)
    if output is not None:
        work.data["saved"] = str(save_plant(work.plant, output, work.data["model"]))
    if json:
        console.print_json({**work.data, "seconds": work.seconds})
    else:
        _show(work.data, work.seconds)
    _exit_on_failure(work.data)


@app.command()
def info(file: AnyPath, robot: Robot = None, json: Json = False) -> None:
    """Show a model: bodies, joints, parameters, signals, and which entries depend on which parameter."""
    from lftgen._work import Work

    work = Work(file, robot=robot)
    work.describe()
    work.inspect()
    if json:
        console.print_json({**work.data, "seconds": work.seconds})
        return
    data = work.data
    print(_headline(data))
    if "bodies" in data:
        console.show(console.body_table(data["bodies"]), console.joint_table(data["joints"]))
    console.show(
        console.parameter_table(data["parameters"]),
        console.signal_table(data),
        console.repetition_table(data["repetitions"]),
        console.dependence_table(data["dependence"]),
    )


@app.command()
def check(
    model: ModelPath,
    reduce: Reduce = True,
    samples: Samples = 200,
    seed: Seed = 0,
    tolerance: Tolerance = 1e-8,
    robot: Robot = None,
    json: Json = False,
) -> None:
    """Compare the LFT with an independent numeric model at random points and at the corners of the box."""
    from lftgen._work import Work

    work = Work(model, reduce, robot)
    work.check(samples, seed, tolerance)
    if json:
        console.print_json({**work.data, "seconds": work.seconds})
    else:
        _show_check(work.data)
    _exit_on_failure(work.data)


@app.command("eval")
def evaluate(
    file: AnyPath,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE...", help="In the parameter's own unit; or 30deg, 0.5rad."),
    ] = None,
    robot: Robot = None,
    json: Json = False,
) -> None:
    """Evaluate at one point: holding torques, A, B, C, D, poles; a parameter left out is nominal."""
    from lftgen._work import Work, read_point

    work = Work(file, robot=robot)
    work.evaluate(read_point(values or [], work.parameters))
    if json:
        console.print_json({**work.data, "seconds": work.seconds})
        return
    units = {name: p.unit for name, p in work.parameters.items()}
    print(_headline(work.data))
    print(console.point(work.data["point"], units))
    console.show(*console.system_tables(work.data))


@app.command()
def schema(
    of: Annotated[SchemaOf, typer.Argument(help="Which files: model files, or LFT files.")] = SchemaOf.model,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.")
    ] = None,
) -> None:
    """Write the JSON Schema of model files (for editors), or of LFT files."""
    import json as json_module

    from lftgen.interop.files import write_text
    from lftgen.interop.lft_file import lft_schema
    from lftgen.interop.model_schema import json_schema

    text = json_module.dumps(lft_schema() if of is SchemaOf.lft else json_schema(), indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        write_text(output, text)


app.command()(export)
app.command()(grid)
app.command()(report)


def _exit_on_failure(data: dict[str, Any]) -> None:
    passed = data.get("check", {}).get("passed", True)
    if not passed or data.get("well_posed", {}).get("answer") == "counterexample":
        raise typer.Exit(CHECK_FAILED)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of those of the process.
    """
    try:
        with console.plain_warnings():
            app(args=None if arguments is None else list(arguments), prog_name="lftgen")
    except LftgenError as error:
        console.say("error", error)
        sys.exit(WRONG_INPUT)
    except OSError as error:
        console.say("error", f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
        sys.exit(WRONG_INPUT)


if __name__ == "__main__":
    main()
