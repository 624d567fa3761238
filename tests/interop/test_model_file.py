"""Model files: what they give, and where and how they are refused."""

import inspect
import json
import random
import re
import time
from pathlib import Path

import pytest
import sympy

import lftgen as lg
from lftgen.interop.components import joint_classes
from lftgen.interop.model_file import parse_model

GOOD = """\
lftgen: 1
name: swing
parameters:
  m: {type: uncertain, nominal: 3, percent: 20, unit: kg}
  theta: {type: scheduled_angle, bounds: [-60, 60], unit: deg}
constants:
  L: 1.2
  I_rod: m*L**2/12
bodies:
  rod:
    mass: m
    com: [0, 0, -L/2]
    inertia: [I_rod, I_rod, 0]
    ports: {end: [0, 0, -L]}
joints:
  hinge: {type: revolute, parent: ground, child: rod, axis: [1, 0, 0], angle: theta, damping: 0.2}
inputs: [hinge_torque]
outputs: [hinge_angle]
"""

MODEL, PARAMETER = lg.ModelError, lg.ParameterError

# (what is replaced, by what, class of the error, line, field, part of the message)
BAD = [
    ("mass: m", "mas: m", MODEL, 11, "bodies.rod.mas", "did you mean 'mass'"),
    ("mass: m", "mass: -1", MODEL, 11, "bodies.rod.mass", "-1"),
    ("mass: m", "mass: .nan", MODEL, 11, "bodies.rod.mass", "finite"),
    ("mass: m", "mass: true", MODEL, 11, "bodies.rod.mass", "expected a number"),
    ("mass: m", "mass:", MODEL, 11, "bodies.rod.mass", "nothing"),
    ("mass: m", "mass: mm", MODEL, 11, "bodies.rod.mass", "did you mean 'm'"),
    ("mass: m", "mass: __import__('os').getcwd()", MODEL, 11, "bodies.rod.mass", "column 1"),
    ("mass: m", "mass: 9**9**9", MODEL, 11, "bodies.rod.mass", "exponent"),
    ("mass: m", "mass: &x 3", MODEL, 11, "", "anchors"),
    ("-L/2]", "-L/2, 1]", MODEL, 12, "bodies.rod.com", "three"),
    ("-L/2]", "-K/2]", MODEL, 12, "bodies.rod.com[2]", "'K'"),
    ("[I_rod, I_rod, 0]", "[1, 0.1, 0.1]", MODEL, 13, "bodies.rod.inertia", "triangle"),
    ("end: [", "e.d: [", MODEL, 14, "bodies.rod.ports.e.d", "letters"),
    ("{end: [0, 0, -L]}", "{end: {pont: [0, 0, -L]}}", MODEL, 14, "bodies.rod.ports.end", "point"),
    ("[-60, 60]", "[60, -60]", PARAMETER, 5, "parameters.theta.bounds", "reversed"),
    ("[-60, 60]", "[-60]", MODEL, 5, "parameters.theta.bounds", "pair"),
    ("[-60, 60]", "[-60, .nan]", MODEL, 5, "parameters.theta.bounds", "finite"),
    ("percent: 20", "bounds: [4, 5]", PARAMETER, 4, "parameters.m", "outside"),
    ("percent: 20", "percent: 20, bounds: [2, 4]", PARAMETER, 4, "parameters.m", "exactly one"),
    ("type: uncertain", "type: uncertian", MODEL, 4, "parameters.m", "uncertain"),
    ("type: uncertain, ", "", MODEL, 4, "parameters.m", "type"),
    ("unit: deg", "unit: grad", MODEL, 5, "parameters.theta.unit", "'rad' or 'deg'"),
    ("  theta: {", "  m: {", MODEL, 5, "parameters.m", "duplicate name, first given in line 4"),
    ("  L: 1.2", "  m: 1.2", MODEL, 7, "constants.m", "duplicate"),
    ("  L: 1.2", "  pi: 1.2", MODEL, 7, "constants.pi", "meaning"),
    ("type: revolute", "type: revolving", MODEL, 16, "joints.hinge", "revolute"),
    ("axis: [1, 0, 0], ", "", MODEL, 16, "joints.hinge.axis", "missing"),
    ("axis: [1, 0, 0]", "axis: [0, 0, 0]", MODEL, 16, "joints.hinge.axis", "axis"),
    ("child: rod", "child: rodd", MODEL, 16, "joints.hinge", "rodd"),
    ("damping: 0.2", "actuated: 3", MODEL, 16, "joints.hinge.actuated", "true or false"),
    ("name: swing", "name: swing\ngravty: 3", MODEL, 3, "gravty", "did you mean 'gravity'"),
    ("name: swing", "name: swing\ngravity: [0, 0]", MODEL, 3, "gravity", "three"),
    ("lftgen: 1\n", "", MODEL, 1, "lftgen", "missing"),
    ("lftgen: 1", "lftgen: 9", MODEL, 1, "lftgen", "version"),
    ("inputs: [hinge_torque]", "inputs: [hinge_torque, 3]", MODEL, 17, "inputs[1]", "text"),
    ("inputs: [hinge_torque]", "inputs: hinge_torque", MODEL, 17, "inputs", "list"),
]


def test_model_is_that_of_the_file() -> None:
    """Names, parameters, quantities and signals come out as written."""
    model = parse_model(GOOD)
    m = model.parameters["m"]
    assert (model.name, model.inputs, model.outputs) == ("swing", ("hinge_torque",), ("hinge_angle",))
    assert m.bounds == (2.4, 3.6)
    assert m.unit == "kg"
    assert model.parameters["theta"].bounds == (-60, 60)
    plant = model.linearize()
    inertia = 2.7 * 1.2**2 / 3
    expected = -(2.7 * 9.81 * 0.6 * 0.5**0.5) / inertia
    assert plant.at(m=2.7, theta=45).A[1, 0] == pytest.approx(expected, rel=1e-12)


def test_defaults_of_the_api_are_those_of_the_file() -> None:
    """Signals that the file leaves out are chosen by `Mechanism.linearize`."""
    text = GOOD.replace("inputs: [hinge_torque]\noutputs: [hinge_angle]\n", "")
    model = parse_model(text)
    assert model.inputs is None
    assert list(model.linearize().inputs) == ["hinge_torque"]


@pytest.mark.parametrize(("old", "new", "kind", "line", "field", "part"), BAD)
def test_errors_name_file_line_and_field(
    old: str, new: str, kind: type[Exception], line: int, field: str, part: str
) -> None:
    """A wrong file is an error of the right class that points at the place, in under a second."""
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    start = time.process_time()
    with pytest.raises(kind) as caught:
        parse_model(text, "swing.yaml")
    assert time.process_time() - start < 1.0
    message = str(caught.value)
    place = f"swing.yaml:{line}: {field}"
    assert place in message
    assert part in message
    assert type(caught.value) is kind


@pytest.mark.parametrize(("section", "line"), [("inputs", 17), ("outputs", 18)])
def test_unknown_and_repeated_signals(section: str, line: int) -> None:
    """A wrong signal name is reported with its line."""
    name = {"inputs": "hinge_torque", "outputs": "hinge_angle"}[section]
    for wrong, part in ((f"{name[:-1]}", name), (f"{name}, {name}", "duplicate")):
        text = GOOD.replace(f"{section}: [{name}]", f"{section}: [{wrong}]")
        with pytest.raises(lg.ModelError, match=f"swing.yaml:{line}: {section}") as caught:
            parse_model(text, "swing.yaml").linearize()
        assert part in str(caught.value)


def test_all_problems_are_listed() -> None:
    """Several wrong fields are reported together, in the order of the file."""
    text = GOOD.replace("mass: m", "mas: m").replace("damping", "dampng")
    with pytest.raises(lg.ModelError) as caught:
        parse_model(text)
    lines = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["10", "11", "16"]


def test_same_model_from_file_and_from_python(tmp_path: Path) -> None:
    """`read_model` of a file and the same mechanism written in Python give the same matrices."""
    path = tmp_path / "swing.yaml"
    path.write_text(GOOD, encoding="utf-8")
    m = lg.uncertain("m", 3, percent=20, unit="kg")
    theta = lg.scheduled_angle("theta", (-60, 60), unit="deg")
    rod = lg.RigidBody("rod", mass=m, com=(0, 0, -0.6), inertia=(m * 0.12, m * 0.12, 0))
    joint = lg.RevoluteJoint("hinge", parent="ground", child="rod", axis=(1, 0, 0), angle=theta, damping=0.2)
    plant = lg.Mechanism("swing", bodies=[rod], joints=[joint]).linearize()
    ours = lg.read_model(path).linearize()
    assert abs(ours.at(m=3.3, theta=-20).A - plant.at(m=3.3, theta=-20).A).max() < 1e-13


@pytest.mark.filterwarnings("ignore::lftgen.LftgenWarning")
@pytest.mark.parametrize("joint", joint_classes(), ids=lambda joint: joint.kind)
def test_every_joint_type_can_be_written_in_a_file(joint: type) -> None:
    """A joint type is read with the arguments of its class, without any further code."""
    required = {
        name: [0, 0, 1] if name.startswith("axis") else {"parent": "ground", "child": "rod"}[name]
        for name, argument in inspect.signature(joint).parameters.items()
        if name != "name" and argument.default is argument.empty
    }
    fields = {"type": joint.kind, "parent": "ground", "child": "rod", "origin": [0, 0, "2*L"], **required}
    text = GOOD[: GOOD.index("joints:")] + f"joints:\n  hinge: {json.dumps(fields)}\n"
    read = parse_model(text).mechanism.joints[0]
    assert read == joint(
        "hinge", origin=(0, 0, 2.4), **{k: v for k, v in fields.items() if k not in ("type", "origin")}
    )


JUNK = [
    "null", "[]", "{}", "-1", "0", "1e308", ".nan", "true", "''", "'a b'", "[1, 2, 3]", "{a: 1}", "m", "L", "rod",
    "1/3", "sqrt(m)", "-", "***", "'", '"', "[", "]", "{", "}", ":", ",", "&a", "*a", "!!x", "|", ">", "%", "@", "\t",
    "\n", "é", "0x1F", "<<", "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "[[1, 2], [3]]", "1/m", "9" * 200, "9" * 400,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::lftgen.LftgenWarning")
def test_damaged_files_are_read_or_refused_with_their_place(seed: int) -> None:
    """Whatever is done to a file, it is a model or an error of lftgen that begins with the file."""
    rng = random.Random(seed)
    words = re.findall(r"\w+|\s+|[^\w\s]", GOOD)
    for _ in range(60):
        damaged = list(words)
        for _ in range(rng.choice([1, 1, 2, 3])):
            damaged[rng.randrange(len(words))] = rng.choice([*JUNK, "", *words])
        message = _refusal("".join(damaged))
        assert message is None or message.startswith("damaged.yaml")


def _refusal(text: str) -> str | None:
    try:
        parse_model(text, "damaged.yaml")
    except lg.LftgenError as error:
        return str(error)
    return None


def test_loads_and_rotors() -> None:
    """Loads of every kind and rotors are read with the arguments of their classes."""
    text = GOOD.replace("    ports:", "    rotors: {wheel: {axis: [0, 0, 2], momentum: 4*m}}\n    ports:")
    text += """\
loads:
  wind: {type: dead, port: rod_end, force: [m, 0, 0]}
  jet: {type: follower, port: rod_com, torque: [0, 0, 1/3]}
  cable: {type: spring, port: rod_end, anchor: [1, 0, 0], stiffness: 100, damping: 2*L}
"""
    model = parse_model(text)
    m = model.parameters["m"]
    (rod,) = model.mechanism.bodies
    assert rod.rotors == (lg.Rotor("wheel", axis=(0, 0, 1), momentum=4 * m),)
    assert model.mechanism.loads == (
        lg.DeadLoad("wind", port="rod_end", force=(m, 0, 0)),
        lg.FollowerLoad("jet", port="rod_com", torque=(0, 0, sympy.Rational(1, 3))),
        lg.SpringDamper("cable", port="rod_end", anchor=(1, 0, 0), stiffness=100, damping=2.4),
    )
    for old, new, place in (
        ("axis: [0, 0, 2]", "axis: [0, 0, 0]", ":14: bodies.rod.rotors.wheel.axis"),
        ("momentum", "momentun", ":14: bodies.rod.rotors.wheel.momentun: unknown field"),
        ("port: rod_end, force", "port: rod_ent, force", ":21: loads.wind"),
        ("type: follower", "type: follow", ":22: loads.jet"),
    ):
        with pytest.raises(lg.ModelError) as caught:
            parse_model(text.replace(old, new, 1))
        assert place in str(caught.value)
