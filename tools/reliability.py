"""Write `docs/reliability.md` from the measurements of the long tests.

`make test-long` runs it last. Each long test writes its figures to `build/reliability`; they
replace older ones in `benchmarks/reliability.json`, from which the page is built.
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
FAULTS = {"flip": "bit flip", "truncation": "truncation", "zeros": "zeroing", "deletion": "removal"}

HEAD = """\
# Reliability

This page lists the faults that were injected into tables of the embedded engine and into processes
that use them, and the results. An answer is *right*, *refused* by an error that names the problem,
or *wrong*: a value that is not the acknowledged one, a missing row, an internal error. `make
test-long` measured all of this with rowkey {rowkey} and Python {python}; `make test` runs a small
part of each test.

The promises themselves are in [the guide](guides/using-a-table.md#what-is-promised); their limits
are [at the end of this page](#what-is-not-promised).
"""
AT_REST = """\
## Damaged files

Two tables of 1,500 rows were damaged together with their catalog. One had been closed; the process
of the other had been killed with 150 rows in its log. Each file was damaged in each way: one bit
was flipped (at {flip} positions per file), the end was cut off (at {truncation}), up to 4 KiB or
everything to the end was zeroed (at {zeros}), or the file was removed. Each damaged copy was opened
and used in eight ways.

**{faults:,} faults, {answers:,} answers: {right:,} right, {refused:,} refused, {wrong} wrong,
{crashed} crashed.**

Each cell shows the number of right answers, then of refused ones.

| file | fault | {probes} |
| --- | --- | {rules} |
"""
FAILING = """\
## A failing disk

File system calls of the process that uses the table were made to fail: the first, then the second,
and so on until an operation made no more calls. "Once" fails a single call, "from then on" also all
later ones. Then the disk worked again, the table was opened and all rows were compared: every
acknowledged change must be present, and every refused one present as a whole or absent.

**{answers:,} answers: {right:,} right, {refused:,} refused, {wrong} wrong.**

| what fails | how long | {probes} |
| --- | --- | {rules} |
"""
KILLS = """\
## Killed processes

A process was ended by `kill -9` at random moments while it wrote. Then the table was opened and its
rows and region counters were compared with the acknowledged changes.

| what the process was doing | kills | changes acknowledged | lost or invented |
| --- | --: | --: | --: |
"""
FORKS = """\
## Forked processes

In a child process, a table that its parent had opened raises an error at once. The child can open
the table itself after the parent has closed it. No process hung and no acknowledged change was
lost.

| arrangement | forks | failures |
| --- | --: | --: |
"""
CLOCKS = """\
## Clocks set back

The clock was set back while the table was closed or open. Then rows were put, deleted, replaced,
incremented, appended to and changed by conditional puts.

| set back by | when | engine | changes acknowledged | without effect |
| --- | --- | --- | --: | --: |
"""
LINEAR = """\
## Linearizability of the changes of a row

Eight threads, which switch every microsecond, change and read the same few rows with all operations
and record each answer with its start and end time. The algorithm of Wing and Gong searches for an
order of the operations that explains all answers. `make test` plants a defect of an earlier version
(a timestamp taken before the row was locked) and fails unless the search finds it.

| engine | operations | rows | bucket changes | violations | seconds |
| --- | --: | --: | --: | --: | --: |
"""
MOVES = """\
## Moves of tables in use

Rows were moved to tables with other keys, packing or families by `rowkey move` while clients
changed and read them. After each step both tables were compared with an oracle, or the history of
all operations was searched for an order that explains it. *Under fire*, threads changed the rows of
a chunk between its read and its write, clients died between their two writes, the copier was
killed, and both tables were compacted. Figures on HBase are from three region servers.

| test | figures |
| --- | --- |
"""
SYNCED = """\
## What is synced to disk, and when

Each line lists the creations, renamings and syncs of files in their order. A file is renamed after
its content is synced, a MANIFEST is written after the files that it names, and the directory is
synced before a call returns. Without `sync` a put is written to the operating system; with `sync`
the log is synced.
"""
TAIL = """\
## What is not promised

* **Clients of a cluster with different clocks.** A put gets its timestamp from its client, as with
  HBase's own client. The value with the higher timestamp is returned, even if it was written first.
* **Rows with several row keys.** With a random salt, or while two bucket counts are live, a row may
  be stored under several row keys, which a cluster changes one after the other. A `get` reads them
  as of one time, unless there is a random salt; scans, and a `get` of copies under a salt, may see
  some of them changed and others not yet. A value that was replaced or deleted does not reappear.
* **One cluster under two URLs.** The changes of one process are linearizable for tables that it
  opened by the same URL and with the same clock.
* **A power failure without `sync`.** Changes that were not synced may be lost from the end of the
  log, and nothing tells how many.
* **OPTIONS files.** rowkey sets RocksDB's options from its own table descriptor, so damage in an
  OPTIONS file has no effect and is not reported.
* **Bytes that change in memory** before RocksDB has computed their checksum.
"""


def main() -> None:
    """Read the measurements and write the page."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page without new figures")
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
    arrangements = {
        "check_child_end": "a child ends",
        "check_child_opening": "a child opens tables of its own",
        "check_pool": "a pool of processes inherits a table",
        "check_writes_of_both": "parent and child write, the parent is killed",
    }
    for one in figures_by_name.values():
        yield _format_row(arrangements[one["arrangement"]], f"{one['forks']:,}", "0")
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


def _format_moves(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on moves: the figures of each test as they were recorded."""
    yield MOVES.rstrip("\n")
    for name, figures in figures_by_name.items():
        numbers = [
            f"{what} {number:,}" if isinstance(number, int | float) else f"{what} {number}"
            for what, number in figures.items()
            if not isinstance(number, dict)
        ]
        yield _format_row(name.removeprefix("moves, "), ", ".join(numbers))
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
    "moves, ": _format_moves,
    "synced": _format_synced,
}
"""The section builder of figures, by the prefix of their names."""


if __name__ == "__main__":
    main()
