"""The report: complete, self-contained, escaped; wrong calls write nothing."""

import base64
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import lftgen as lg

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib").use("Agg")

EXAMPLES = Path(__file__).parents[2] / "examples"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


class Page(HTMLParser):
    """Open tags, addresses, and the cells of each table by its id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.tables: dict[str, list[str]] = {}
        self._table = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        given = dict(attrs)
        self.addresses += [given[k] for k in ("src", "href", "action", "data") if k in given]
        if tag == "table":
            self._table = given.get("id", "")

    def handle_data(self, data):
        if self._table and data.strip():
            self.tables.setdefault(self._table, []).append(data.strip())

    def handle_endtag(self, tag):
        if tag == "table":
            self._table = ""


@pytest.fixture(scope="module")
def arm_page(tmp_path_factory):
    """The report of the two-link arm."""
    model = lg.read_model(EXAMPLES / "two_link_arm.yaml")
    steps = []
    path = lg.write_report(
        model, tmp_path_factory.mktemp("report") / "arm.html", samples=20, progress=lambda *s: steps.append(s)
    )
    assert steps == [(k, 5) for k in range(1, 6)]
    return path


def test_page_holds_what_the_model_says(arm_page):
    """Bodies, parameters with ranges, order with bounds, the check, influence and six figures."""
    text = arm_page.read_text()
    page = Page(text)
    assert {"B1", "B2", "B3"} <= set(page.tables["bodies"])
    assert {"theta1", "deg", "-90", "90", "2.4", "3.6", "kg"} <= set(page.tables["parameters"])
    assert page.tables["order"][-4:] == ["total", "13", "13", "yes"]
    assert re.search(r">passed</span>", text)
    assert {"m1", "theta2"} <= set(page.tables["influence"])
    pictures = [a for a in page.addresses if a.startswith("data:image/png;base64,")]
    assert len(pictures) == 6
    assert all(base64.b64decode(a.partition(",")[2]).startswith(b"\x89PNG") for a in pictures)


def test_page_needs_no_network_and_runs_nothing(arm_page):
    """No address leaves the page, no script is in it, and its policy forbids both."""
    page = Page(arm_page.read_text())
    assert all(a.startswith("data:") for a in page.addresses)
    assert not {"script", "iframe", "link", "object"} & set(page.tags)
    assert "default-src 'none'" in arm_page.read_text()


def test_text_from_files_stays_text(tmp_path):
    """A description with markup is shown, not interpreted."""
    text = (EXAMPLES / "pendulum.yaml").read_text()
    text = re.sub(r"^description:.*$", "description: '<script>alert(1)</script> & <b>'", text, flags=re.M)
    (tmp_path / "m.yaml").write_text(text)
    path = lg.write_report(lg.read_model(tmp_path / "m.yaml"), tmp_path / "m.html", samples=5)
    assert "script" not in Page(path.read_text()).tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;" in path.read_text()


@pytest.mark.heavy
def test_reports_of_small_models(tmp_path):
    """An LFT alone, one without states, one without parameters, a plant with other signals than its mechanism's."""
    k = lg.uncertain("k", 4.0, percent=50)
    for name, plant in {
        "plain": lg.ss([[-k]], [[1]], [[1]], [[0]]),
        "matrix": lg.realize([[k, 1]]),
        "fixed": lg.ss([[-1]], [[1]], [[1]], [[0]]),
        "blind": lg.ss([[-k]], [[1]], [[1]], [[0]])[[], []],
    }.items():
        page = Page(lg.write_report(plant, tmp_path / f"{name}.html", samples=5).read_text())
        assert "img" in page.tags
    body = lg.RigidBody("b", mass=k, com=(0, 0, -1))
    mech = lg.Mechanism(
        "p", bodies=[body], joints=[lg.RevoluteJoint("j", parent="ground", child="b", axis=(1, 0, 0))]
    )
    other = lg.write_report(
        mech, tmp_path / "other.html", plant=lg.ss([[-k]], [[1]], [[1]], [[0]]), samples=5
    )
    assert "Not possible: check: the plant" in other.read_text()


def test_wrong_calls_write_nothing(tmp_path):
    """Sources, plants, targets."""
    k = lg.ss([[-1]], [[1]], [[1]], [[0]])
    for call, message in (
        (lambda: lg.write_report(3, tmp_path / "a.html"), "source must be a Mechanism"),
        (lambda: lg.write_report(k, tmp_path), "expected the name of a file"),
        (lambda: lg.write_report(k, tmp_path / "no" / "a.html"), "folder that exists"),
        (lambda: lg.write_report(k, None), "expected the path"),
        (lambda: lg.write_report(k, tmp_path / "a.html", plant=3), "plant must be a LFT"),
        (lambda: lg.write_report(k, tmp_path / "a.html", samples=0), "samples must be"),
    ):
        with pytest.raises(lg.ModelError, match=message):
            call()
    assert not list(tmp_path.iterdir())


@pytest.mark.heavy
def test_command_and_chromium(tmp_path):
    """`lftgen report` writes a page that a browser without network shows in full, figures included."""
    from PIL import Image

    assert CHROMIUM, "Chromium is not installed"
    page, picture = tmp_path / "arm.html", tmp_path / "arm.png"
    command = [
        sys.executable,
        "-m",
        "lftgen.cli",
        "report",
        str(EXAMPLES / "two_link_arm.yaml"),
        "-o",
        str(page),
        "--json",
    ]
    assert b'"saved"' in subprocess.run(command, check=True, capture_output=True).stdout
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    dom = subprocess.run(
        [CHROMIUM, *QUIET, profile, "--dump-dom", page.as_uri()], check=True, capture_output=True, timeout=120
    ).stdout.decode()
    assert Page(dom).tables["order"][-4:] == ["total", "13", "13", "yes"]
    subprocess.run(
        [CHROMIUM, *QUIET, profile, "--window-size=1100,5600", f"--screenshot={picture}", page.as_uri()],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    with Image.open(picture) as shot:
        assert shot.size == (1100, 5600)
        colours = shot.convert("RGB").crop((0, 2300, 1100, 5600)).getcolors(1 << 24)
    coloured = sum(n for n, (r, g, b) in colours if max(r, g, b) - min(r, g, b) > 60)
    assert coloured > 20_000, "the figures are not drawn"
