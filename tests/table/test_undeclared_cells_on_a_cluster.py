"""Undeclared cells on a real HBase: the same as on disk, also in families that came later."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.cells import LATEST, Cell, Family, RowCells
from rowkey.table import drop_table

if TYPE_CHECKING:
    from rowkey.engines.backends.hbase import HBaseEngine
    from rowkey.table import Table

NOTE = {"type": "u8", "qualifier": "\\x80\\x0B"}
KEYS: dict[str, tuple[str, dict[str, Any]]] = {
    "buckets": ("[bucket(host, 4)][host][n]", {"n": "u8"}),
    "salt": ("[salt(3)][host][n]", {"n": "u8"}),
    "shared": ("[bucket(host, 2)][host]", {"n": {"type": "u8", "at": "qualifier"}}),
}
OURS, BOTH, THEIRS = ({"host": "a", "n": n} for n in (1, 2, 3))


def put_foreign(table: Table, row: dict[str, Any]) -> None:
    """Put two cells of another program in a row, one in a family that the design does not have."""
    prefix = table.design.layout.qualifier_prefix
    start = b"" if prefix is None else prefix.encode(row)
    cells = [Cell("d", start + b"x", LATEST, b"\1"), Cell("z", start + b"\xff", LATEST, b"\2")]
    key = table.design.key.encode(row, salt=0)
    table.store.mutate([RowCells(key, cells)])


@pytest.mark.parametrize("name", KEYS)
def test_undeclared_cells_on_a_cluster_are_reported(
    name: str, hbase_url: str, hbase_engine: HBaseEngine
) -> None:
    """Scans, counts and gets tell the cells of another program, and a binary qualifier is read."""
    key, fields = KEYS[name]
    design = rowkey.Design(
        f"shared.{token_hex(4)}", key, fields={"host": "text", **fields, "note": NOTE}
    )
    with rowkey.open(design, hbase_url) as table:
        try:
            hbase_engine.client.admin.alter_families(design.table, [Family("z")])
            for row in (OURS, BOTH):
                table.put({**row, "note": 7})
            foreign = {"d:x": b"\1", "z:\\xFF": b"\2"}
            for row in (BOTH, THEIRS):
                put_foreign(table, row)
            expected = [
                {**OURS, "note": 7, "undeclared": {}},
                {**BOTH, "note": 7, "undeclared": foreign},
                {**THEIRS, "note": None, "undeclared": foreign},
            ]
            assert expected == list(table.scan(undeclared=True))
            assert expected == table.get_many([OURS, BOTH, THEIRS], undeclared=True)
            assert 2 == table.count()
            scan = table.scan(count_undeclared=True)
            assert 2 == scan.count()
            found = scan.undeclared_cells
            assert {"d:x": 2, "z:\\xFF": 2} == found.column_counts
            assert (2, 1) == (found.row_count, found.undeclared_row_count)
            limited = table.scan(limit=9)
            limited.count_undeclared()
            assert 2 == len(list(limited))
            assert found == limited.undeclared_cells
            getter = table.get_state().getter
            counts = [getter.count_undeclared_cells(row).cell_count for row in (OURS, BOTH, THEIRS)]
            assert [0, 2, 2] == counts
            assert 2 == len(table.scan().to_arrow())
            stored = table.store.get(table.writer.encode_row_keys(OURS))
            notes = {
                cell.qualifier[-2:] for row in stored for cell in row.cells if cell.value == b"\7"
            }
            assert {b"\x80\x0b"} == notes
        finally:
            drop_table(design.table, hbase_url)
