"""How fast rowkey's HBase client is on a real cluster of three servers, next to others."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from rivals.hbase.contract import FAMILY, SPLITS, Rival, TaskTime
from rivals.hbase.ours import Ours
from rivals.hbase.programs import start_java_client
from rivals.hbase.thrift import Happybase
from timing import Result

if TYPE_CHECKING:
    from cluster import Cluster, Judge

ROWS = 1_000_000
SINGLE = 5_000
"""The number of gets or puts of single rows in one round."""
ROUNDS = 3
"""The number of rounds after one to warm up: JVMs compile while they run."""
NOTE = (
    "ZooKeeper, a master, three region servers and the client share one machine. Each client ran "
    f"{ROUNDS} rounds after one to warm up. CPU seconds are those of the client process; those of "
    "the Thrift gateway, which works for happybase, are not counted. Java's full scan ran with or "
    "without prefetching, whichever was faster before the rounds; its scan of 16 buckets and all "
    "scans of rowkey prefetch. gohbase was not measured: its module could not be downloaded.\n\n"
    "Why rowkey is slower in some rows:\n\n"
    "* One row per call, 16 threads: all threads share one connection to a server, and the thread "
    "that reads it wakes the others one by one, about five thread switches per get; happybase has "
    "a socket for each thread. Use `get_many` and `batch` for many rows.\n"
    "* One get per call against happybase: rowkey's code takes a third of the time, and the "
    "servers take the rest, so a ratio of 2 is out of reach.\n"
    "* Ordered scan against Java: 16 scans are merged row by row in Python.\n"
    "* Batch put: checking and encoding a row in Python takes more CPU than in Java. Arrow "
    "columns avoid an object per row: they are faster than Java, and limited by these servers."
)
"""The text of the page above its table."""
SOURCE, SINK = "bench_source", "bench_sink"

JAVA, HAPPYBASE = "Java hbase-client 2.6.4", "happybase 1.3, Thrift gateway 2.4.17"


def measure_all() -> Iterator[Result]:
    """Yield all results of the HBase benchmark, on a cluster that is started for it."""
    from cluster import Cluster

    with Cluster.start(flags=()) as cluster:
        yield from measure_on_cluster(cluster)


def measure_on_cluster(
    cluster: Cluster, rows: int = ROWS, single: int = SINGLE
) -> Iterator[Result]:
    """Yield all results of the HBase benchmark on a running cluster.

    Args:
        cluster: the cluster, on which two tables are created.
        rows: rows of the table that is read, and of one load.
        single: gets or puts of one round.
    """
    for table in (SOURCE, SINK):
        cluster.judge.create(table, {FAMILY: {}}, SPLITS)
    with ExitStack() as opened:
        url, port = f"hbase://{cluster.zookeeper}", cluster.state.ports.zookeeper
        with Ours(url, SOURCE, SOURCE, rows) as filler:
            filler.load_columns(rows)
        cluster.judge.flush(SOURCE)
        cluster.judge.compact(SOURCE)
        ours = opened.enter_context(Ours(url, SOURCE, SINK, rows))
        java = opened.enter_context(start_java_client(port, SOURCE, SINK, rows))
        happy = opened.enter_context(Happybase(port, SOURCE, SINK, rows))
        yield from _measure_tasks(cluster.judge, ours, {JAVA: java, HAPPYBASE: happy}, rows, single)


def _measure_tasks(
    judge: Judge, ours: Ours, rivals: Mapping[str, Rival], rows: int, single: int
) -> Iterator[Result]:
    """Yield the results of all tasks: scans, batch puts, gets and puts of single rows."""

    def with_empty_table(load: Callable[[int], TaskTime]) -> Callable[[], TaskTime]:
        """Return a load task that empties the target table first."""

        def work() -> TaskTime:
            judge.truncate(SINK)
            return load(rows)

        return work

    def for_each_client(task: Callable[[Rival], TaskTime]) -> dict[str, Callable[[], TaskTime]]:
        """Return a task bound to each rival client, by the client's name."""
        return {name: partial(task, one) for name, one in rivals.items()}

    scans = Task(
        "full scan, one scanner",
        "M rows/s",
        {"": ours.scan, " into Arrow columns": ours.scan_columns},
        for_each_client(lambda one: one.scan()),
        {("", HAPPYBASE): 4, (" into Arrow columns", JAVA): 1},
    )
    for found in scans.measure():
        if told := rivals[found.rival].scans:
            found.notes += f"; {told}"
        yield found
    yield from Task(
        "ordered scan over 16 buckets",
        "M rows/s",
        {"": ours.salted_scan},
        for_each_client(lambda one: one.salted_scan()),
    ).measure()
    yield from Task(
        "batch put",
        "M rows/s",
        {"": with_empty_table(ours.load), " of Arrow columns": with_empty_table(ours.load_columns)},
        {name: with_empty_table(one.load) for name, one in rivals.items()},
        {("", HAPPYBASE): 3, ("", JAVA): 1},
    ).measure()
    for threads in (1, 16):
        yield from _measure_single_rows(ours, for_each_client, single, threads)


def _measure_single_rows(
    ours: Ours,
    for_each_client: Callable[[Callable[[Rival], TaskTime]], dict[str, Callable[[], TaskTime]]],
    single: int,
    threads: int,
) -> Iterator[Result]:
    """Measure gets and puts of one row per call."""
    told = f", {threads} thread{'s' if threads > 1 else ''}"
    yield from Task(
        f"get{told}",
        "rows/s",
        {"": lambda: ours.get(single, threads)},
        for_each_client(lambda one: one.get(single, threads)),
        {("", HAPPYBASE): 2, ("", JAVA): 0.7},
    ).measure()
    yield from Task(
        f"put{told}",
        "rows/s",
        {"": lambda: ours.put(single, threads)},
        for_each_client(lambda one: one.put(single, threads)),
    ).measure()


@dataclass
class Task:
    """One task that rowkey and all rival clients do in turn.

    Args:
        name: what it is.
        unit: what is counted.
        ours: our ways to do it, by what is added to the name.
        theirs: the others', by their name.
        goals: the minimum ratio that is the goal, by (our way, rival).
    """

    name: str
    unit: str
    ours: Mapping[str, Callable[[], TaskTime]]
    theirs: Mapping[str, Callable[[], TaskTime]]
    goals: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def measure(self) -> Iterator[Result]:
        """Yield the result of each of our ways against each rival."""
        everyone = {**self.ours, **self.theirs}
        for work in everyone.values():
            work()
        times: dict[str, list[TaskTime]] = {name: [] for name in everyone}
        for _ in range(ROUNDS):
            for name, work in everyone.items():
                times[name].append(work())
        for way in self.ours:
            for rival in self.theirs:
                yield self._build_result(way, rival, times)

    def _build_result(self, way: str, rival: str, times: Mapping[str, list[TaskTime]]) -> Result:
        """Return the rates of one of our ways against one rival."""
        ours, theirs = times[way], times[rival]
        found = Result(
            self.name + way,
            self.unit,
            [one.rate for one in ours],
            rival,
            [one.rate for one in theirs],
            notes=f"CPU s per million: {_compute_cpu(ours):.2f}, rival {_compute_cpu(theirs):.2f}",
        )
        goal = self.goals.get((way, rival))
        if goal is not None:
            found.goal, found.met = f"≥ {goal}×", (found.ratio or 0) >= goal
        return found


def _compute_cpu(times: list[TaskTime]) -> float:
    """Return the median processor seconds of a million operations."""
    return statistics.median(one.cpu_s_of_million for one in times)
