"""Judges the designs that ship with rowkey on the recordings that ship with it, and runs one.

Three keys for each recording: time first, the remainder of the time, a hashed bucket. Their
verdicts and one table stand on the terminal; the whole text and the JSON of each in a folder, and
a report that compares all three as one page for the browser. The hashed bucket is then a table on
the embedded engine, whose regions count what was predicted.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from io import StringIO
from pathlib import Path
from textwrap import wrap
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowkey import Design, simulate
from rowkey.advise import compare
from rowkey.engines import open_engine
from rowkey.render import (
    Redaction,
    judged_together,
    print_simulation,
    reasons,
    report_document,
    report_page,
    simulation_document,
)
from rowkey.table import drop_table, load_file, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rowkey import Simulation
    from rowkey.advise import Comparison
    from rowkey.simulate import ReadResult

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "src" / "rowkey" / "examples"
FOLDER = ROOT / "demo"
ORDER = ("time_first", "mod", "hashed")
STYLES = {"even": "bold green", "warm": "bold yellow", "hot": "bold red"}
PAGE_WIDTH = 120


def main() -> None:
    """Judge every example, print the verdicts, and write everything else down."""
    parser = ArgumentParser(description="Judge the example designs.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="for text and JSON")
    parser.add_argument("--examples", type=Path, default=EXAMPLES, help="where the designs lie")
    given = parser.parse_args()
    places = sorted({path.parent for path in given.examples.glob("*/*.toml")})
    if not places:
        parser.error(f"no designs below {given.examples}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text("Will this row key run hot? Asked of real recordings.", "bold"))
    for place in places:
        compared = _compared(place)
        found = {one.name: one.simulation for one in compared.designs}
        _show(console, place.name, found)
        _write(given.folder / place.name, found, compared)
    runs = given.examples / "flights" / "hashed.toml"
    if runs.exists():
        _run(console, given.folder, runs)
    _close(console, given.folder, max(places[-1].glob("*.toml"), key=lambda path: _rank(path.stem)))


def _compared(place: Path) -> Comparison:
    """Every design of a folder on the second half of its recording, the plainest first."""
    paths = sorted(place.glob("*.toml"), key=lambda path: (_rank(path.stem), path.stem))
    designs = [Design.read(path) for path in paths]
    names = [path.stem for path in paths]
    return compare(designs, names=names, second_half=True, clock=perf_counter)


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _show(console: Console, title: str, found: Mapping[str, Simulation]) -> None:
    first = next(iter(found.values()))
    recording = Path(first.source.name).name
    told = f"{first.operations:,} of {first.source.total:,} events in {recording}"
    console.print()
    console.print(Text.assemble((title, "bold"), f": {told}, {len(first.regions)} regions on "
                                f"{first.design.cluster.servers} servers"))  # fmt: skip
    for name, one in found.items():
        verdict = one.verdict
        console.print()
        console.print(Text.assemble((verdict.word.upper(), STYLES[verdict.word]),
                                    f"  {name}  ", (str(one.design.key), "cyan")))  # fmt: skip
        for line in _why(one, min(console.width, PAGE_WIDTH)):
            console.print(Text(line))
    console.print()
    console.print(_table(found))
    console.print()
    console.print(_reads(found))
    console.print()
    console.print(_moral(found))


def _why(found: Simulation, width: int) -> Iterator[str]:
    """The causes as lines that fit."""
    for joint, reason in reasons(found):
        text = f"{joint} {reason}"
        yield from wrap(text, width, initial_indent="  ", subsequent_indent="    ")
    if not found.causes and found.verdict.word != "even":
        yield "  no single cause explains it"


def _table(found: Mapping[str, Simulation]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("design", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    heads = ("skew", "even", "busiest region", "worst window", "written")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, one in found.items():
        verdict, shares = one.verdict, one.region_shares
        table.add_row(
            name,
            Text(verdict.word, STYLES[verdict.word]),
            f"{verdict.skew:.2f}×",
            f"{verdict.even:.2f}×",
            f"{shares.total:.0%}",
            f"{shares.worst:.0%}",
            f"{len(one.regions) - one.dead} of {len(one.regions)}",
        )
    return table


def _reads(found: Mapping[str, Simulation]) -> Table:
    """What each declared read has to open, design by design."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("a read opens", no_wrap=True)
    for name in found:
        table.add_column(name, justify="right", no_wrap=True)
    for costs in zip(*(one.reads for one in found.values()), strict=True):
        table.add_row(costs[0].name, *map(_opens, costs))
    return table


def _opens(read: ReadResult) -> Text:
    if read.is_full_scan:
        return Text("the whole table", "bold red")
    ranges = f"{read.fan_out[0]:.3g}"
    return Text("1 range" if ranges == "1" else f"{ranges} ranges")


def _moral(found: Mapping[str, Simulation]) -> Text:
    """Which design lies most evenly here."""
    best = min(found, key=lambda name: found[name].verdict.skew / found[name].verdict.even)
    return Text(f"Most even on this recording: {best}.")


def _write(folder: Path, found: Mapping[str, Simulation], compared: Comparison) -> None:
    """The whole text and the JSON of each simulation, and one report that compares all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in found.items():
        text = StringIO()
        print_simulation(one, Console(file=text, width=PAGE_WIDTH, highlight=False))
        (folder / f"{name}.txt").write_text(text.getvalue(), encoding="utf-8")
        document = json.dumps(simulation_document(one), indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(document + "\n", encoding="utf-8")
    told = report_document(judged_together(compared), Redaction(), compared)
    (folder / "report.html").write_text(report_page(told), encoding="utf-8")


def _run(console: Console, folder: Path, path: Path) -> None:
    """The same design as a table: loaded, read in order, and its regions counted."""
    design = Design.read(path)
    url = f"rocks:{folder / 'data'}"
    if design.table in _tables(url):
        drop_table(design.table, url)
    with open_table(design, url) as table:
        loaded = load_file(table, design.sample_path or path)
        counts = [region.writes for region in table.regions()]
        latest = list(table.read("history of a flight", "UA", 15))
        departures = table.count("carrier = ?", "UA")
    predicted = [region.writes for region in simulate.run(design).regions]
    console.print()
    console.print(Text.assemble(("the same design as a table", "bold"), f" on {_near_url(url)}"))
    console.print(f"{loaded.rows:,} rows written; {departures:,} of them are departures of UA")
    words = "as simulated" if counts == predicted else "NOT AS SIMULATED"
    spread = f"{min(counts):,} to {max(counts):,}"
    console.print(f"each of its {len(counts)} regions counted its writes, {words}: {spread}")
    console.print("the latest departures of UA 15, one range read backwards:")
    for row in latest[:3]:
        time = design.fields["time"].type.show(row["time"])
        console.print(f"  {time}  {row['origin']} to {row['dest']}  {row['tailnum']}")


def _tables(url: str) -> list[str]:
    with open_engine(url) as engine:
        return engine.tables()


def _near_url(url: str) -> str:
    scheme, _, place = url.partition(":")
    return f"{scheme}:{_near(Path(place))}"


def _close(console: Console, folder: Path, design: Path) -> None:
    """Where everything is, and what to do next."""
    command = _near(Path(sys.executable).with_name("rowkey"))
    lines = (
        "",
        "skew: load of the fullest server over its fair share; even: what chance alone would show;",
        "busiest region: its share of all writes, and of those in its worst of 50 windows;",
        "written: regions that got a write. Even writes have a price: what a read has to open.",
        "Only the second half is replayed: boundaries may be taken from the first half alone.",
        "",
        f"Open in a browser, compared side by side: {_near(folder)}/*/report.html",
        f"Heat maps, reads and all figures: {_near(folder)}/*/*.txt, the same as JSON: *.json",
        f"The command is {command}, for instance:",
        f"  {command} simulate {_near(design)} --second-half",
        f"  {command} check {_near(design)}",
        "Read next: docs/tutorial.md, then docs/guides/reading-a-verdict.md",
    )
    for line in lines:
        console.print(Text(line))


def _near(path: Path) -> str:
    """A path as short as it is from here."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    main()
