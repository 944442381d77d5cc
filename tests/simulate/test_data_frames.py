"""Data frames and other tables in memory as samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from data_frames import ORDERS, SOURCES, build_orders, write_parquet
from rowkey import Design, SampleError
from rowkey.advise import Draft, JudgedDesign, compare_designs, draft_design
from rowkey.simulate import choose_design_splits, run
from rowkey.workload import SkippedRows, open_sample, record_sample

DESIGN = Design(**ORDERS)
SAMPLED = Design(**ORDERS | {"splits": {"algorithm": "sample", "regions": 8}})
OTHER = Design(**ORDERS | {"key": "[shop][at][id]", "splits": {"algorithm": "sample"}})


@pytest.fixture(scope="module")
def orders() -> pa.Table:
    """Return the rows of the orders."""
    return build_orders()


@pytest.fixture(scope="module")
def figures_of_file(orders: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the figures of the orders as a Parquet file."""
    path = write_parquet(orders, tmp_path_factory.mktemp("orders"))
    return collect_figures(lambda: path)


def collect_figures(build: Callable[[], Any]) -> list[Any]:
    """Return what the simulation, the rules and the boundaries are for some rows."""
    figures: list[Any] = []
    for design in (DESIGN, SAMPLED):
        found = run(design, build())
        figures += [found.facts, found.verdict, found.source.total_count]
        figures.append(choose_design_splits(design, build()).boundaries)
    judged = JudgedDesign(DESIGN, build())
    assert judged.sample is not None
    return [*figures, judged.sample.facts, str(judged.verdict)]


QUICK_SOURCES = ("pandas", "duckdb", "pyarrow reader", "string views", "array interface")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one in QUICK_SOURCES else pytest.mark.long) for one in SOURCES],
)
def test_a_table_in_memory_is_judged_as_its_file(
    name: str, orders: pa.Table, figures_of_file: list[Any]
) -> None:
    """The simulation, the rules and the boundaries are those of the same rows as a Parquet file."""
    assert orders.num_rows == figures_of_file[2]
    assert figures_of_file == collect_figures(lambda: SOURCES[name](orders))


def test_a_comparison_by_a_data_frame_equals_one_by_its_file(tmp_path: Path) -> None:
    """A comparison by a frame that is read once has the measures of one by the file."""
    table = build_orders()
    expected = compare_designs([DESIGN, OTHER], write_parquet(table, tmp_path))
    actual = compare_designs([DESIGN, OTHER], table.to_reader())
    assert expected.measures == actual.measures
    assert "pyarrow.RecordBatchReader" == str(actual.path)


@pytest.fixture(scope="module")
def draft_of_file(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    """Return the draft from the rows of `build_untaxed_orders` in a Parquet file."""
    return draft_design(write_parquet(build_untaxed_orders(), tmp_path_factory.mktemp("untaxed")))


def build_untaxed_orders() -> pa.Table:
    """Return orders without a decimal, of which pandas does not keep the precision."""
    return build_orders(400).drop_columns(["tax"])


@pytest.mark.parametrize(
    "name", ["pandas", "polars", "duckdb", pytest.param("pyarrow reader", marks=pytest.mark.long)]
)
def test_a_draft_from_a_table_in_memory_names_no_sample_file(
    name: str, draft_of_file: Draft
) -> None:
    """The draft has the key and the fields of a draft from the file, and no sample."""
    expected, actual = draft_of_file, draft_design(SOURCES[name](build_untaxed_orders()))
    assert str(expected.design.key) == str(actual.design.key)
    assert expected.design.declaration.fields == actual.design.declaration.fields
    assert ("events", None) == (actual.design.table, actual.design.sample_path)
    assert actual.design == Design.loads(actual.text)


class CountedTable:
    """A table that counts how often its rows are asked for.

    Args:
        table: its rows.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.call_count = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream."""
        self.call_count += 1
        return self.table.__arrow_c_stream__(requested_schema)


def test_judging_a_design_reads_an_in_memory_table_once() -> None:
    """Rules, reads, replay and a comparison ask a table for its rows once each."""
    counted = CountedTable(build_orders(300))
    judged = JudgedDesign(SAMPLED, counted)
    assert judged.verdict is judged.verdict
    assert judged.plans == {}
    assert 1 == counted.call_count
    compare_designs([DESIGN, SAMPLED, OTHER], counted)
    assert 2 == counted.call_count
    draft_design(counted)
    assert 3 == counted.call_count


def test_an_exhausted_reader_is_refused_with_the_way_to_keep_its_rows() -> None:
    """A reader that was used up is refused with the way to keep its rows."""
    reader = build_orders(300).to_reader()
    run(DESIGN, reader)
    with pytest.raises(SampleError, match=r"RecordBatchReader: it has no rows.*record_sample"):
        run(DESIGN, reader)
    recording = record_sample(build_orders(300).to_reader())
    for design in (DESIGN, OTHER):
        assert 300 == run(design, recording).source.total_count


def test_rows_spilled_to_a_temporary_file_give_the_same_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = run(DESIGN, build_orders())
    monkeypatch.setattr("rowkey.workload.batch_store.BatchStore.__init__.__defaults__", (1000,))
    recording = record_sample(build_orders().to_reader(max_chunksize=100))
    for _ in range(2):
        assert expected.verdict == run(DESIGN, recording).verdict


def test_two_interleaved_passes_over_a_reader_each_see_all_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of two passes that take turns over a reader, kept in memory or a file, has all rows."""
    table = build_orders(300)
    for limit in (1 << 27, 1000):
        monkeypatch.setattr(
            "rowkey.workload.batch_store.BatchStore.__init__.__defaults__", (limit,)
        )
        recording = record_sample(table.to_reader(max_chunksize=50))
        one, two = (recording.read_batches(["id"], SkippedRows()) for _ in range(2))
        pairs = list(zip(one, two, strict=True))
        rows = [
            [n for b in batches for n in b.column(0).to_pylist()]
            for batches in zip(*pairs, strict=True)
        ]
        assert [table["id"].to_pylist()] * 2 == rows


def test_date_and_time_columns_of_a_data_frame_are_joined() -> None:
    """A date and a time of day in two columns of a frame become one column of times."""
    frame = pl.DataFrame({"day": ["03.11.2025"] * 30, "hour": ["12:00:01"] * 30, "id": range(30)})
    design = Design("t", "[at][id]", fields={"at": "timestamp_s", "id": "u32"})
    options = {"join": {"at": ["day", "hour"]}}
    sample = open_sample(frame, design.fields, design.fields["at"], options)
    instants = pa.chunked_array(one.rows["at"] for one in sample.read_events()).unique()
    assert [datetime(2025, 11, 3, 12, 0, 1, tzinfo=UTC)] == instants.to_pylist()


def test_a_pass_over_a_reader_sees_all_rows_after_another_read_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pass that has read one batch has all rows, though another read on into the file."""
    monkeypatch.setattr("rowkey.workload.batch_store.BatchStore.__init__.__defaults__", (1000,))
    table = build_orders(300)
    recording = record_sample(table.to_reader(max_chunksize=50))
    slow = recording.read_batches(["id"], SkippedRows())
    first = next(slow).column(0).to_pylist()
    assert 300 == sum(len(one) for one in recording.read_batches(["id"], SkippedRows()))
    later = [n for one in slow for n in one.column(0).to_pylist()]
    assert table["id"].to_pylist() == [*first, *later]


def test_a_second_pass_over_a_failed_reader_fails_as_the_first() -> None:
    """A second pass over a reader that broke off fails as the first one did."""

    def fail_after_one() -> Iterator[pa.RecordBatch]:
        yield build_orders(50).to_batches()[0]
        raise OSError("the connection is lost")

    schema = build_orders(50).schema
    recording = record_sample(pa.RecordBatchReader.from_batches(schema, fail_after_one()))
    for _ in range(2):
        with pytest.raises(SampleError, match="the connection is lost"):
            list(recording.read_batches(["id"], SkippedRows()))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "number": (lambda: 5, r"^sample: 5 is neither a path nor a table; expected a file, a pandas"),
    "list": (lambda: [{"id": 1}], r"^sample: .* is neither a path nor a table"),
    "lazy": (lambda: pl.LazyFrame({"id": [1]}), r"^sample: .*collect\(\)"),
    "column": (lambda: build_orders(3)["id"], r"^pyarrow.ChunkedArray: it cannot be read"),
    "mixed": (
        lambda: pd.DataFrame({"id": [1, "x"]}),
        r"^pandas.DataFrame: it cannot .*Could not convert 'x' with type str.*column id",
    ),
    "twice": (
        lambda: pd.DataFrame([[1, 2]], columns=["id", "id"]),
        r"^pandas.DataFrame: .*Duplicate column names found: \['id', 'id'\]",
    ),
    "missing": (
        lambda: build_orders(3).drop_columns(["shop"]),
        r"^pyarrow.Table: it has no column 'shop'; expected one of at, id",
    ),
    "nested": (
        lambda: build_orders(3).set_column(0, "shop", pa.array([[1]] * 3)),
        r"^pyarrow.Table: the column 'shop' has the type list",
    ),
    "values": (
        lambda: build_orders(3).set_column(2, "id", pa.array([1, -2, -3])),
        r"^pyarrow.Table: 2 of 3 rows cannot be read as events: row 2: id is -2; expected u32",
    ),
    "query": (
        lambda: duckdb.sql("select error('no such disk') as id from range(3)"),
        r"^duckdb.DuckDBPyRelation: it cannot be read as an Arrow table: .*no such disk",
    ),
    "empty": (lambda: build_orders(0), r"^pyarrow.Table: it has no rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_object_that_is_no_sample_is_refused(name: str) -> None:
    """The error names the object, the column and the row, and what is taken instead."""
    build, message = REFUSED[name]
    with pytest.raises(SampleError, match=message):
        run(DESIGN, build())


def test_rows_of_a_data_frame_with_invalid_values_are_counted() -> None:
    """Rows with a value that their field cannot hold are counted, each with its row and column."""
    table = build_orders()
    ids = [-1 if n == 234 else n for n in range(table.num_rows)]
    simulation = run(DESIGN, pl.from_arrow(table.set_column(2, "id", pa.array(ids))))
    skipped = simulation.source.skipped_rows
    assert (1, "row 235: id is -1; expected u32, 0..4294967295") == (
        skipped.count,
        skipped.first_problem,
    )


def test_a_field_only_in_cells_whose_values_are_invalid_is_not_read() -> None:
    """The events are judged without the field, and an assumption says so and why."""
    design = Design("t", "[id]", fields={"id": "u32", "size": "u64"})
    simulation = run(design, pa.table({"id": range(200), "size": ["x"] * 200}))
    (told,) = [one for one in simulation.source.assumptions if "is read without" in one]
    assert told.startswith(
        "the sample is read without the fields that are only stored in cells, because with them it "
        "cannot be read: 200 of 200 rows cannot be read as events: row 1: size is 'x'"
    )
    assert 200 == simulation.replay.writes.sum()


def test_the_unnamed_index_of_a_pandas_frame_is_no_field() -> None:
    """A filtered frame has an index column, which the draft names as left out."""
    frame = build_orders(400).to_pandas()
    draft = draft_design(frame[frame["id"] % 4 > 1])
    assert "__index_level_0__" not in draft.design.fields
    assert "'__index_level_0__' is left out: it is an unnamed pandas index" in draft.text
    assert "shop" in draft_design(frame.set_index("shop")).design.fields
