"""Requests of engines, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rowkey.cells import (
    ATTRIBUTES,
    LATEST,
    Family,
    FamilyView,
    RowCells,
    check_families,
    check_row,
    compute_max_split_bytes,
    find_family_mistakes,
    find_table_name_mistakes,
    parse_purge_delay_ms,
)
from rowkey.engines.region_tracker import SplitLimits
from rowkey.errors import InvalidArgument, InvalidDesign, NotSupported
from rowkey.messages import format_value
from rowkey.regions import Boundaries, to_string_binary


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table as an engine knows it.

    Args:
        name: `qualifier` or `namespace:qualifier`.
        families: its column families.
        splits: the start keys of all regions but the first, ascending.
        attributes: table attributes, such as MAX_FILESIZE or a copy of the catalog entry.
    """

    name: str
    families: tuple[Family, ...]
    splits: tuple[bytes, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScanRange:
    """Rows from `start`, inclusive, to `stop`, exclusive; an empty `stop` is the end of the table.

    A reverse scan returns the same rows, the last one first.
    """

    start: bytes = b""
    stop: bytes = b""


@dataclass(frozen=True, slots=True)
class CellSelection:
    """The cells of a row that a read selects.

    Args:
        columns: qualifiers by family, none listed for the whole family; None for all families.
        time_range: timestamps from the first, inclusive, to the second, exclusive, in ms.
        versions: maximum number of versions of a column, 1 or more.
        qualifier_range: only qualifiers from the first, inclusive, to the second, exclusive; an
            empty second one means no end.
        raw: whether to return deletes and the cells they hide, as far as they are still stored.
        reverse: whether rows come in descending order; the cells of a row keep their order.
        limit: maximum number of rows of each range, or None.
        batch: maximum number of cells of one part of a row, or None for whole rows. In reads of
            one family, forward and without a limit, an embedded engine then keeps only some
            thousand cells of a row in memory.
        expected_rows: rows of each range, or parts of rows with `batch`, after which the reader
            probably stops, so that a cluster is not asked for many more; None if it wants all.
    """

    columns: Mapping[str, tuple[bytes, ...]] | None = None
    time_range: tuple[int, int] = (0, LATEST)
    versions: int = 1
    qualifier_range: tuple[bytes, bytes] = (b"", b"")
    raw: bool = False
    reverse: bool = False
    limit: int | None = None
    batch: int | None = None
    expected_rows: int | None = None


NEWEST_CELLS = CellSelection()
"""Selects the newest version of every column."""
MAX_VERSIONS = 2**31 - 1
"""The most versions of a column that a read may ask for. Source: Java's int."""
RAW_CELLS = CellSelection(raw=True, versions=MAX_VERSIONS)
"""Selects all that is stored of a row: every version, and delete markers."""


def split_rows(rows: Iterable[RowCells], batch: int) -> Iterator[RowCells]:
    """Yield rows in parts of `batch` cells, the last part of a row smaller."""
    for row, cells in rows:
        for start in range(0, len(cells), batch):
            yield RowCells(row, cells[start : start + batch])


@dataclass(frozen=True, slots=True)
class CellCondition:
    """A condition on a column that must hold before its row is changed.

    Args:
        operator: one of = != < <= > >=, read as *cell OP value*.
        value: compared bytewise with the newest cell. None with `=` requires that there is no cell
            or an empty one, with `!=` that there is one that is not empty. If the column is
            absent, every other condition is false, `!=` included.

    Source: CheckAndMutate; HRegion.matches.
    """

    family: str
    qualifier: bytes
    operator: str = "="
    value: bytes | None = None


def check_selection(selection: CellSelection, families: Mapping[str, Family]) -> None:
    """Raise InvalidArgument unless a selection of cells is valid for a table's families.

    Raises:
        InvalidArgument: a family is unknown, a number is out of range, or a raw read names columns,
            which HBase refuses as well.

    Source: Scan and TimeRange; StoreScanner: "Cannot specify any column for a raw scan".
    """
    check_families(selection.columns or (), families)
    if selection.columns is not None and not selection.columns:
        remedy = "Name a family, or write columns=None for all families."
        raise InvalidArgument("columns", "the selection names no family", remedy=remedy)
    _check_number("versions", selection.versions)
    for name in ("limit", "batch", "expected_rows"):
        if (number := getattr(selection, name)) is not None:
            _check_number(name, number)
    start, stop = selection.time_range
    if not 0 <= start <= stop <= LATEST:
        what = f"timestamps from {start} to {stop} are not a valid range"
        raise InvalidArgument(
            "time_range", what, f"a stop not before the start, from 0 to {LATEST}"
        )
    first, last = selection.qualifier_range
    if last and last < first:
        what = f"the start {first[:40]!r} is above the stop {last[:40]!r}"
        raise InvalidArgument("qualifier_range", what, "the lower qualifier first")
    named = any((selection.columns or {}).values())
    if selection.raw and (named or selection.qualifier_range != (b"", b"")):
        raise InvalidArgument(
            "raw",
            "a raw read cannot select columns",
            "whole families",
            "Select whole families, and filter the returned cells.",
        )


def _check_number(name: str, number: object) -> None:
    """Raise InvalidArgument unless a value is a whole number that HBase accepts."""
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_VERSIONS:
        what = f"{format_value(number)} is out of range"
        raise InvalidArgument(name, what, f"a whole number from 1 to {MAX_VERSIONS}")


def check_rows(rows: Sequence[bytes]) -> None:
    """Raise InvalidArgument unless all values are valid row keys."""
    for row in rows:
        check_row(row)


def check_columns(
    row: bytes, columns: Sequence[tuple[str, bytes]], families: Mapping[str, Family]
) -> None:
    """Raise InvalidArgument unless one call can increment or append to these columns.

    Raises:
        InvalidArgument: the row key is invalid, a family is unknown, no column is named, or one is
            named twice: HBase would apply both changes to the value before the call.

    Source: HRegion.reckonDeltasByStore.
    """
    check_row(row)
    check_families([family for family, _ in columns], families)
    if not columns:
        raise InvalidArgument("columns", "the call names no column", "1 column or more")
    for _, qualifier in columns:
        if not isinstance(qualifier, bytes):
            what = f"{format_value(qualifier)} is of type {type(qualifier).__name__}"
            raise InvalidArgument("qualifier", what, "bytes")
    if len(set(columns)) < len(columns):
        family, qualifier = next(column for column in columns if columns.count(column) > 1)
        what = f"the column {family}:{to_string_binary(qualifier)} is named twice"
        remedy = "Combine the changes of a column into one."
        raise InvalidArgument("columns", what, "each column once", remedy)


def build_views(
    selection: CellSelection, families: Mapping[str, Family], now_ms: int
) -> dict[str, FamilyView]:
    """Return the view of each selected family, by name, which picks its visible cells.

    Args:
        selection: a valid selection of cells.
        families: all families of the table, by name.
        now_ms: the current time, which decides which cells are expired.
    """
    names = families if selection.columns is None else selection.columns
    return {
        name: FamilyView(
            families[name],
            now_ms,
            versions=selection.versions,
            time_range=selection.time_range,
            qualifiers=(selection.columns or {}).get(name) or None,
            qualifier_range=selection.qualifier_range,
            raw=selection.raw,
        )
        for name in sorted(names)
    }


def check_spec(spec: TableSpec, unsupported_features: Mapping[str, str]) -> None:
    """Raise unless an embedded engine can create a table from a spec.

    Args:
        unsupported_features: the reasons why the engine does not support attributes of families.

    Raises:
        InvalidArgument: with the first mistake in its name, families, splits or attributes.
    """
    for mistake in find_table_name_mistakes(spec.name):
        raise mistake
    if not spec.families:
        raise InvalidArgument("families", "the table has no column family", "1 family or more")
    check_family_attributes(spec.families, unsupported_features)
    check_splits(spec.name, spec.splits)
    check_table_attributes(spec.attributes)


def check_table_attributes(attributes: Mapping[str, str]) -> None:
    """Raise unless the attributes that decide on splits and compactions are valid.

    Raises:
        InvalidArgument: with the first mistake.
    """
    SplitLimits.from_attributes(attributes)
    parse_purge_delay_ms(attributes)


RESERVED_NAMESPACES = ("default:", "hbase:")
"""HBase lists `default:t` as `t`, so that the table would have two names; `hbase:` is internal."""


def check_cluster_spec(spec: TableSpec, unsupported_features: Mapping[str, str]) -> None:
    """Raise unless HBase can create a table from a spec.

    Args:
        unsupported_features: as for `check_spec`.

    Raises:
        InvalidArgument: with the first mistake, such as a reserved namespace.
    """
    check_spec(spec, unsupported_features)
    if spec.name.startswith(RESERVED_NAMESPACES):
        namespace, _, name = spec.name.partition(":")
        what = f"{spec.name!r} begins with HBase's own namespace {namespace}"
        allowed = "a name without a namespace, or with one of your own"
        raise InvalidArgument("table", what, allowed, f"Write {name!r}.")


def check_family_attributes(
    families: Iterable[Family], unsupported_features: Mapping[str, str]
) -> None:
    """Raise an error if HBase or the engine does not accept an attribute of a family.

    Raises:
        InvalidArgument: with the first mistake, or a family is given twice.
        NotSupported: an attribute asks for something that the engine cannot do.
    """
    names = set()
    for family in families:
        if family.name in names:
            what = f"the family {format_value(family.name)} is declared twice"
            raise InvalidArgument("families", what, "each family once")
        names.add(family.name)
        values = {key: getattr(family, row.field_name) for key, row in ATTRIBUTES.items()}
        non_defaults = {
            key: value for key, value in values.items() if value != ATTRIBUTES[key].default
        }
        for mistake in find_family_mistakes(family.name, non_defaults):
            raise mistake
        for key, reason in unsupported_features.items():
            if non_defaults.get(key):
                what = f"this engine does not support the attribute: {reason}"
                remedy = "Remove the attribute, or store the table on HBase."
                raise NotSupported(f"families.{family.name}.{key}", what, remedy=remedy)


def check_splits(table: str, splits: Iterable[bytes]) -> None:
    """Raise InvalidArgument unless all values are valid split keys, in order.

    Raises:
        InvalidArgument: one is out of order, repeated, empty, or too long for the table's name.
    """
    try:
        boundaries = Boundaries(splits)
    except InvalidDesign as problem:
        first = problem.mistakes[0]
        raise InvalidArgument(first.path, first.problem, first.expected, first.remedy) from problem
    if boundaries.longest_split_bytes > compute_max_split_bytes(table):
        what = f"the longest split key has {boundaries.longest_split_bytes:,} bytes"
        allowed = f"at most {compute_max_split_bytes(table):,} bytes for a table of this name"
        raise InvalidArgument("splits", what, allowed)
