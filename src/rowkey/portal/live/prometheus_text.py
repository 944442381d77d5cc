"""The figures of a portal in the text format of Prometheus, version 0.0.4.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/ and, for names,
https://prometheus.io/docs/practices/naming/.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from rowkey.portal.live.watched_table import TableCondition, WatchedTable

if TYPE_CHECKING:
    from rowkey.portal.live.watch import LiveWatch


METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of the text."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
"""How a label writes these characters."""


@dataclass(slots=True)
class MetricFamily:
    """All values of one metric.

    Args:
        kind: a counter only grows; a gauge goes up and down.
        meaning: what it is, as one sentence.
        values: each value with its labels.
    """

    name: str
    kind: Literal["counter", "gauge"]
    meaning: str
    values: list[tuple[dict[str, str], float]] = field(default_factory=list)

    def add(self, value: float, **labels: str) -> None:
        """Add a value with its labels."""
        self.values.append((labels, value))

    def format_lines(self) -> Iterator[str]:
        r"""Yield the lines of the metric.

        >>> metric = MetricFamily("rows_total", "counter", "Rows.")
        >>> metric.add(2, table='a"b')
        >>> list(metric.format_lines())[2]
        'rows_total{table="a\\"b"} 2'
        """
        yield f"# HELP {self.name} {self.meaning}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self.values:
            pairs = ",".join(
                f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items()
            )
            braces = f"{{{pairs}}}" if pairs else ""
            number = str(int(value)) if value == int(value) else repr(float(value))
            yield f"{self.name}{braces} {number}"


def format_metrics(live: LiveWatch) -> str:
    """Return all metrics of a portal as text."""
    lines = [line for family in _build_families(live) for line in family.format_lines()]
    return "\n".join(lines) + "\n"


def _build_families(live: LiveWatch) -> Iterator[MetricFamily]:
    build = MetricFamily("rowkey_build_info", "gauge", "The version of rowkey.")
    build.add(1, version=version("rowkey"))
    yield build
    yield from _build_condition_families(live)
    yield from _build_table_families(live, [one for one in live.list_tables() if one.live])
    for name in ("writes", "reads"):
        meaning = f"{name.title()} counted since the portal was started, by region server."
        family = MetricFamily(f"rowkey_table_{name}_total", "counter", meaning)
        for (table, server), counts in sorted(live.totals.copy().items()):
            family.add(counts[name], table=table, server=server)
        yield family
    failures = MetricFamily(
        "rowkey_portal_read_failures_total",
        "counter",
        "Readings of the tables that failed since the portal was started.",
    )
    failures.add(live.failure_count)
    yield failures
    viewers = MetricFamily(
        "rowkey_portal_live_viewers", "gauge", "Open pages that show the load of a table."
    )
    viewers.add(live.viewer_count)
    yield viewers
    size = MetricFamily(
        "rowkey_portal_live_file_size_bytes", "gauge", "Size of the file with load and alerts."
    )
    size.add(live.history.database.measure_bytes())
    yield size


def _build_condition_families(live: LiveWatch) -> Iterator[MetricFamily]:
    """Yield the gauges of what is down or stale; an engine that is not watched is neither."""
    meanings = {
        TableCondition.DOWN: "does not answer, or some of its regions are open on no server",
        TableCondition.STALE: "was not read for longer than expected",
    }
    tables = [(one, live.find_condition(one)) for one in live.list_tables()]
    for condition, meaning in meanings.items():
        cluster = MetricFamily(f"rowkey_cluster_{condition}", "gauge", f"1 if it {meaning}.")
        cluster.add(live.condition is condition)
        yield cluster
        family = MetricFamily(f"rowkey_table_{condition}", "gauge", f"1 if the table {meaning}.")
        for table, found in tables:
            family.add(found is condition, table=table.name)
        yield family
    closed = MetricFamily(
        "rowkey_table_closed_regions",
        "gauge",
        "Regions that are open on no server that answers, when they were counted last.",
    )
    for table, _ in tables:
        if table.regions is not None:
            closed.add(table.closed_count, table=table.name)
    yield closed


def _build_table_families(live: LiveWatch, tables: list[WatchedTable]) -> Iterator[MetricFamily]:
    """Yield the gauges of all tables that were read; an old load has none but its time."""
    hot = MetricFamily("rowkey_table_hot", "gauge", "1 if the load of the last minute is hot.")
    skew = MetricFamily(
        "rowkey_table_skew_ratio",
        "gauge",
        "Load of the busiest server over its fair share in the last minute.",
    )
    regions = MetricFamily("rowkey_table_regions", "gauge", "Regions of the table.")
    read = MetricFamily(
        "rowkey_table_last_read_timestamp_seconds",
        "gauge",
        "When the counters were last read, in seconds since 1970.",
    )
    for table in tables:
        load = table.live
        assert load is not None, "only tables that were read are listed"
        read.add(load.at_ms / 1_000, table=table.name)
        if live.find_condition(table) in (TableCondition.DOWN, TableCondition.STALE):
            continue
        for name, balance in (("writes", load.writes), ("reads", load.reads)):
            hot.add(balance.is_hot, table=table.name, load=name)
            if balance.skew is not None:
                skew.add(balance.skew, table=table.name, load=name)
        if load.intervals:
            regions.add(len(load.intervals[-1].regions), table=table.name)
    yield from (hot, skew, regions, read)
