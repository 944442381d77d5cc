from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rowkey

FIELDS: dict[str, Any] = {
    "id": "u32",
    "hits": {"type": "i64", "nullable": True},
    "note": {"type": "text", "nullable": True},
}
THREADS = 4
OPERATIONS_PER_THREAD = 60


@pytest.fixture(params=["memory", "rocks"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table, on each embedded engine."""
    return "memory:" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"


def run_in_threads(work: Any) -> list[Any]:
    """Return the results of a function in each of some threads."""
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def test_increments_of_several_threads_add_up(url: str) -> None:
    """No increment of several threads is lost, and no value is returned twice."""
    with rowkey.open(rowkey.Design("t", "[bucket(id, 4)][id]", fields=FIELDS), url) as table:

        def work(thread: int) -> list[int]:
            given = []
            for n in range(OPERATIONS_PER_THREAD):
                given.append(table.increment({"id": 0}, hits=1)["hits"])
                table.increment({"id": 1 + n % 7}, hits=thread)
                table.put({"id": 0, "note": f"{thread}"})
                assert table.get(id=0)["hits"] >= given[-1]
            return given

        values = [value for given in run_in_threads(work) for value in given]
        assert list(range(1, THREADS * OPERATIONS_PER_THREAD + 1)) == sorted(values)
        assert THREADS * OPERATIONS_PER_THREAD == table.get(id=0)["hits"]
        sums = [row["hits"] for row in table.scan("id > 0")]
        assert OPERATIONS_PER_THREAD * sum(range(THREADS)) == sum(sums)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("memory", "[salt(4)][id]"),
        ("rocks", "[bucket(id, 4)][id]"),
        pytest.param("memory", "[bucket(id, 4)][id]", marks=pytest.mark.long),
        pytest.param("rocks", "[salt(4)][id]", marks=pytest.mark.long),
    ],
    indirect=["url"],
)
def test_threads_writing_their_own_rows_do_not_disturb_each_other(url: str, key: str) -> None:
    """Puts, deletes and batches of several threads do not disturb each other."""
    with rowkey.open(rowkey.Design("t", key, fields=FIELDS), url) as table:

        def work(thread: int) -> int:
            for n in range(OPERATIONS_PER_THREAD):
                row = {"id": thread * OPERATIONS_PER_THREAD + n, "note": f"{n}"}
                table.put(row)
                table.delete(row)
                table.put({**row, "note": "again"})
                assert "again" == table.get(row)["note"]
            with table.batch(7) as batch:
                for n in range(0, OPERATIONS_PER_THREAD, 3):
                    batch.delete({"id": thread * OPERATIONS_PER_THREAD + n})
            first = thread * OPERATIONS_PER_THREAD
            return table.count(f"id between {first} and {first + OPERATIONS_PER_THREAD - 1}")

        left = OPERATIONS_PER_THREAD - OPERATIONS_PER_THREAD // 3
        assert [left] * THREADS == run_in_threads(work)
        assert left * THREADS == table.count()
        assert {"again"} == {row["note"] for row in table.scan()}
