"""The operations of several threads on a row fit one order, on every engine.

Eight threads put, replace, delete, count, append, check and read a few rows at once, also while the
number of buckets changes. A checker then looks for an order of what was done to each row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from ramdisk import RAM_FOLDER
from reliability.record import record
from rowkey.move import BucketRetirement
from rowkey.table import drop_table
from rowkey.table.row_writer import RowWriter, stamp_mutation
from table.linear_history import (
    THREADS,
    Histories,
    RowHistory,
    build_design,
    require_linearizable,
    switch_threads_often,
)

if TYPE_CHECKING:
    from rowkey.cells import RowCells
    from rowkey.table import Table
    from rowkey.table.row_writer import RowChange

FEW, FEW_ON_A_CLUSTER = 900, 800
"""Operations of a short run."""
MANY = {"memory": 200_000, "rocks": 50_000, "hbase": 20_000}
"""Operations of a long run, which takes about ten minutes."""
STALE_S, CLUSTER_STALE_S = 0.2, 1.0
"""Seconds that a client goes on without the catalog; a change of buckets takes a little more."""
CLIENTS = 2
"""Clients of one table that the threads share, where an engine lets a table be opened twice."""
ROUNDS_BETWEEN_CHANGES = 3
MAX_ROUNDS = 400
"""Rounds within which a planted bug must be found; there are about ten in a second."""


class BucketChanges:
    """Changes of the number of buckets to and fro, each before it is retired, in a thread.

    Args:
        table: the table.
        is_on: whether buckets are changed.
    """

    def __init__(self, table: Table, *, is_on: bool) -> None:
        self.table, self.is_on = table, is_on
        self.done = 0
        self._counts = cycle((8, 4))
        self._pool = ThreadPoolExecutor(1)
        self._change: Future[Any] | None = None
        self._rounds = ROUNDS_BETWEEN_CHANGES

    def end_round(self) -> None:
        """Begin the next change once enough rounds have been played after the last one."""
        if self._change is not None and self._change.done():
            self.wait()
        self._rounds += 1
        if self.is_on and self._change is None and self._rounds > ROUNDS_BETWEEN_CHANGES:
            self._change = self._pool.submit(self._make_change, next(self._counts))

    def _make_change(self, count: int) -> None:
        self.table.set_buckets(count)
        BucketRetirement(self.table).run()

    def wait(self) -> None:
        """Wait for the current change, and raise its error."""
        if self._change is not None:
            change, self._change = self._change, None
            change.result()
            self.done += 1
            self._rounds = 0

    def close(self) -> None:
        """Wait for the thread to end."""
        self._pool.shutdown()


def find_violations(
    tables: Sequence[Table], operations: int, *, with_changes: bool
) -> tuple[list[RowHistory], dict[str, Any]]:
    """Play rounds of operations; return the violations and the figures of the run."""
    histories = Histories(list(tables), seed=1)
    changes = BucketChanges(tables[0], is_on=with_changes)
    violations: list[RowHistory] = []
    n_violations, started = 0, time.monotonic()
    with ExitStack() as held:
        held.enter_context(switch_threads_often())
        held.callback(changes.close)
        while histories.operations < operations or (with_changes and changes.done < 2):
            changes.end_round()
            found = histories.find_violations()
            n_violations += len(found)
            violations += found[: max(0, 3 - len(violations))]  # enough to see what is wrong
        changes.wait()
    return violations, {
        "operations": histories.operations,
        "rows": histories.rows,
        "threads": THREADS,
        "bucket changes": changes.done,
        "unknown results": histories.unknown,
        "violations": n_violations,
        "seconds": round(time.monotonic() - started, 1),
    }


@contextmanager
def open_tables(engine: str, hbase_url: str = "") -> Iterator[tuple[str, list[Table]]]:
    """Open a new table once, or several times where the engine allows several clients."""
    name = f"linear.{token_hex(4)}"
    with ExitStack() as held:
        place = held.enter_context(TemporaryDirectory(dir=RAM_FOLDER))
        url = hbase_url or f"{engine}:{place}"
        if hbase_url:
            held.callback(drop_table, name, url)
        stale_s = CLUSTER_STALE_S if hbase_url else STALE_S
        tables = [held.enter_context(rowkey.open(build_design(name), url, max_stale=stale_s))]
        if engine != "rocks":
            tables += [held.enter_context(rowkey.open(name, url)) for _ in range(CLIENTS - 1)]
        yield url, tables


def name_run(engine: str, *, with_changes: bool) -> str:
    """Return the name that the figures of a run are recorded under."""
    return f"linearizability {engine}{' bucket changes' if with_changes else ''}"


@pytest.mark.parametrize(
    "with_changes",
    [
        pytest.param(False, id="buckets stay", marks=pytest.mark.long),
        pytest.param(True, id="buckets change"),
    ],
)
@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_operations_of_eight_threads_on_a_row_are_linearizable(
    engine: str, with_changes: bool
) -> None:
    """All that eight threads see of a row of an embedded engine fits one order."""
    with open_tables(engine) as (_, tables):
        violations, figures = find_violations(tables, FEW, with_changes=with_changes)
    require_linearizable(violations)
    assert figures["operations"] >= FEW
    assert with_changes is (figures["bucket changes"] > 1)


@pytest.mark.parametrize(
    "with_changes",
    [
        pytest.param(False, id="buckets stay"),
        pytest.param(True, id="buckets change", marks=pytest.mark.long),
    ],
)
def test_operations_of_eight_threads_on_a_row_of_hbase_are_linearizable(
    hbase_url: str, with_changes: bool
) -> None:
    """All that eight threads of one process see of a row of HBase fits one order."""
    with open_tables("hbase", hbase_url) as (_, tables):
        violations, figures = find_violations(tables, FEW_ON_A_CLUSTER, with_changes=with_changes)
    require_linearizable(violations)
    assert with_changes is (figures["bucket changes"] > 0)


@pytest.mark.long
@pytest.mark.parametrize("with_changes", [False, True], ids=["buckets stay", "buckets change"])
@pytest.mark.parametrize("engine", ["memory", "rocks"])
def test_very_many_operations_are_linearizable(engine: str, with_changes: bool) -> None:
    """Very many operations on an embedded engine fit one order for each row."""
    with open_tables(engine) as (_, tables):
        violations, figures = find_violations(tables, MANY[engine], with_changes=with_changes)
    record(name_run(engine, with_changes=with_changes), figures)
    require_linearizable(violations)


@pytest.mark.long
def test_very_many_operations_on_hbase_are_linearizable(hbase_url: str) -> None:
    """Very many operations on HBase fit one order for each row, while buckets change."""
    with open_tables("hbase", hbase_url) as (_, tables):
        violations, figures = find_violations(tables, MANY["hbase"], with_changes=True)
    record(name_run("hbase", with_changes=True), figures)
    require_linearizable(violations)


def stamp_before_lock(
    writing: RowWriter, changes: Sequence[RowChange], *, sync: bool | None = None
) -> list[list[RowCells]]:
    """Apply changes as `RowWriter.apply_changes` does, but assign timestamps before the locks."""
    stamps = [writing.assign_timestamp(change) for change in changes]
    with writing.clock.lock_rows([change.row_name for change in changes]):
        written = [
            [stamp_mutation(mutation, at) for mutation in change.mutations]
            for change, at in zip(changes, stamps, strict=True)
        ]
        writing.send_mutations([mutation for one in written for mutation in one], sync=sync)
    return written


def count_after_read(table: Table, row: Any, /, **amounts: int) -> dict[str, int]:
    """Increment counters by a read and a put, with time in between."""
    found = table.get(row) or {}
    values = {name: (found.get(name) or 0) + amount for name, amount in amounts.items()}
    table.put({**row, **values})
    return values


def put_after_check(table: Table, row: Any, /, **expected: Any) -> bool:
    """Compare a column and then put the row, with time in between."""
    found = table.get(row) or {}
    is_equal = all(found.get(name) == value for name, value in expected.items())
    if is_equal:
        table.put(row)
    return is_equal


PLANTED_BUGS: dict[str, tuple[type, str, Callable[..., Any]]] = {
    "stamp before lock": (RowWriter, "apply_changes", stamp_before_lock),
    "count after read": (rowkey.Table, "increment", count_after_read),
    "put after check": (rowkey.Table, "check_and_put", put_after_check),
}


@pytest.mark.parametrize("bug", PLANTED_BUGS)
@pytest.mark.parametrize("engine", [pytest.param("memory", marks=pytest.mark.long), "rocks"])
def test_a_planted_bug_that_interleaves_changes_is_found(
    engine: str, bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted bug that lets changes interleave is found within some rounds."""
    monkeypatch.setattr(*PLANTED_BUGS[bug])
    with open_tables(engine) as (_, tables), switch_threads_often():
        histories = Histories(tables, seed=1)
        while not (found := histories.find_violations()) and histories.rounds < MAX_ROUNDS:
            pass
    assert found, f"not found in {histories.operations:,} operations"
    print(f"{engine}, {bug}: found after {histories.operations:,} operations")
