from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import rowkey

if TYPE_CHECKING:
    from pathlib import Path

FIELDS: dict[str, Any] = {
    "id": "u32",
    "hits": {"type": "i64", "nullable": True},
    "note": {"type": "text", "nullable": True},
}
THREADS = 4
EACH = 120


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


def together(work: Any) -> list[Any]:
    """What each of some threads gives."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_counts_add_up(url: str) -> None:
    """Threads that count up the same rows lose nothing, and no value is given twice."""
    with rowkey.open(rowkey.Design("t", "[bucket(id, 4)][id]", fields=FIELDS), url) as table:

        def work(thread: int) -> list[int]:
            given = []
            for n in range(EACH):
                given.append(table.increment({"id": 0}, hits=1)["hits"])
                table.increment({"id": 1 + n % 7}, hits=thread)
                table.put({"id": 0, "note": f"{thread}"})
                assert table.get(id=0)["hits"] >= given[-1]
            return given

        values = [value for given in together(work) for value in given]
        assert list(range(1, THREADS * EACH + 1)) == sorted(values)
        assert THREADS * EACH == table.get(id=0)["hits"]
        sums = [row["hits"] for row in table.scan("id > 0")]
        assert EACH * sum(range(THREADS)) == sum(sums)


@pytest.mark.parametrize("key", ["[bucket(id, 4)][id]", "[salt(4)][id]"])
def test_each_thread_has_rows_of_its_own(url: str, key: str) -> None:
    """Puts, deletes and batches of several threads do not disturb each other."""
    with rowkey.open(rowkey.Design("t", key, fields=FIELDS), url) as table:

        def work(thread: int) -> int:
            for n in range(EACH):
                row = {"id": thread * EACH + n, "note": f"{n}"}
                table.put(row)
                table.delete(row)
                table.put({**row, "note": "again"})
                assert "again" == table.get(row)["note"]
            with table.batch(7) as batch:
                for n in range(0, EACH, 3):
                    batch.delete({"id": thread * EACH + n})
            return table.count(f"id between {thread * EACH} and {thread * EACH + EACH - 1}")

        left = EACH - EACH // 3
        assert [left] * THREADS == together(work)
        assert left * THREADS == table.count()
        assert {"again"} == {row["note"] for row in table.scan()}
