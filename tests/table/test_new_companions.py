"""A table in use gets a further companion: it is filled while clients write, then it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import rowkey
from rowkey import CatalogMismatch, DesignRefused
from rowkey.boottime import read_boottime_s
from rowkey.catalog import extend_companions
from rowkey.engines import open_engine
from rowkey.errors import Unavailable
from rowkey.table import repair_companions
from rowkey.table.companions import companion_repair
from rowkey.table.row_writer import RowWriter
from table.companion_tables import (
    CODED,
    INDEXED,
    INDEXES_OF_SHARED_ROWS,
    KEYS,
    SHARED_ROWS,
    change_model,
    read_all_cells,
    read_all_tables,
    write_designs,
)

if TYPE_CHECKING:
    from rowkey.table import Table
    from table.companion_tables import Identity, Row

NEW = {"user": "new", "at": 1, "number": 77, "note": "n", "amount": 1}


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        ([], KEYS),
        (["orders_by_number"], KEYS),
        ([], CODED),
        ([], SHARED_ROWS),
        (["orders_by_number"], INDEXED),
        ([], INDEXES_OF_SHARED_ROWS),
    ],
)
def test_a_new_companion_is_refused_until_repair_has_filled_it(
    tmp_path: Path, names: list[str], keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A companion that is declared later is refused until a repair has created and filled it."""
    monkeypatch.setattr(companion_repair, "COMPARED_ROWS", 20)
    url = f"rocks:{tmp_path / 'data'}"
    model: dict[Identity, Row] = {}
    with rowkey.open(write_designs(tmp_path, keys=keys, declared=names), url) as table:
        for number in range(50):
            row = {"user": f"u{number % 3}", "at": number, "number": number, "amount": 1}
            table.put(row)
            change_model(model, ("put", row))
        table.put({**NEW, "note": None})
        table.delete(NEW)
    design = write_designs(tmp_path, keys=keys)
    with pytest.raises(CatalogMismatch, match="Run rowkey repair DESIGN"):
        rowkey.open(design, url)
    expected = [(name not in names, 50) for name in design.companions]
    found = [(one.is_missing, one.written or len(model)) for one in repair_companions(design, url)]
    assert expected == found
    with rowkey.open(write_designs(tmp_path, keys=keys, declared=names), url) as table:
        assert len(model) == table.count()  # nothing was changed so far
    repair_companions(write_designs(tmp_path, keys=keys), url, apply=True)
    with rowkey.open(design, url) as table:
        check_reads_of_some(table, model)
    with rowkey.open("orders", url) as table:
        assert list(design.companions) == list(table.companions)


def check_reads_of_some(table: Table, model: dict[Identity, Row]) -> None:
    """Compare all tables, and reads of a few rows that companions serve, with a model."""
    assert all(model == rows for rows in read_all_tables(table).values())
    first, *copies = read_all_cells(table)
    assert [first] * len(copies) == copies
    for place in list(model)[::10]:
        assert [model[place]] == list(table.scan("number = ?", place[2]))
        assert [model[place]] == list(table.scan("at = ?", place[1]))


def test_a_companion_is_read_only_after_its_fill_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A companion whose fill was interrupted is written, and read only after the next repair."""
    url = f"rocks:{tmp_path / 'data'}"
    with rowkey.open(write_designs(tmp_path, declared=["orders_by_number"]), url) as table:
        table.put(NEW)
    design = write_designs(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(RowWriter, "send_mutations", fail_to_write)
        with pytest.raises(Unavailable):
            repair_companions(design, url, apply=True)
    with pytest.raises(Unavailable, match="has not been filled with the rows of its main table"):
        rowkey.open("orders_by_time", url)
    for opened in (design, "orders"):
        with rowkey.open(opened, url) as table:
            row = {"user": "later", "at": NEW["at"], "number": len(str(opened))}
            table.put(row)
            assert NEW in list(table.scan("at = ?", NEW["at"]))
            explanation = table.explain("at = ?", NEW["at"])
            assert "orders" == explanation.table
            assert "orders_by_time is not read, because" in str(explanation)
            assert row["number"] in {
                one["number"] for one in table.companions["orders_by_time"].scan()
            }
    assert [False, True] == [one.is_missing for one in repair_companions(design, url)]
    repair_companions(design, url, apply=True)
    with rowkey.open(design, url) as table:
        assert "orders_by_time" == table.explain("at = ?", NEW["at"]).table
        assert 3 == table.count("at = ?", NEW["at"])
        assert 1 == len({len(rows) for rows in read_all_tables(table).values()})


def fail_to_write(*_: Any, **__: Any) -> None:
    """Raise as if the process had died."""
    raise Unavailable("table", "the writer was killed")


def test_a_design_without_a_present_companion_creates_no_new_one(tmp_path: Path) -> None:
    """A design with a new companion and without a present one is refused, and changes nothing."""
    url = f"rocks:{tmp_path / 'data'}"
    rowkey.open(write_designs(tmp_path, declared=["orders_by_number"]), url).close()
    other = write_designs(tmp_path, declared=["orders_by_time"])
    with pytest.raises(CatalogMismatch, match="move its rows: rowkey move plan"):
        repair_companions(other, url, apply=True)
    with open_engine(url) as engine:
        assert ["orders", "orders_by_number"] == sorted(engine.list_tables())


ROWS = pa.table({"user": ["a"], "at": [1], "number": [1], "amount": [1]})


def put_in_batch(table: Table) -> None:
    """Put a row by a batch."""
    with table.batch() as batch:
        batch.put(NEW)


@pytest.mark.parametrize(
    "write",
    [
        lambda table: table.put(NEW),
        put_in_batch,
        lambda table: table.load(ROWS),
        lambda table: table.move(NEW, number=5),
        lambda table: table.increment(NEW, amount=1),
    ],
    ids=["put", "batch", "load", "move", "increment"],
)
def test_a_client_writes_no_row_that_a_new_companion_would_lack(
    tmp_path: Path, write: Callable[[Table], Any]
) -> None:
    """A client that opened the table before acknowledges no row that the companion may lack."""
    design = write_designs(tmp_path, declared=[])
    with rowkey.open(design, f"rocks:{tmp_path / 'data'}") as table:
        table.put(NEW)
        entry, stores = table.lease.last_entry, type(table.store)
        table.catalog.write(
            "orders", extend_companions(entry, write_designs(tmp_path)), entry.version
        )

        def delay(name: str) -> Callable[..., Any]:
            """Return a write that takes longer than a client may use an entry of the catalog."""
            method = getattr(stores, name)

            def write_slowly(*arguments: Any, **options: Any) -> Any:
                written = method(table.store, *arguments, **options)
                table.lease.clock = lambda: read_boottime_s() + 61
                return written

            return write_slowly

        for name in ("mutate", "load_blocks", "increment"):
            setattr(table.store, name, delay(name))
        message = "has the companions orders_by_number, orders_by_time now, and this client"
        for _ in range(2):
            with pytest.raises(Unavailable, match=message):
                write(table)
        with pytest.raises(Unavailable, match=message):
            table.scan().first()


def test_a_new_companion_with_sampled_regions_is_refused(tmp_path: Path) -> None:
    """A new companion whose regions depend on a sample is refused before anything is changed."""
    url = f"rocks:{tmp_path / 'data'}"
    rowkey.open(write_designs(tmp_path, declared=["orders_by_number"]), url).close()
    design = write_designs(tmp_path)
    file = tmp_path / "orders_by_time.toml"
    file.write_text(f'splits = "sample"\n{file.read_text()}')
    with pytest.raises(DesignRefused, match="as a list of row keys: rowkey splits DESIGN"):
        repair_companions(rowkey.Design.read(tmp_path / "orders.toml"), url, apply=True)
    with open_engine(url) as engine:
        assert not engine.has_table("orders_by_time")
    with pytest.raises(CatalogMismatch):
        rowkey.open(design, url)
