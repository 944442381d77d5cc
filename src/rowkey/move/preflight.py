"""The preflight of a move: what will happen, how long it takes, and what speaks against it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rowkey.catalog import CatalogEntry
from rowkey.cells import MAX_JAVA_INT, Cell, CellType, RowCells, compute_cell_bytes
from rowkey.design import Design
from rowkey.engines import CellSelection, ScanRange
from rowkey.errors import Mistake, NotSupported, RowError
from rowkey.findings import Finding, Severity
from rowkey.messages import Message, pluralize
from rowkey.move.collisions import find_collisions
from rowkey.move.design_comparison import compare_designs
from rowkey.move.switch import SWITCH_STALE_S
from rowkey.move.table_digest import SideCounts
from rowkey.progress import ReportProgress
from rowkey.table import CarriedColumns, SlotMapping, Table, compute_wait_s

if TYPE_CHECKING:
    from rowkey.move.collisions import Collision, CollisionResult

SAMPLE_ROWS = 10_000
"""Rows that a preflight reads to learn sizes and speed, and to encode by the new design."""
SAMPLE_BYTES = 64 << 20
"""Bytes of cells after which it reads no further, where rows are large."""
PIECE_ROWS = 64
"""Rows that it has in memory together."""
MAX_SAMPLED_REGIONS = 50
"""Regions that these rows are from, evenly spread over the table."""
COPY_COST = 5.6
"""How often the time of a scan a copy takes. Measured: 1.94 M rows/s scanned, 348,000 copied."""
VERIFY_COST = 3.0
"""How often the time of a scan a verification of one table takes. Measured: 0.65 s, and 2 s."""
MAX_LISTED_REFUSALS = 5
"""Rows that the new design refuses which are named."""


@dataclass(frozen=True, slots=True)
class MoveStep:
    """One step of a move.

    Args:
        name: `announce`, `copy`, `verify`, `cutover` or `finish`.
        description: what happens.
        seconds: about how long it takes.
    """

    name: str
    description: str
    seconds: float


@dataclass(slots=True)
class MovePlan:
    """What a move will do, what it costs, and what speaks against it.

    Args:
        source: the name of the table.
        target: the name of the new table.
        rows: about how many rows are copied; on an embedded engine as many as were ever written,
            which is more where rows were written several times.
        is_exact: whether all rows were counted.
        source_bytes: bytes of the source's files, 0 if unknown.
        target_bytes: about how many bytes the cells of the target have, before compression.
        free_bytes: bytes that are free on the disk of the target; None if unknown.
        scan_rows_per_s: measured speed of reading the source; 0 without rows.
        steps: what is done, in order.
        findings: what was found, the worst first.
        collisions: whether rows would have the same place; None if that was not examined.
    """

    source: str
    target: str
    rows: int = 0
    is_exact: bool = False
    source_bytes: int = 0
    target_bytes: int = 0
    free_bytes: int | None = None
    scan_rows_per_s: float = 0.0
    steps: list[MoveStep] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    collisions: CollisionResult | None = None

    @property
    def is_possible(self) -> bool:
        """Whether nothing blocks the move."""
        return not self.select_findings("error")

    @property
    def seconds(self) -> float:
        """About how long all steps take."""
        return sum(step.seconds for step in self.steps)

    def select_findings(self, severity: Severity) -> list[Finding]:
        """Return the findings of one severity; an error blocks the move."""
        return [one for one in self.findings if one.severity == severity]


@dataclass(slots=True)
class _SampleFigures:
    """What was learned from some rows of the source."""

    rows: int = 0
    is_everything: bool = False
    source_bytes: int = 0
    target_bytes: int = 0
    seconds: float = 0.0
    refused_count: int = 0
    refusals: list[str] = field(default_factory=list)
    cells_with_ttl: int = 0
    counts: SideCounts = field(default_factory=SideCounts)


def plan_move(
    table: Table,
    target: Design,
    *,
    splits: Sequence[bytes] | None = None,
    sample_rows: int = SAMPLE_ROWS,
    checks_collisions: bool = True,
    progress: ReportProgress | None = None,
) -> MovePlan:
    """Return what moving a table to another design will do; nothing is changed.

    Args:
        table: the open table.
        target: the new design, with a name of its own.
        splits: the row keys that regions of the target begin with; None if its design says.
        sample_rows: rows of the table that are read and encoded by the new design.
        checks_collisions: whether all rows are read if designs do not prove that they get distinct
            places; without it, that is a finding.
        progress: called with how many rows are read for that.

    Cost: some thousand rows; a scan of the table where rows might collide.
    """
    plan = MovePlan(table.design.table, target.table)
    plan.findings = compare_designs(table.design, target, has_splits=splits is not None)
    plan.findings += _check_catalog(table, target)
    has_equal_fields = not any(
        one.severity == "error" and one.path.startswith(("fields", "key")) for one in plan.findings
    )
    figures = _read_sample(table, target if has_equal_fields else None, sample_rows)
    _estimate_size(plan, table, figures)
    plan.findings += _describe_sample(plan, table, figures)
    if has_equal_fields:
        plan.findings += _check_collisions(
            plan, table, target, progress, checks_collisions=checks_collisions
        )
    plan.findings += _describe_guarantees(table)
    plan.findings.sort(key=lambda one: -one.rank)
    plan.steps = _build_steps(plan, table)
    return plan


def _check_buckets(table: Table) -> Iterator[Finding]:
    """Yield what the bucket counts of a table say against a move."""
    entry = table.lease.get_entry()
    if (announced := entry.announced_generation) is not None:
        what = Message(
            "move.bucket_change",
            "generation {number} of its bucket counts is announced and not active",
            number=announced.number,
        )
        allowed = Message("move.no_bucket_change", "no change under way")
        remedy = Message(
            "move.await_buckets", "Wait until the change of the number of buckets is complete."
        )
        yield Finding.from_mistake(Mistake("buckets", what, allowed, remedy))
    if entry.copied_generations:
        what = Message(
            "move.bucket_retirement",
            "rows are being removed from the places that earlier numbers of buckets gave them",
        )
        allowed = Message("move.no_bucket_change", "no change under way")
        remedy = Message("move.finish_retirement", "Finish that first: rowkey buckets retire.")
        yield Finding.from_mistake(Mistake("buckets", what, allowed, remedy))
    if table.get_state().has_several_counts:
        what = Message(
            "move.several_counts",
            "rows are stored under several numbers of buckets, and are merged while they move",
        )
        yield Finding.from_mistake(Mistake("buckets", what), "info")


def _check_catalog(table: Table, target: Design) -> Iterator[Finding]:
    """Yield what the catalog and the engine say against a move: it must be a table by itself."""
    entry, name = table.lease.get_entry(), table.design.table
    if main := entry.companion_of:
        what = Message("move.companion", "{table} is a companion of {main}", table=name, main=main)
        allowed = Message("move.own_table", "a table of its own")
        remedy = Message(
            "move.move_main", "Move {main}, or change the design of the companion.", main=main
        )
        yield Finding.from_mistake(Mistake("table", what, allowed, remedy))
    yield from _check_buckets(table)
    if entry.move is not None or entry.moved_from:
        what = (
            Message("move.is_moving", "the table is moving already")
            if entry.move
            else Message("move.is_target", "the table is the target of another move")
        )
        allowed = Message("move.no_move", "no other move")
        remedy = Message(
            "move.end_move",
            "End that move first: rowkey move status {table} says how far it is.",
            table=name,
        )
        yield Finding.from_mistake(Mistake("table", what, allowed, remedy))
    if target.declaration.catalog != table.design.declaration.catalog:
        own = Message("move.own_catalog", "that of the engine")
        what = Message(
            "move.other_catalog",
            "the catalog of the target is {catalog}",
            catalog=target.declaration.catalog or own,
        )
        remedy = Message(
            "move.same_catalog",
            "Declare the catalog of the source: one catalog entry must say which of both tables "
            "is read.",
        )
        allowed_catalog = table.design.declaration.catalog or own
        yield Finding.from_mistake(Mistake("catalog", what, allowed_catalog, remedy))
    if target.table != name:
        yield from _check_target_name(table, target)


def _check_target_name(table: Table, target: Design) -> Iterator[Finding]:
    """Yield that the target's name is taken, unless an interrupted start has created it."""
    entry = table.catalog.read(target.table)
    if is_begun_target(entry, table.design.table, target):
        return
    if entry is not None or table.engine.has_table(target.table):
        what = (
            Message("move.name_in_catalog", "the catalog has a table {table} already",
                    table=target.table)
            if entry is not None
            else Message("move.name_in_engine", "the engine has a table {table} already",
                         table=target.table)
        )  # fmt: skip
        allowed = Message("move.free_name", "a name that is free")
        remedy = Message(
            "move.free_the_name",
            "Drop {table}, or give the target another name.",
            table=target.table,
        )
        yield Finding.from_mistake(Mistake("table", what, allowed, remedy))


def is_begun_target(entry: CatalogEntry | None, source: str, target: Design) -> bool:
    """Return whether an interrupted start of the same move has created a target already.

    Args:
        entry: the catalog entry of the target's name.
        source: the name of the table that is moved.
        target: the new design, with that name.
    """
    return (
        entry is not None
        and entry.moved_from == source
        and entry.declaration == target.dumps(defaults=False)
    )


def _read_sample(table: Table, target: Design | None, row_count: int) -> _SampleFigures:
    """Read some rows of each of many regions, and encode them by the new design, if one is given.

    No row of a `code` field gets an id: the new design has no dictionary of a table.
    """
    figures = _SampleFigures()
    regions = table.store.list_regions()
    step = -(-len(regions) // MAX_SAMPLED_REGIONS)
    chosen = regions[::step]
    limit = max(row_count // len(chosen), 1)
    selection = CellSelection(limit=limit, expected_rows=limit)
    if target is not None:
        mapping = SlotMapping.from_layouts(table.design.layout, target.layout)
        if mapping.rebuilt or mapping.derived:  # each version is decoded and encoded again
            selection = replace(selection, versions=MAX_JAVA_INT)
    ranges = [ScanRange(region.start, region.stop) for region in chosen]
    is_complete = len(chosen) == len(regions)
    with ExitStack() as stack:
        for cursor in table.store.scan(ranges[:1], CellSelection(limit=1, expected_rows=1)):
            with cursor:  # what only a first scan does is no part of the speed
                list(cursor)
        cursors = [stack.enter_context(one) for one in table.store.scan(ranges, selection)]
        for cursor in cursors:
            last_bytes = figures.source_bytes + SAMPLE_BYTES // len(chosen)
            read_count, remaining = 0, iter(cursor)
            while figures.source_bytes < last_bytes:
                started_s = time.perf_counter()
                rows = list(islice(remaining, PIECE_ROWS))
                figures.seconds += time.perf_counter() - started_s
                read_count += len(rows)
                for row in rows:
                    _measure_row(figures, table, target, row)
                if not rows:
                    break
            else:
                is_complete = False
            is_complete &= read_count < limit
    figures.is_everything = is_complete and not table.get_state().has_row_copies
    return figures


def _measure_row(
    figures: _SampleFigures, table: Table, target: Design | None, row: RowCells
) -> None:
    """Add what one row of the sample tells; it may have older versions of its cells."""
    layout = table.get_state().combined_design.layout
    columns: dict[tuple[str, bytes], Cell] = {}
    older = [one for one in row.cells if columns.setdefault(one[:2], one) is not one]
    row = RowCells(row.row, list(columns.values()))
    figures.cells_with_ttl += sum(one.ttl_ms is not None for one in row.cells)
    figures.source_bytes += _measure_cells(row.row, row.cells)
    try:
        events = layout.decode_events(row.row, row.cells)
        undeclared = layout.event_reader.split_cells(row.row, row.cells)
        for one in older:
            layout.decode_events(row.row, [one])
    except RowError as refusal:
        if figures.counts.add_refused_row(layout, row, 0, ""):
            _note_refusal(figures, refusal)
        return
    figures.rows += len(events)
    if target is not None:
        carried = CarriedColumns.from_designs(table.get_state().combined_design, target)
        figures.counts.add_undeclared_cells(carried, row.row, *undeclared)
        for event in events:
            _encode_event(figures, target, event)


def _encode_event(figures: _SampleFigures, target: Design, event: dict[str, Any]) -> None:
    """Encode one row by the new design, and note its size or why it is refused."""
    identity, salt = target.layout.identity_fields, 0 if target.key.is_salted else None
    # A row may lack a field that is not nullable: one that no client has given yet.
    given = {name: one for name, one in event.items() if one is not None or name in identity}
    try:
        mutation = target.layout.encode_event(given, salt=salt)
    except RowError as refusal:
        _note_refusal(figures, refusal)
        return
    puts = [cell for cell in mutation.cells if cell.cell_type is CellType.PUT]
    figures.target_bytes += _measure_cells(mutation.row, puts)


def _note_refusal(figures: _SampleFigures, refusal: RowError) -> None:
    """Count a row that cannot move, and note why."""
    figures.refused_count += 1
    if len(figures.refusals) < MAX_LISTED_REFUSALS:
        figures.refusals.append(str(refusal))


def _measure_cells(row_key: bytes, cells: Sequence[Cell]) -> int:
    """Return the bytes of cells as HBase stores them, before compression."""
    return sum(
        compute_cell_bytes(len(row_key), len(one.family), len(one.qualifier), len(one.value))
        for one in cells
    )


def _estimate_size(plan: MovePlan, table: Table, figures: _SampleFigures) -> None:
    """Add rows, bytes and speed to a plan."""
    try:
        plan.source_bytes = table.store.measure_size_bytes()
    except NotSupported:
        plan.source_bytes = 0
    plan.is_exact = figures.is_everything
    if plan.is_exact or not figures.rows:
        plan.rows = figures.rows
    else:
        by_size = plan.source_bytes * figures.rows // max(figures.source_bytes, 1)
        by_counters = sum(region.writes for region in table.store.list_regions())
        # Counters of a cluster begin when a region is opened; others have all writes ever made.
        is_complete = by_counters and not table.engine.is_shared
        plan.rows = max(by_counters if is_complete else max(by_size, by_counters), figures.rows)
    if figures.rows:
        plan.target_bytes = plan.rows * figures.target_bytes // figures.rows
        plan.scan_rows_per_s = figures.rows / max(figures.seconds, 1e-6)
    scheme, _, folder = table.engine.catalog_url.partition(":")
    if scheme == "file" and Path(folder).parent.is_dir():
        plan.free_bytes = shutil.disk_usage(Path(folder).parent).free


def _describe_sample(plan: MovePlan, table: Table, figures: _SampleFigures) -> Iterator[Finding]:
    """Yield what the rows that were read say against the move."""
    if figures.refused_count:
        what = Message(
            "move.refused_sample",
            "{count:,} of the rows that were read cannot be moved: {reasons}",
            count=figures.refused_count,
            reasons="; ".join(figures.refusals),
        )
        allowed = Message("move.rows_of_both", "rows that both designs allow")
        remedy = Message(
            "move.correct_sample", "Widen the fields of the target, or correct these rows first."
        )
        yield Finding.from_mistake(Mistake("rows", what, allowed, remedy))
    if table.engine.is_shared:
        what = Message(
            "move.lost_ttl",
            "cells with a time to live of their own lose it: HBase does not return it to clients",
        )
        remedy = Message("move.set_ttl", "Set a TTL of the family if needed.")
        yield Finding.from_mistake(Mistake("cells", what, remedy=remedy), "warning")
    elif figures.cells_with_ttl:
        what = Message(
            "move.kept_ttl",
            "{count:,} of the cells that were read have a time to live of their own, which is kept",
            count=figures.cells_with_ttl,
        )
        yield Finding.from_mistake(Mistake("cells", what), "info")
    yield from _describe_undeclared_cells(figures.counts)
    if plan.free_bytes is not None and plan.target_bytes > plan.free_bytes:
        what = Message(
            "move.disk",
            "the target needs about {count:,} bytes before compression",
            count=plan.target_bytes,
        )
        allowed = Message(
            "move.free_bytes",
            "at most {count:,} bytes, which are free",
            count=plan.free_bytes,
        )
        remedy = Message("move.free_space", "Free some space first.")
        yield Finding.from_mistake(Mistake("disk", what, allowed, remedy), "warning")


def _describe_undeclared_cells(counts: SideCounts) -> Iterator[Finding]:
    """Yield how many undeclared cells are moved along, and how many stay behind for each reason."""
    if (carried := counts.carried).cell_count:
        what = Message(
            "move.carried_cells",
            "{count:,} of the cells that were read are in no column of the design, such as "
            "{column}, and are moved along unchanged",
            count=carried.cell_count,
            column=next(iter(carried.column_counts)),
        )
        yield Finding.from_mistake(Mistake("cells", what), "info")
    for reason, staying in counts.staying.items():
        what = Message(
            "move.staying_cells",
            "{count:,} of the cells that were read are in no column of the design, such as "
            "{column}, and stay behind: {reason}",
            count=staying.cell_count,
            column=next(iter(staying.column_counts)),
            reason=reason.value,
        )
        remedy = Message(
            "move.declare_cells",
            "Declare fields or families for these cells in both designs, or copy the cells "
            "yourself; otherwise finishing the move asks for your consent to drop them.",
        )
        yield Finding.from_mistake(Mistake("cells", what, remedy=remedy), "warning")


def _check_collisions(
    plan: MovePlan,
    table: Table,
    target: Design,
    progress: ReportProgress | None,
    *,
    checks_collisions: bool,
) -> Iterator[Finding]:
    """Yield findings on rows that would be stored in one place of the target."""
    lossy = target.layout.lossy_key_fields
    if not checks_collisions and lossy:
        what = Message(
            "move.unchecked_collisions",
            "the key of the target has only a part of {fields}, so rows may collide",
            fields=", ".join(lossy),
        )
        remedy = Message(
            "move.check_collisions",
            "Look for collisions before the move; the search reads the whole table.",
        )
        yield Finding.from_mistake(Mistake("key", what, remedy=remedy), "warning")
        return
    plan.collisions = found = find_collisions(table.get_state(), target, progress=progress)
    if found.place_count:
        # Clients may have deleted these rows since they were counted.
        example = next(map(_describe_collision, found.collisions), "")
        what = Message(
            "move.collisions",
            "{rows:,} rows would be stored in the place of other rows, and {lost:,} of them "
            "would be overwritten{example}",
            rows=found.row_count,
            lost=found.row_count - found.place_count,
            example=example,
        )
        allowed = Message("move.own_place", "a place for each row")
        remedy = Message(
            "move.add_field", "Add the whole field to the key, such as [{field}].", field=lossy[0]
        )
        yield Finding.from_mistake(Mistake("key", what, allowed, remedy))
    if found.refused_count:
        what = Message(
            "move.refused_rows",
            "{count:,} of all rows have no place in the target: {reason}",
            count=found.refused_count,
            reason=found.refusals[0],
        )
        allowed = Message("move.encodable_rows", "rows that the key can encode")
        remedy = Message("move.correct_rows", "Correct or delete these rows first.")
        yield Finding.from_mistake(Mistake("rows", what, allowed, remedy))


def _describe_collision(collision: Collision) -> Message:
    """Return two of the rows that would have one place."""
    first, second = collision.identities[:2]
    return Message(
        "move.colliding_rows",
        "; under row key {key}: {first} and {second}",
        key=collision.row_key.hex(),
        first=first,
        second=second,
    )


def _describe_guarantees(table: Table) -> Iterator[Finding]:
    """Yield what each kind of client can rely on."""
    what = Message(
        "move.clients",
        "those that use this version of rowkey lose no change and see no missing row; those that "
        "open the table with an older version stop with an error within the lease time",
    )
    yield Finding.from_mistake(Mistake("clients", what), "info")
    if table.engine.is_shared:
        what = Message(
            "move.other_clients",
            "those that write to HBase without rowkey do not follow the move: what they write "
            "before the cutover is copied by its timestamp, what they write after it stays in "
            "the source alone",
        )
        remedy = Message(
            "move.stop_clients",
            "Stop these clients at the cutover (--stop-writers), and start them again with the "
            "keys of the target.",
        )
        yield Finding.from_mistake(Mistake("clients", what, remedy=remedy), "warning")


def _build_steps(plan: MovePlan, table: Table) -> list[MoveStep]:
    """Return the steps of a move, with about how long each takes."""
    entry = table.lease.get_entry()
    wait_s = compute_wait_s(entry, table.engine)
    short_s = min(entry.max_stale_s, SWITCH_STALE_S)
    switch_s = compute_wait_s(
        replace(entry, max_stale_s=short_s, longest_stale_s=short_s), table.engine
    )
    scan_s = plan.rows / plan.scan_rows_per_s if plan.scan_rows_per_s else 0.0
    copied = f"about {plan.rows:,} rows" if not plan.is_exact else pluralize(plan.rows, "row")
    return [
        MoveStep(
            "announce",
            f"create {plan.target}, and wait until every client writes both tables",
            wait_s,
        ),
        MoveStep("copy", f"copy {copied} with their timestamps", COPY_COST * scan_s),
        MoveStep("verify", "compare both tables row by row", 2 * VERIFY_COST * scan_s),
        MoveStep(
            "cutover",
            f"let clients read {plan.target}; they wait for about {switch_s:.0f} s at its end",
            wait_s + switch_s,
        ),
        MoveStep(
            "finish",
            f"compare again, and drop {plan.source}; only {plan.target} is left",
            wait_s + 2 * VERIFY_COST * scan_s,
        ),
    ]
