from __future__ import annotations

import base64
import builtins
import json
import re
import struct
import sys
import zlib
from html.parser import HTMLParser
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rowkey
from render.reports import NAUGHTY, QUOTED, judge_hostile_design
from rowkey import Design, lint, show, simulate
from rowkey.errors import InvalidArgument
from rowkey.render import LANGUAGES
from rowkey.render.page.heat_png import COLOUR_STOPS, build_palette, compute_levels, draw_heat_png
from rowkey.render.page.markup import read_asset

if TYPE_CHECKING:
    from rowkey.advise import Comparison

MAX_FRAGMENT_BYTES = 40_000
VOID = {"img", "br", "hr", "input", "meta", "wbr"}


class Elements(HTMLParser):
    """Collects the elements of a piece of HTML, and checks that each is closed."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.open: list[str] = []
        self.feed(piece)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the element was opened last."""
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.said.append(data)


@pytest.fixture(scope="module")
def results(comparison: Comparison) -> dict[str, Any]:
    """One result of each type that a notebook shows."""
    one = comparison.designs[1]
    return {
        "Simulation": one.simulation,
        "Comparison": comparison,
        "Design": one.design,
        "LintResult": one.lint_result,
    }


NAMES = [name for _, name in rowkey._RICH_DISPLAY_CLASSES]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_notebook_output_is_one_element_without_scripts_or_ids(
    results: dict[str, Any], name: str, language: str
) -> None:
    """A notebook's output is one element without scripts or ids."""
    piece = show(results[name], language)._repr_html_()
    elements = Elements(piece)
    tags = [tag for tag, _ in elements.found]
    assert ("div", "rowkey-shown") == (tags[0], elements.found[0][1]["class"])
    assert set() == {"script", "link", "iframe", "html", "body"} & set(tags)
    assert [] == [a for _, a in elements.found if "id" in a or any(n.startswith("on") for n in a)]
    assert len(piece.encode()) < MAX_FRAGMENT_BYTES
    asked = re.findall(r"(?:src|href)=\"([^\"]*)\"", piece)
    assert [] == [one for one in asked if not one.startswith("data:image/png;base64,")]


def test_every_style_selector_begins_with_the_class_of_the_output() -> None:
    style = re.sub(r"/\*.*?\*/", "", read_asset("browser/fragment.css"))
    selectors = [one.strip() for one in re.findall(r"([^{}]+)\{[^{}]*\}", style)]
    parts = [part.strip() for selector in selectors for part in selector.split(",")]
    assert len(parts) > 20
    assert [] == [part for part in parts if not part.startswith("div.rowkey-shown")]


@pytest.mark.parametrize("name", NAMES)
def test_without_html_a_result_is_shown_as_text(results: dict[str, Any], name: str) -> None:
    """Without HTML a result is shown as text, not as the representation of an object."""
    told = repr(show(results[name]))
    assert 2 <= len(told.splitlines()) < 120
    assert "dataclass" not in told
    assert "object at" not in told
    assert f"{name}(" not in told


def test_in_a_notebook_the_text_of_a_result_is_not_printed(
    results: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a notebook, the text of a result is returned and not printed to the console."""
    told = repr(show(results["Simulation"]))
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert told == repr(show(results["Simulation"]))


def test_notebook_output_shows_verdict_causes_reads_and_findings(results: dict[str, Any]) -> None:
    """Verdict, causes, reads, measures, parts of the key and findings are shown."""
    simulation, compared = results["Simulation"], results["Comparison"]
    told = show(simulation)._repr_html_()
    said = " ".join(Elements(told).said)
    assert f"{simulation.verdict.skew:.2f}×" in said
    assert all(cause.message in said for cause in simulation.causes)
    assert all(read.name in said for read in simulation.reads)
    assert "data:image/png;base64," in told
    table = show(compared)._repr_html_()
    assert len(compared.designs) == table.count("data:image/png;base64,")
    assert all(f"{one.label} {one.name}" in table for one in compared.designs)
    parts = " ".join(Elements(show(results["Design"])._repr_html_()).said)
    assert all(f"[{term}]" in parts for term in results["Design"].key.terms)
    findings = " ".join(Elements(show(results["LintResult"])._repr_html_()).said)
    assert all(one.code in findings for one in results["LintResult"].findings)


def test_markup_in_names_is_escaped_in_every_notebook_output() -> None:
    """Names that would end an element or an attribute are text in every output."""
    judged = judge_hostile_design()
    for result in (judged.simulation, judged.design, judged.lint_result):
        piece = show(result)._repr_html_()
        elements = Elements(piece)
        assert "script" not in {tag for tag, _ in elements.found}
        assert [] == [a for _, a in elements.found if any(name.startswith("on") for name in a)]
        assert "\u202e" not in piece
    said = "".join(Elements(show(judged.design)._repr_html_()).said)
    assert NAUGHTY in said
    assert QUOTED in said


def test_on_one_server_no_picture_is_shown() -> None:
    """On one server no picture is shown, as there is nothing to compare."""
    design = Design(
        "t",
        "[a]",
        fields={"a": "u32"},
        writes={"rate": "9/s", "for": "20s"},
        cluster={"servers": 1},
    )
    piece = show(simulate.run(design))._repr_html_()
    assert "<img" not in piece
    assert "one server takes all writes" in piece


def test_a_result_without_findings_says_so() -> None:
    """A result without findings says that there are none."""
    assert "The rules found nothing." in show(lint.LintResult(()))._repr_html_()


def test_of_many_findings_the_most_severe_are_shown(results: dict[str, Any]) -> None:
    """Of many findings the most severe are shown, with the number of the others."""
    [first, *_] = results["LintResult"].findings
    piece = show(lint.LintResult((first,) * 50))._repr_html_()
    assert 20 == piece.count('class="chip')
    assert "and 30 more" in piece


def test_showing_an_object_of_another_type_is_refused(results: dict[str, Any]) -> None:
    """An object of another type, and an unknown language, are refused."""
    with pytest.raises(
        InvalidArgument, match="a Simulation, a Comparison, a Design or a LintResult"
    ):
        show({"a": 1})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="en, zh"):
        show(results["Design"], "fr")


class Formatter:
    """A fake of IPython's formatter for a class that is not loaded yet."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[str, str], Any] = {}

    def for_type_by_name(self, module: str, name: str, function: Any) -> None:
        """Register a function for a class by its name."""
        self.kinds[module, name] = function

    def get_function(self, result: Any) -> Any:
        """Return the function for a result."""
        return self.kinds[type(result).__module__, type(result).__name__]


class Shell:
    """A fake of IPython's shell."""

    def __init__(self) -> None:
        self.formatters = {"text/html": Formatter(), "text/plain": Formatter()}
        self.display_formatter = self


class Printer:
    """A pretty printer that keeps its text."""

    def __init__(self) -> None:
        self.said = ""

    def text(self, said: str) -> None:
        """Keep a text."""
        self.said += said


@pytest.mark.parametrize("name", NAMES)
def test_ipython_displays_each_class_as_show_does(results: dict[str, Any], name: str) -> None:
    """Each class is found by its defining module, and displayed as `show` does."""
    shell, printer = Shell(), Printer()
    rowkey.load_ipython_extension(shell)
    result = results[name]
    shown = show(result)
    assert shown._repr_html_() == shell.formatters["text/html"].get_function(result)(result)
    shell.formatters["text/plain"].get_function(result)(result, printer, False)
    assert repr(shown) == printer.said


def test_importing_rowkey_in_ipython_registers_its_displays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Importing rowkey in IPython registers its displays, and loads no subpackage."""
    shell = Shell()
    held = {name: one for name, one in sys.modules.items() if name.split(".")[0] == "rowkey"}
    for name in held:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "IPython", RunningIPython(shell))
    import_module("rowkey")
    loaded = {name for name in sys.modules if name.split(".")[0] == "rowkey"}
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    for name, one in held.items():
        monkeypatch.setitem(sys.modules, name, one)
    assert {"rowkey"} == loaded
    assert set(NAMES) == {name for _, name in shell.formatters["text/html"].kinds}


class RunningIPython:
    """The module IPython, with a shell that runs."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_ipython(self) -> Shell:
        """Return the shell."""
        return self.shell


def read_chunks(png: bytes) -> dict[bytes, bytes]:
    """Return the chunks of a PNG, whose checksums are verified."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    found, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, held = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert zlib.crc32(name + held) == struct.unpack(">I", png[at + 8 + length :][:4])[0]
        found[name] = held
        at += 12 + length
    return found


def test_each_cell_of_a_small_map_is_a_pixel() -> None:
    """Each cell of a small map is a pixel with the colour of its load."""
    counts = np.array([[1, 1], [2, 0], [0, 0]])
    found = read_chunks(draw_heat_png(counts, 2))
    assert (3, 2, 8, 3) == struct.unpack(">IIBB", found[b"IHDR"][:10])
    rows = zlib.decompress(found[b"IDAT"])
    assert [0, 0] == [rows[0], rows[4]]
    pixels = [rows[1:4], rows[5:8]]
    colours = [[found[b"PLTE"][3 * one : 3 * one + 3] for one in row] for row in pixels]
    nothing, fair, double = bytes.fromhex("0c101d"), colours[0][0], colours[0][1]
    assert [[fair, double, nothing], [fair, nothing, nothing]] == colours
    for colour, load in ((fair, 1), (double, 2)):
        stop = next(stop[1:] for stop in COLOUR_STOPS if stop[0] == load)
        assert max(abs(a - b) for a, b in zip(colour, stop, strict=True)) <= 3


def test_a_pixel_of_a_large_map_has_the_colour_of_its_hottest_cell() -> None:
    counts = np.ones((5_000, 300), np.int64)
    counts[4_321, 7] = 10_000
    found = read_chunks(draw_heat_png(counts, 300))
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    assert (480, 64) == (width, height)
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert 255 == rows[7 * 64 // 300, 1 + 4_321 * 480 // 5_000]
    assert 1 == (rows[:, 1:] == 255).sum()


def test_pictures_and_reports_have_the_same_palette() -> None:
    """Pictures and the report have the same palette and scale."""
    program = read_asset("browser/map/colours.js")
    said = re.search(r"const STOPS = (\[.*?\]);", program, re.DOTALL)
    assert said is not None
    numbers = re.findall(r"(1 / \d+|0x[0-9a-f]+|\d+)", said[1])
    stops = [eval(number) for number in numbers]  # the program's own figures
    assert [value for stop in COLOUR_STOPS for value in stop] == stops
    assert "DARKEST = 1 / 32, OCTAVES = 9;" in program
    assert 3 * 256 == len(build_palette())


def test_colours_are_brighter_for_higher_load() -> None:
    """Levels and the brightness of their colours rise with the load."""
    loads = np.array([[0, 1, 10, 100, 1_000]])
    levels = compute_levels(loads, 5)[0]
    assert 0 == levels[0]
    assert list(levels) == sorted(levels)
    held = np.frombuffer(build_palette(), np.uint8).reshape(-1, 3).astype(float)
    bright = held @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(bright[1:]) > -0.8)


def test_notebook_output_survives_json(results: dict[str, Any]) -> None:
    """An output is text that survives JSON, the format of notebooks."""
    piece = show(results["Simulation"])._repr_html_()
    assert piece == json.loads(json.dumps(piece))
    address = re.search(r"base64,([\w+/=]+)", piece)
    assert address is not None
    assert base64.b64decode(address[1]).startswith(b"\x89PNG")
