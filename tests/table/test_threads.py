from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.table import Stamps

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


def test_stamps_of_threads_differ() -> None:
    """Threads that change one row get a timestamp each, while others come and go."""
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    now = iter(range(10**9))  # no row runs ahead of this clock, so none waits for it
    stamps = Stamps(lambda: next(now) // 2)

    def work(thread: int) -> list[int]:
        given = []
        for n in range(5_000):
            given.append(stamps.next(b"row"))
            stamps.next(b"%d %d" % (thread, n))
        return given

    try:
        given = [stamp for one in together(work) for stamp in one]
    finally:
        sys.setswitchinterval(often)
    assert len(given) == len(set(given))


def test_a_row_that_is_put_often_does_not_run_ahead() -> None:
    """Puts share a millisecond; after a delete the next put is later, whatever the clock says."""
    now = 1_000
    stamps = Stamps(lambda: now)
    assert [1_000] * 3 == [stamps.again(b"a") for _ in range(3)]
    assert 1_000 == stamps.next(b"a")
    assert [1_001] * 2 == [stamps.again(b"a") for _ in range(2)]
    assert 1_001 == stamps.next(b"a")
    assert 1_002 == stamps.above_all(alone=False)
    assert [1_002, 1_002, 1_003] == [stamps.again(b"b"), stamps.next(b"c"), stamps.next(b"c")]
    assert [1_004, 1_005] == [stamps.above_all(alone=True), stamps.again(b"a")]
