"""Write `docs/reliability.md` from the measurements of the long tests.

`make test-long` runs it last. Each long test leaves its figures in `build/reliability`; they take
the place of older ones in `benchmarks/reliability.json`, from which the page is made.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks")]

from timing import describe_machine  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MEASURED = ROOT / "benchmarks" / "reliability.json"
FIGURES = ROOT / "build" / "reliability"
PAGE = ROOT / "docs" / "reliability.md"
PROBES = ("open", "get", "scan", "count", "dump", "increment", "check_and_put", "repair")
FAULTS = {"flip": "bit flipped", "truncation": "cut short", "zeros": "zeroed", "deletion": "gone"}

HEAD = """\
# Reliability

What was done to tables of the embedded engine, and to programs that use tables, and what came of
it. An answer is *right*, or it is *refused* by an error that names what is wrong. It is *wrong* if
it is neither: a value that is not the one acknowledged, a row too few, an internal error. `make
test-long` measured all of this with rowkey {rowkey} and Python {python}; `make test` does a small
part of each.

[What is promised](guides/using-a-table.md#what-is-promised) says the same in words, and
[what is not promised](#what-is-not-promised) stands at the end.
"""
AT_REST = """\
## Damaged files

Two tables of 1,500 rows and their catalog: one was closed, of the other the process was killed with
150 rows in its log. Each file of them was damaged in each way: a bit was flipped ({flip} places for
each file), the end was cut off ({truncation}), a stretch of up to 4 KiB or to the end was zeroed
({zeros}), the file was removed. Each damaged copy was opened and asked eight things, without
knowing which file it was.

**{faults:,} faults, {answers:,} answers: {right:,} right, {refused:,} refused, {wrong} wrong,
{crashed} crashed.**

Each cell has the right answers, then the refused ones.

| file | fault | {probes} |
| --- | --- | {rules} |
"""
FAILING = """\
## A disk that fails

Calls of the C library were let fail one by one in the process that uses the table: the first, the
second, and so on until a probe met none. "Once" fails one call, "from then on" all after it too.
Afterwards the disk worked again, the table was opened, and all rows were compared: what was
acknowledged has to be there, and what was refused there whole or not at all.

**{answers:,} answers: {right:,} right, {refused:,} refused, {wrong} wrong.**

| what fails | how long | {probes} |
| --- | --- | {rules} |
"""
KILLS = """\
## Killed processes

`kill -9` at random moments of a process that writes; then the table was opened and compared with
what was acknowledged, the counts of regions among it.

| what it was doing | kills | changes acknowledged | lost or invented |
| --- | --: | --: | --: |
"""
FORKS = """\
## Forked processes

A child refuses what its parent had opened, at once and by name, and can open the table itself once
the parent has closed it. Nothing hung and nothing acknowledged was lost.

| arrangement | forks | failures |
| --- | --: | --: |
"""
CLOCKS = """\
## Clocks set back

The clock was set back between two openings, or while the table was open; then rows were put,
deleted, replaced, counted up, appended to and changed on a condition.

| set back by | when | engine | changes acknowledged | without effect |
| --- | --- | --- | --: | --: |
"""
LINEAR = """\
## One order of all changes of a row

Eight threads, which switch every microsecond, put, delete, replace, batch, increment, append, check
and read the same few rows, and note what they were told and when. A search after Wing and Gong
looks for an order in which all of it is right. `make test` plants the defect that there once was, a
timestamp that is taken before the row's turn, and fails unless it is found.

| engine | operations | rows | bucket changes | violations | seconds |
| --- | --: | --: | --: | --: | --: |
"""
SYNCED = """\
## What is brought to disk, and when

Every creation, renaming and forced write of a file, in its order, as the C library was asked for
it. A name comes after the content, a MANIFEST after the files that it names, and the directory
before a call returns. Without `sync` a put is handed to the system, with it the log is forced.
"""
TAIL = """\
## What is not promised

* **Two clients of a cluster whose clocks differ.** A put gets its timestamp from its client, as
  with HBase's own. The one with the higher timestamp is seen, whichever came last.
* **Several places of a row.** Behind a random salt, or while two numbers of buckets are live, a row
  may stand in several places, which a cluster changes one after the other. A `get` reads them as
  they were at one time, unless there is a random salt; scans, and a `get` of copies under a salt,
  may see some of them changed and others not yet. No value that was replaced or deleted is seen
  again afterwards.
* **Two spellings of one cluster.** One order of all changes by a process holds for tables that it
  opened by the same URL and with the same clock.
* **A power cut without `sync`.** What was not forced to disk may be gone, from the end of the log;
  after the machine has started again nothing tells how much there was.
* **OPTIONS files.** rowkey makes RocksDB's options from its own description of the table, so a
  damaged OPTIONS file changes nothing and is not told.
* **Bytes that change in memory** before RocksDB has computed their checksum.
"""


def main() -> None:
    """Read the measurements and write the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page alone")
    arguments = parser.parse_args()
    measurements = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {"figures": {}}
    if not arguments.page:
        for path in sorted(FIGURES.glob("*.json")):
            measurement = json.loads(path.read_text("utf-8"))
            measurements["figures"][measurement["name"]] = measurement["figures"]
        measurements["figures"] = dict(sorted(measurements["figures"].items()))
        measurements["machine"] = describe_machine()
        MEASURED.write_text(json.dumps(measurements, indent=1) + "\n", "utf-8")
    PAGE.write_text(build_page(measurements), "utf-8")


def build_page(measurements: Mapping[str, Any]) -> str:
    """Return the page `docs/reliability.md` from all measurements."""
    figures, about = measurements["figures"], measurements["machine"]
    head = HEAD.format(rowkey=about["packages"].get("rowkey", ""), python=about["python"])
    parts = [head]
    for begin, section in SECTIONS.items():
        chosen = {name: one for name, one in figures.items() if name.startswith(begin)}
        if chosen:
            parts += section(chosen)
    return "\n".join([*parts, TAIL])


def _format_damaged_files(
    figures_by_name: Mapping[str, Sequence[Mapping[str, Any]]],
) -> Iterator[str]:
    """Yield the section on damaged files: right and refused answers by file and fault."""
    outcomes = [one for outcomes in figures_by_name.values() for one in outcomes]
    cells: dict[tuple[str, str], dict[str, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    faults, totals = 0, Counter[str]()
    for one in outcomes:
        faults += one["faults"]
        for probe, verdicts in one["verdicts"].items():
            of_fault = cells.setdefault((one["file"], one["fault"]), defaultdict(Counter))
            of_fault[probe].update(verdicts)
            totals.update(verdicts)
    yield _format_table_head(
        AT_REST, totals, PROBES, faults=faults, **_count_descriptor_faults(outcomes)
    )
    for (file, fault), verdicts in sorted(cells.items(), key=lambda one: _sort_position(*one[0])):
        yield _format_row(
            f"`{file.removeprefix('t/')}`",
            FAULTS[fault],
            *map(_format_cell, _iter_in_probe_order(verdicts)),
        )
    yield ""


def _count_descriptor_faults(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of faults of each type for the table's descriptor."""
    return {one["fault"]: one["faults"] for one in outcomes if one["file"] == "t/descriptor.json"}


def _sort_position(file: str, fault: str) -> tuple[str, int]:
    """Return the sort key of a table row: file, then fault in its order."""
    return file, list(FAULTS).index(fault)


def _format_disk_faults(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on failing disk calls: right and refused answers by call."""
    outcomes = sorted(figures_by_name.values(), key=lambda one: (one["what"], one["sticky"]))
    totals = Counter[str]()
    for one in outcomes:
        for verdicts in one["verdicts"].values():
            totals.update(verdicts)
    probes = list(outcomes[0]["verdicts"])
    yield _format_table_head(FAILING, totals, probes)
    for one in outcomes:
        lasts = "from then on" if one["sticky"] == "sticky" else "once"
        cells = [_format_cell(Counter(one["verdicts"].get(probe, {}))) for probe in probes]
        yield _format_row(one["what"], lasts, *cells)
    yield ""


def _format_table_head(
    text: str, totals: Counter[str], probes: Iterable[str], **figures: int
) -> str:
    """Return the introduction of a section, with totals and table header."""
    names = [probe.replace("_", " ") for probe in probes]
    verdicts = {one: totals[one] for one in ("right", "refused", "wrong", "crashed")}
    return text.format(
        answers=totals.total(),
        probes=" | ".join(names),
        rules=" | ".join("--:" for _ in names),
        **verdicts,
        **figures,
    ).rstrip("\n")


def _iter_in_probe_order(verdicts: Mapping[str, Counter[str]]) -> Iterator[Counter[str]]:
    """Yield the verdict counts of each probe in the order of the columns."""
    return (Counter(verdicts.get(probe, {})) for probe in PROBES)


def _format_cell(verdicts: Counter[str]) -> str:
    """Return the right and refused answers as a table cell; wrong ones in bold."""
    measurement = f"{verdicts['right']:,} / {verdicts['refused']:,}"
    bad = verdicts["wrong"] + verdicts["crashed"]
    return f"{measurement} / **{bad} wrong**" if bad else measurement


def _format_kills(figures_by_name: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the section on killed processes."""
    yield KILLS.rstrip("\n")
    doing = {
        "of a stopped writer": "stopped before, at any point",
        "writes": "writing",
        "writes with sync": "writing with `sync`",
        "care": "flushing, compacting and splitting",
        "care with sync": "flushing, compacting and splitting with `sync`",
    }
    for name, one in figures_by_name.items():
        what = name.removeprefix("kills amid ").removeprefix("kills ")
        yield _format_row(doing.get(what, what), f"{one['kills']:,}", f"{one['changes']:,}", "0")
    yield ""


def _format_forks(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on forked processes."""
    yield FORKS.rstrip("\n")
    for one in figures_by_name.values():
        yield _format_row(one["arrangement"].replace("_", " "), f"{one['forks']:,}", "0")
    yield ""


def _format_clocks(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on clocks that are set back."""
    yield CLOCKS.rstrip("\n")
    for one in figures_by_name["clocks"]["jumps"]:
        counts = f"{one['writes']:,}", f"{one['without_effect']:,}"
        yield _format_row(one["jump"], one["when"], one["engine"], *counts)
    yield ""


def _format_linearizability(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on the linearizability of changes of a row."""
    yield LINEAR.rstrip("\n")
    for name, one in figures_by_name.items():
        engine = name.removeprefix("linearizability ").split(" ")[0]
        counts = ("operations", "rows", "bucket changes", "violations")
        yield _format_row(
            engine, *(f"{one[count]:,}" for count in counts), f"{one['seconds']:,.0f}"
        )
    yield ""


def _format_synced(figures_by_name: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """Yield the section on what is forced to disk, and when."""
    yield SYNCED
    for step, lines in figures_by_name["synced"].items():
        yield f"* **{step}**: {'; '.join(lines) if lines else 'nothing'}"
    yield ""


def _format_row(*cells: str) -> str:
    """Return cells as a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


SECTIONS: dict[str, Callable[[Mapping[str, Any]], Iterator[str]]] = {
    "files ": _format_damaged_files,
    "disk ": _format_disk_faults,
    "kills ": _format_kills,
    "forks ": _format_forks,
    "clocks": _format_clocks,
    "linearizability ": _format_linearizability,
    "synced": _format_synced,
}
"""The section builder of figures, by the prefix of their names."""


if __name__ == "__main__":
    main()
