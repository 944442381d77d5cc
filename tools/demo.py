"""Judge the designs that ship with rowkey with their recordings, and run one of them.

Three keys for each recording: time first, the remainder of the time, a hashed bucket. Their
verdicts and one table stand on the terminal; the whole text and the JSON of each in a folder, and
a report that compares all three as one page for the browser. The hashed bucket is then a table on
the embedded engine, whose regions count what was predicted. Last comes what to do: the keys that
`rowkey advise` finds in place of the remainder of the time, as design files.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rowkey import Design, simulate
from rowkey.advise import compare_designs, judge_comparison, search
from rowkey.engines import open_engine
from rowkey.render import (
    Redaction,
    build_report_document,
    build_report_page,
    build_simulation_document,
    format_advised_design,
    format_recommendation,
    print_simulation,
    print_verdict,
)
from rowkey.table import drop_table, load_file, open_table

if TYPE_CHECKING:
    from rowkey import Simulation
    from rowkey.advise import Comparison, JudgedDesign
    from rowkey.simulate import ReadCost

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "src" / "rowkey" / "examples"
FOLDER = ROOT / "demo"
ORDER = ("time_first", "mod", "hashed")
ADVISED = "mod"
"""The design in place of which better keys are searched: a remedy that many guides give."""
PAGE_WIDTH, TEXT_WIDTH = 120, 96
LEGEND = (
    "skew: load of the busiest server over its fair share; even: what chance alone would show;",
    "busiest region: its share of all writes, and of those in its worst of 50 windows;",
    "written: regions that got a write. Only the second half is replayed: boundaries may be taken",
    "from the first half alone. Even writes have a price: what a read has to open.",
)


def main() -> None:
    """Judge every example, print the verdicts, and write texts, JSON and reports to a folder."""
    parser = ArgumentParser(description="Judge the example designs.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="for text and JSON")
    parser.add_argument("--examples", type=Path, default=EXAMPLES, help="folder of the designs")
    arguments = parser.parse_args()
    folders = sorted({path.parent for path in arguments.examples.glob("*/*.toml")})
    if not folders:
        parser.error(f"no designs below {arguments.examples}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(Text("Will this row key run hot? Six designs judged on real recordings.", "bold"))
    for folder in folders:
        compared = _compare_folder(folder)
        judged_designs = judge_comparison(compared)
        _print_verdicts(console, folder.name, judged_designs)
        _write_files(arguments.folder / folder.name, judged_designs, compared)
    console.print(*(Text(f"\n{line}", "dim") for line in LEGEND), sep="")
    runs = arguments.examples / "flights" / "hashed.toml"
    if runs.exists():
        _run_table(console, arguments.folder, runs)
    console.print(Text("\nWhat to do", "bold"))
    for folder in folders:
        if (folder / f"{ADVISED}.toml").exists():
            _print_advice(console, folder / f"{ADVISED}.toml", arguments.folder / folder.name)
    _print_next_steps(console, arguments.folder)


def _compare_folder(folder: Path) -> Comparison:
    """Compare the designs of a folder on the second half of their recording."""
    paths = sorted(folder.glob("*.toml"), key=lambda path: (_sort_position(path.stem), path.stem))
    designs = [Design.read(path) for path in paths]
    names = [path.stem for path in paths]
    return compare_designs(designs, names=names, second_half=True, clock=perf_counter)


def _sort_position(name: str) -> int:
    """Return the position of a design in the demo; unknown designs come last."""
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _print_verdicts(console: Console, title: str, judged_designs: Sequence[JudgedDesign]) -> None:
    """Print the verdict, causes and tables of the designs of one recording."""
    first = judged_designs[0].simulation
    recording = Path(first.source.name).name
    events = f"{first.operation_count:,} of {first.source.total_count:,} events in {recording}"
    console.print()
    console.print(Text.assemble((title, "bold"), f": {events}, {len(first.regions)} regions on "
                                f"{first.design.cluster.servers} servers"))  # fmt: skip
    for one in judged_designs:
        console.print()
        console.print(Text.assemble((one.name, "bold"), "  ", (str(one.design.key), "cyan")))
        print_verdict(one, console, is_short=True)
    simulations = {one.name: one.simulation for one in judged_designs}
    console.print()
    console.print(_build_skew_table(simulations))
    console.print()
    console.print(_build_read_table(simulations))


def _build_skew_table(simulations: Mapping[str, Simulation]) -> Table:
    """Return a table of the skew of each design."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("design", no_wrap=True)
    table.add_column("writes", no_wrap=True)
    heads = ("skew", "even", "busiest region", "worst window", "written")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, one in simulations.items():
        verdict, shares = one.verdict, one.region_shares
        table.add_row(
            name,
            verdict.level,
            f"{verdict.skew:.2f}×",
            f"{verdict.even_skew:.2f}×",
            f"{shares.total:.0%}",
            f"{shares.worst:.0%}",
            f"{len(one.regions) - one.empty_region_count} of {len(one.regions)}",
        )
    return table


def _build_read_table(simulations: Mapping[str, Simulation]) -> Table:
    """Return a table of the ranges that each declared read opens, by design."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("a read opens", no_wrap=True)
    for name in simulations:
        table.add_column(name, justify="right", no_wrap=True)
    for costs in zip(*(one.reads for one in simulations.values()), strict=True):
        table.add_row(costs[0].name, *map(_format_ranges, costs))
    return table


def _format_ranges(read: ReadCost) -> Text:
    """Return how many ranges a read scans, as styled text."""
    if read.is_full_scan:
        return Text("the whole table", "bold red")
    ranges = f"{read.fan_out[0]:.3g}"
    return Text("1 range" if ranges == "1" else f"{ranges} ranges")


def _write_files(
    folder: Path, judged_designs: Sequence[JudgedDesign], compared: Comparison
) -> None:
    """Write the text and the JSON of each judged design, and one report that compares all."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in judged_designs:
        text = StringIO()
        print_simulation(one, Console(file=text, width=PAGE_WIDTH, highlight=False))
        (folder / f"{one.name}.txt").write_text(text.getvalue(), encoding="utf-8")
        document = json.dumps(build_simulation_document(one), indent=2, ensure_ascii=False)
        (folder / f"{one.name}.json").write_text(document + "\n", encoding="utf-8")
    report = build_report_document(judged_designs, Redaction(), compared)
    (folder / "report.html").write_text(build_report_page(report), encoding="utf-8")


def _run_table(console: Console, folder: Path, path: Path) -> None:
    """Load a design's recording into a table, read it, and compare the regions' counts."""
    design = Design.read(path)
    url = f"rocks:{folder / 'data'}"
    if design.table in _list_tables(url):
        drop_table(design.table, url)
    with open_table(design, url) as table:
        loaded = load_file(table, design.sample_path or path)
        counts = [region.writes for region in table.regions()]
        latest = list(table.read("history of a flight", "UA", 15))
        departures = table.count("carrier = ?", "UA")
    predicted = [region.writes for region in simulate.run(design).regions]
    console.print()
    console.print(Text.assemble(("the same design as a table", "bold"), f" on {_shorten_url(url)}"))
    console.print(f"{loaded.row_count:,} rows written; {departures:,} of them are departures of UA")
    words = "as simulated" if counts == predicted else "NOT AS SIMULATED"
    spread = f"{min(counts):,} to {max(counts):,}"
    console.print(f"each of its {len(counts)} regions counted its writes, {words}: {spread}")
    console.print("the latest departures of UA 15, one range read backwards:")
    for row in latest[:3]:
        time = design.fields["time"].type.format_value(row["time"])
        console.print(f"  {time}  {row['origin']} to {row['dest']}  {row['tailnum']}")


def _list_tables(url: str) -> list[str]:
    """Return the names of the tables at a URL."""
    with open_engine(url) as engine:
        return engine.list_tables()


def _shorten_url(url: str) -> str:
    """Return a URL with its path relative to the current folder."""
    scheme, _, folder = url.partition(":")
    return f"{scheme}:{_shorten_path(Path(folder))}"


def _print_advice(console: Console, path: Path, folder: Path) -> None:
    """Print the key or the tables to use in place of a design's, and write their files."""
    advice = search(Design.read(path))
    key = str(advice.declared.design.key)
    console.print(Text.assemble((f"\n{path.parent.name}", "bold"), ", in place of ", (key, "cyan")))
    for line in format_recommendation(advice, TEXT_WIDTH):
        console.print(Text(line))
    for number, judged in enumerate(advice.recommendation, 1):
        file = folder / f"better{'' if number == 1 else f'_{number}'}.toml"
        file.write_text(format_advised_design(advice, judged, file), encoding="utf-8")
        console.print(Text(f"  written to {_shorten_path(file)}"))


def _print_next_steps(console: Console, folder: Path) -> None:
    """Print what to open, and the commands to go on with."""
    command = _shorten_path(Path(sys.executable).with_name("rowkey"))
    lines = (
        "",
        f"Open in a browser, compared side by side: {_shorten_path(folder)}/*/report.html",
        f"Heat maps, reads and figures: {_shorten_path(folder)}/*/*.txt, the same as JSON: *.json",
        "The same for a file of your own events:",
        f"  {command} init events.csv -o events.toml",
        f"  {command} advise events.toml --write better.toml",
        "All of it in a browser:",
        f"  {command} portal",
        "Read next: docs/tutorial.md, then docs/guides/better-keys.md",
    )
    for line in lines:
        console.print(Text(line))


def _shorten_path(path: Path) -> str:
    """Return a path relative to the current folder if it is below it."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


if __name__ == "__main__":
    main()
