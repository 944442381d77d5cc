"""Try faults of stored objects, and write `docs/reliability.md` from all measurements.

`make test-long` runs it last. Each long test writes its figures to `build/reliability`; they
replace older ones in `benchmarks/reliability.json`, from which the page is built.

    python tools/reliability.py                                  # write figures and page
    python tools/reliability.py --matrix                         # try the whole matrix before
    python tools/reliability.py --object wal --fault stale-copy --seed 17      # repeat one fault
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks")]

from timing import describe_machine  # noqa: E402

MEASURED = ROOT / "benchmarks" / "reliability.json"
FIGURES = ROOT / "build" / "reliability"
PAGE = ROOT / "docs" / "reliability.md"
TRIES = 75
"""Tries of a fault of weight 1 in the whole matrix."""
VERDICTS = ("unaffected", "repaired", "refused", "read as stored", "silent wrong", "crashed")

HEAD = """\
# Reliability

This page lists the faults that were injected into stored objects, answers of servers and
processes, and the results, with rowkey {rowkey} and Python {python}. The tests of `make test-long`
measured them: the faults of stored objects last, the other figures up to a week before, and those
of kills and linearizability in longer runs than these tests make now. `make test` runs a small part
of each test.

The promises themselves are in [the guide](guides/using-a-table.md#what-is-promised); their limits
are [at the end of this page](#what-is-not-promised).
"""
MATRIX = """\
## Faults of stored objects

Each fault was tried in each object that can have it, in the form of
[*Redundancy Does Not Imply Fault Tolerance*](https://www.usenix.org/conference/fast17/technical-sessions/presentation/ganesan)
(FAST 2017): bytes at rest were damaged, lost, or replaced by those of an earlier time or of another
table that was made alike; calls of the operating system failed, or the process was killed at them;
and a repair met a second fault. Then the object was used by every call, and each answer compared
with what had been acknowledged. A call is

* *unaffected*: its answer is right;
* *repaired*: after a repair, or a crash, the acknowledged rows are there, and lost ones are told;
* *refused* by an error that names the object, its table or the place of both;
* *read as stored*: its answer is wrong and exactly what the damaged bytes say, in a format without
  a checksum that rowkey did not define; the objects concerned are named below;
* *silent wrong*: another answer, without an error; or `verify` says sound what is refused;
* *crashed*: a traceback, more than 2 GiB of memory, or no answer within 20 s.

**{objects} objects, {kinds} faults, {faults:,} faults tried, {answers:,} answers: {verdicts}.**

A seed decides all of a fault. This repeats one of them, whose seeds are 0 to the number of tries in
the table:

```sh
python tools/reliability.py --object wal --fault stale-copy --seed 17
```

The number of faults in each cell; a dash where a fault does not apply; **bold** where an answer was
silent wrong or a process crashed:
"""
MATRIX_ANSWERS = """\
The answers of all calls to these faults:

| object | fault | {verdicts} |
| --- | --- | {rules} |
"""
NAMED = """\
Silent wrong answers and crashes:
"""
REMARKS = """\
Remarks on objects:
"""
KILLS = """\
## Killed processes

A process was ended by `kill -9` at random moments while it wrote. Then the table was opened and its
rows and region counters were compared with the acknowledged changes: none was lost or invented, or
the test would have failed.

| what the process was doing | kills | changes acknowledged |
| --- | --: | --: |
"""
FORKS = """\
## Forked processes

In a child process, a table that its parent had opened raises an error at once. The child can open
the table itself after the parent has closed it. No process hung and no acknowledged change was
lost.

| arrangement | forks |
| --- | --: |
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
    """Try faults as the arguments say, read the measurements and write the page."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the page without new figures")
    parser.add_argument("--matrix", action="store_true", help="try all faults of all objects")
    parser.add_argument("--object", help="try faults of this object only, and write nothing")
    parser.add_argument("--fault", help="try this fault only, and write nothing")
    parser.add_argument("--seed", type=int, help="try the fault of this seed only")
    parser.add_argument("--tries", type=int, default=TRIES, help="of a fault of weight 1")
    parser.add_argument("--workers", type=int, default=3, help="processes that try faults")
    arguments = parser.parse_args()
    if arguments.object or arguments.fault:
        sys.exit(try_faults(arguments))
    if arguments.matrix:
        try_faults(arguments)
    measurements = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {"figures": {}}
    if not arguments.page:
        for path in sorted(FIGURES.glob("*.json")):
            measurement = json.loads(path.read_text("utf-8"))
            measurements["figures"][measurement["name"]] = measurement["figures"]
        measurements["figures"] = dict(sorted(measurements["figures"].items()))
        measurements["machine"] = describe_machine()
        MEASURED.write_text(json.dumps(measurements, indent=1) + "\n", "utf-8")
    PAGE.write_text(build_page(measurements), "utf-8")


def try_faults(arguments: Namespace) -> int:
    """Try the faults of the matrix that were asked for; return 1 if an answer was silent wrong.

    The figures of the whole matrix are recorded; those of a part of it are printed.
    """
    sys.path[:0] = [str(ROOT / "tests")]
    from ramdisk import RAM_FOLDER
    from reliability.matrix import choose_seeds, list_cells, try_cells
    from reliability.record import record

    def choose(cell: str) -> range:
        if arguments.seed is not None:
            return range(arguments.seed, arguments.seed + 1)
        return choose_seeds(cell, arguments.tries)

    def report(faults: int) -> None:
        print(f"\r{faults:,} faults", end="", file=sys.stderr, flush=True)

    names = [[one] if one else [] for one in (arguments.object, arguments.fault)]
    with TemporaryDirectory(dir=RAM_FOLDER) as folder:
        cells = list_cells(*names)
        outcomes = try_cells(cells, choose, Path(folder), arguments.workers, report)
    print(file=sys.stderr)
    documents = [one.document() for one in outcomes]
    if arguments.matrix:
        record("matrix", describe_matrix(documents))
    for one in documents:
        if not arguments.matrix or one["wrong"]:
            print(one["object_name"], one["fault_name"], one["faults"], one["verdicts"])
        for wrong in one["wrong"]:
            print(
                f"  seed {wrong['seed']}, {wrong['call']}: {wrong['verdict']}: {wrong['problem']}"
            )
    return int(any(one["wrong"] for one in documents))


def describe_matrix(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of the whole matrix: its outcomes, and the names of objects and faults."""
    from reliability.faults import FAULTS
    from reliability.scenarios import OBJECTS

    return {
        "objects": {one.name: [one.title, one.remark] for one in OBJECTS.values()},
        "faults": list(FAULTS),
        "outcomes": outcomes,
    }


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


def _format_matrix(figures_by_name: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the section on faults of stored objects."""
    figures = figures_by_name["matrix"]
    outcomes, titles = figures["outcomes"], figures["objects"]
    totals = Counter[str]()
    cells: dict[tuple[str, str], tuple[int, Counter[str]]] = {}
    for one in outcomes:
        counts = Counter[str]()
        for verdicts in one["verdicts"].values():
            counts.update(verdicts)
        totals += counts
        cells[one["object_name"], one["fault_name"]] = one["faults"], counts
    yield MATRIX.format(
        objects=len(titles),
        kinds=len(figures["faults"]),
        faults=sum(one["faults"] for one in outcomes),
        answers=totals.total(),
        verdicts=", ".join(f"{totals[verdict]:,} {verdict}" for verdict in VERDICTS),
    )
    yield _format_row("object", *(fault.replace("-", " ") for fault in figures["faults"]))
    yield _format_row("---", *("--:" for _ in figures["faults"]))
    for name, (title, _) in titles.items():
        found = [cells.get((name, fault), (0, Counter[str]())) for fault in figures["faults"]]
        yield _format_row(f"{title} (`{name}`)", *(_format_cell(*one) for one in found))
    yield ""
    yield MATRIX_ANSWERS.format(
        verdicts=" | ".join(VERDICTS), rules=" | ".join("--:" for _ in VERDICTS)
    ).rstrip("\n")
    for (name, fault), (faults, counts) in cells.items():
        if faults:
            numbers = (f"{counts[verdict]:,}" for verdict in VERDICTS)
            yield _format_row(f"`{name}`", fault.replace("-", " "), *numbers)
    yield ""
    wrong = [(one, found) for one in outcomes for found in one["wrong"]]
    if wrong:
        yield NAMED
        for one, found in wrong:
            yield (
                f"* `--object {one['object_name']} --fault {one['fault_name']} --seed "
                f"{found['seed']}`, {found['call']}: {found['verdict']}"
            )
        yield ""
    yield REMARKS
    for title, remark in titles.values():
        if remark:
            yield f"* **{title}.** {remark}"
    yield ""


def _format_cell(faults: int, counts: Counter[str]) -> str:
    """Return the number of faults as a table cell, bold if an answer was silent wrong."""
    if not faults:
        return "–"
    return f"**{faults:,}**" if counts["silent wrong"] + counts["crashed"] else f"{faults:,}"


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
        yield _format_row(doing.get(what, what), f"{one['kills']:,}", f"{one['changes']:,}")
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
        yield _format_row(arrangements[one["arrangement"]], f"{one['forks']:,}")
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
    "matrix": _format_matrix,
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
