"""Rows that resemble each other in a lossy key, and catalogs that two engines share."""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rowkey
from rowkey import Design
from rowkey.errors import (
    BatchError,
    CorruptionError,
    DesignRefused,
    InvalidArgument,
    ReadError,
    RowError,
)
from rowkey.move import Move
from rowkey.progress import Progress
from rowkey.table import Table, create_table, drop_table, load_file, verify_tables

LOSSY_FIELDS: dict[str, Any] = {
    "host": "text",
    "name": "text",
    "n": {"type": "i64", "nullable": True},
}


def open_lossy_table() -> Table:
    """Open a table whose key holds three letters of a name."""
    return rowkey.open(Design("t", "[host][truncate(name, 3)]", fields=LOSSY_FIELDS), "memory:")


@pytest.mark.parametrize("key", ["[host]", "[salt(8)][host]"])
def test_a_replaced_row_with_a_timestamp_field_shows_no_older_version(key: str) -> None:
    """Where a field is the timestamp, a replace hides older versions in every copy."""
    fields = {"host": "text", "at": {"type": "timestamp_ms", "at": "timestamp"}}
    columns = {name: {"type": "u32", "nullable": True} for name in ("a", "b")}
    with rowkey.open(Design("t", key, fields=fields | columns), "memory:") as table:
        for n in range(20):
            table.put({"host": "x", "at": 1_000 + n, "a": n, "b": n})
        table.replace({"host": "x", "at": 2_000, "a": 7})
        assert {"host": "x", "at": 2_000, "a": 7, "b": None} == table.get(host="x")


def test_changing_a_field_that_the_key_does_not_hold_keeps_the_row() -> None:
    """A change of a field beyond what the key holds keeps the row."""
    with open_lossy_table() as table:
        table.put({"host": "h", "name": "abcd", "n": 1})
        assert table.move({"host": "h", "name": "abcd"}, name="abcX")
        assert [{"host": "h", "name": "abcX", "n": 1}] == list(table.scan())
        with pytest.raises(RowError, match="nome"):
            table.move({"host": "h", "name": "none"}, nome="x")


def test_get_returns_only_the_stored_one_of_two_names_with_one_key() -> None:
    with open_lossy_table() as table:
        table.put({"host": "h", "name": "abcd", "n": 1})
        assert table.get(host="h", name="abcX") is None
        assert 1 == table.get(host="h", name="abcd")["n"]


def test_an_increment_may_omit_a_nullable_key_field() -> None:
    fields = {**LOSSY_FIELDS, "b": {"type": "u8", "nullable": True}}
    with rowkey.open(Design("t", "[truncate(name, 3)][b]", fields=fields), "memory:") as table:
        assert {"n": 1} == table.increment({"name": "abc", "host": "h"}, n=1)


def test_a_conditional_put_uses_a_given_timestamp() -> None:
    """A conditional put uses a given timestamp, and is refused where HBase would assign one."""
    fields = {
        "host": "text",
        "at": {"type": "timestamp_ms", "at": "timestamp"},
        "w": {"type": "text", "nullable": True},
        "v": {"type": "i64", "nullable": True},
    }
    row = {"host": "a", "at": 1_000}
    design = Design("t", "[bucket(host, 4)][host]", fields=fields)
    with rowkey.open(design, "memory:", max_stale=0.2) as table:
        assert table.check_and_put({**row, "w": "old"}, w=None)
        assert not table.check_and_put({**row, "v": 1}, w="new")
        assert table.check_and_put({**row, "v": 1}, w="old")
        stored = {**row, "w": "old", "v": 1}
        assert stored == table.get(host="a")
        table.set_buckets(8, max_stale=0.2)
        for later in (row, {"host": "a", "at": 2_000}):
            assert table.check_and_put({**later, "w": "old", "v": 2}, w="old")
            assert {**later, "w": "old", "v": 2} == table.get(host="a")
        with pytest.raises(
            RowError, match="no value for this field, which is the timestamp of its cells"
        ):
            table.check_and_put({"host": "a", "v": 3}, w="old")
        before = table.get(host="a")
        for change in (lambda: table.increment(row, v=1), lambda: table.append(row, w="x")):
            with pytest.raises(DesignRefused, match="which would overwrite the field"):
                change()
        assert before == table.get(host="a")


def test_a_refused_replace_deletes_nothing(tmp_path: Path) -> None:
    """A replace whose put is refused deletes nothing."""
    fields = {"id": "u32", "v": {"type": "text", "nullable": True}}
    design = Design("t", "[salt(8)][id]", fields=fields)
    with rowkey.open(design, f"rocks:{tmp_path}") as table:
        for number in range(6):
            table.put({"id": number, "v": "old"})
        too_long = "x" * (11 << 20)
        rows = [{"id": n, "v": too_long if n else "new"} for n in range(6)]
        with pytest.raises(BatchError) as found, table.batch() as batch:
            deque(map(batch.replace, rows), maxlen=0)
        assert 5 == found.value.error_count
        assert [(0, "new"), *((n, "old") for n in range(1, 6))] == [
            (row["id"], row["v"]) for row in table.scan()
        ]


def test_a_table_name_in_a_shared_catalog_is_taken_for_other_engines(tmp_path: Path) -> None:
    """A second engine cannot use a name that a shared catalog has for the first one."""
    catalog = f"file:{tmp_path / 'catalog'}"
    design = Design("t", "[code(host)]", fields={"host": "text", "v": "u8"}, catalog=catalog)
    with rowkey.open(design, f"rocks:{tmp_path / 'a'}") as table:
        table.put({"host": "h1", "v": 1})
    with pytest.raises(CorruptionError, match=r"is missing, .* If it is on another engine"):
        rowkey.open(design, f"rocks:{tmp_path / 'b'}")
    with rowkey.open("t", f"rocks:{tmp_path / 'a'}", catalog=catalog) as table:
        assert [{"host": "h1", "v": 1}] == list(table.scan())
    drop_table("t", f"rocks:{tmp_path / 'a'}", catalog=catalog)
    with rowkey.open(design, f"rocks:{tmp_path / 'b'}") as table:
        assert 0 == table.count()


def test_creating_an_existing_table_is_refused(tmp_path: Path) -> None:
    design = Design("t", "[host]", fields={"host": "text", "v": "u8"})
    create_table(design, f"rocks:{tmp_path}").close()
    with pytest.raises(InvalidArgument, match="the table t exists already"):
        create_table(design, f"rocks:{tmp_path}")


def test_a_load_checkpoint_is_not_used_for_another_file(tmp_path: Path) -> None:
    """The checkpoint of a load is not used for another file of the same name."""
    design = Design("t", "[id]", fields={"id": "u32", "v": "text"})
    for folder, first, count in (("a", 0, 30_000), ("b", 1_000_000, 10)):
        (tmp_path / folder).mkdir()
        lines = "".join(f"{first + n:07},{'v' * 90}\n" for n in range(count))
        (tmp_path / folder / "e.csv").write_text("id,v\n" + lines)

    def stop(now: Progress) -> None:
        if now.done:
            raise KeyboardInterrupt

    with rowkey.open(design, "memory:") as table:
        with pytest.raises(KeyboardInterrupt):
            load_file(table, tmp_path / "a" / "e.csv", progress=stop)
        assert 0 == load_file(table, tmp_path / "b" / "e.csv").rows_before
        assert 0 < load_file(table, tmp_path / "a" / "e.csv").rows_before < 30_000
        assert 30_010 == table.count()


@pytest.mark.parametrize(
    "options", [{"limit": "x"}, {"limit": 1.5}, {"limit": True}, {"resume": 5}]
)
def test_scan_arguments_of_a_wrong_type_are_refused(options: dict[str, Any]) -> None:
    """A scan refuses arguments of a wrong type when it is created."""
    with open_lossy_table() as table, pytest.raises(ReadError, match=r"^argument (limit|resume): "):
        table.scan(**options)


def test_open_arguments_of_a_wrong_type_are_refused() -> None:
    design = Design("t", "[host]", fields=LOSSY_FIELDS)
    wrong: list[tuple[Any, Any, Any]] = [(design, 5, None), (5, "memory:", None)]
    for one, url, splits in [*wrong, (design, "memory:", ["a"]), (design, "memory:", 5)]:
        with pytest.raises(InvalidArgument, match=r"^argument (design|url|splits): "):
            rowkey.open(one, url, splits=splits)


@pytest.mark.parametrize("use", [rowkey.open, drop_table, Move, lambda path, _: verify_one(path)])
@pytest.mark.parametrize("path", ["/x.toml", "./designs/x", "x/y", r"C:\x.toml"])
def test_a_path_given_as_table_name_is_explained(
    use: Callable[[str, str], object], path: str
) -> None:
    """A path in place of a table's name is named as one, with what to write for a design file."""
    what = f"argument design: {path!r} is a path, not the name of a table"
    with pytest.raises(InvalidArgument) as problem:
        use(path, "memory:paths")
    assert str(problem.value).startswith(what)
    assert str(problem.value).endswith(f"For a design file write rowkey.Design.read({path!r}).")


def verify_one(name: str) -> object:
    """Verify one table of a directory that does not exist."""
    return next(verify_tables("rocks:missing", [name]))


def test_a_missing_table_named_like_a_design_file_is_explained() -> None:
    """The error of a missing table whose name ends as a design file says how to read one."""
    with pytest.raises(InvalidArgument, match=r"write rowkey\.Design\.read\('x\.toml'\)"):
        rowkey.open("x.toml", "memory:paths")
