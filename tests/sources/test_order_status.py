"""States of an order: reversed numbers, the time turned over, versions of one cell."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

import rowkey
from rowkey.cells import build_sort_key, select_kept_cells
from rowkey.errors import RowError
from rowkey.lint import check_design
from sources.judged import (
    by_hand,
    causes,
    changed,
    clock,
    explained,
    found,
    read,
    rows,
    rules,
    simulated,
    skew,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rowkey import Design
    from rowkey.cells import Cell

LATEST = "latest states of an order"
PRINTED = {
    "2021010101010101": "101010101010101202",
    "20210202020202": "2020202020201202",
    "20210303030303": "3030303030301202",
}
"""Document 3's examples of an order's number and of the key that it begins."""
RIGHT = {
    "2021010101010101": "1010101010101202",
    "20210202020202": "20202020201202",
    "20210303030303": "30303030301202",
}


@pytest.mark.claims(67)
@pytest.mark.parametrize("number", PRINTED)
def test_printed_examples_of_reversed_numbers_are_too_long(number: str) -> None:
    """Each has two characters more than what it reverses; ours has the same, back to front."""
    digits = {"type": "digits", "width": len(number)}
    key = changed("order_status/reversed", fields={"order": digits}).key
    made = key.encode({"order": number, "ts": 1_609_459_200_000})
    assert RIGHT[number] == number[::-1] == made[:-8].decode()
    assert len(PRINTED[number]) == len(number) + 2
    assert PRINTED[number] != made[:-8].decode()


@pytest.mark.claims(12, 67)
def test_a_reversed_number_has_one_width() -> None:
    """Sixteen digits are asked for: with fourteen the last ones would have other places."""
    key = read("order_status/reversed").key
    with pytest.raises(RowError):
        key.encode({"order": "20210202020202", "ts": 0})


@pytest.mark.claims(13, 66, 67)
def test_the_latest_state_is_the_first_row_of_its_order() -> None:
    """Behind the number stands Long.MAX_VALUE - ts; a scan of the number begins with the newest."""
    design = read("order_status/reversed")
    made = design.key.encode({"order": "2021010101010101", "ts": 1_609_459_200_000})
    assert struct.pack(">q", 2**63 - 1 - 1_609_459_200_000) == made[16:]
    assert ("forwards", 1) == (
        explained("order_status/reversed", LATEST).order_method,
        explained("order_status/reversed", LATEST).fan_out,
    )
    with rowkey.open(design, "memory:") as table:
        for ts, status in enumerate(("made", "paid", "sent")):
            table.put({"order": "2021010101010101", "ts": ts, "status": status})
            table.put({"order": "3021010101010101", "ts": ts, "status": "done"})
        scan = table.read(LATEST, "2021010101010101")
        assert ["sent", "paid", "made"] == [row["status"] for row in scan]


@pytest.mark.claims(11, 67)
def test_numbers_that_count_up_are_one_region_and_reversed_ones_all() -> None:
    """The same orders, over sixteen equal ranges of the numbers and of digits back to front."""
    digits = [f"{10**8 * n // 16:08d}".encode() for n in range(1, 16)]
    numbers = [f"{10**6 * n // 16:016d}".encode() for n in range(1, 16)]

    def forwards(row: Mapping[str, Any]) -> bytes:
        return bytes(row["order"].encode())

    def back(row: Mapping[str, Any]) -> bytes:
        return forwards(row)[::-1]

    for name, key, splits, expected in (
        ("order_status/counted_up", forwards, numbers, 8.0),
        ("order_status/reversed", back, digits, 1.0),
    ):
        assert splits == [region.start for region in simulated(name).regions[1:]]
        counted = by_hand(name, key, splits, clock(name))
        assert counted.writes == [region.writes for region in simulated(name).regions]
        assert skew(name) == pytest.approx(expected, abs=0.01)
    assert ["moving_front"] == causes("order_status/counted_up")
    assert "order" == found("order_status/counted_up", "monotone-lead").evidence["field"]
    assert ([], []) == (rules("order_status/reversed"), causes("order_status/reversed"))


@pytest.mark.claims(11, 67)
@pytest.mark.parametrize("name", ["order_status/counted_up", "waybills/number_first"])
def test_it_is_the_rising_that_heats_and_not_the_splits(name: str) -> None:
    """The same key and splits are even, and no cause is named, once numbers are drawn at random."""
    field = "order" if "order" in name else "waybill"
    words = read(name).declaration.model_dump(by_alias=True)["fields"][field]
    drawn = {word: words[word] for word in ("type", "width", "distinct")}
    hot, even = simulated(name), rowkey.simulate.run(changed(name, fields={field: drawn}))
    assert [region.start for region in hot.regions] == [region.start for region in even.regions]
    assert ("hot", "even") == (hot.verdict.level, even.verdict.level)
    assert ["moving_front"] == causes(name)
    assert [] == even.causes
    assert min(region.writes for region in even.regions) > 0.9 * 20_000 / 16


@pytest.mark.claims(4, 67, 83)
def test_the_number_as_a_number_is_shorter() -> None:
    """A byte of bucket and eight of number for sixteen digits, and as even."""
    assert {"order_status/reversed": 16 + 8, "order_status/better": 1 + 8 + 8} == {
        name: simulated(name).key_bytes for name in ("order_status/reversed", "order_status/better")
    }
    assert skew("order_status/better") < 1.1


# Versions


def states_kept(design: Design) -> list[bytes]:
    """The states of an order that was in three, as far as a major compaction keeps them."""
    cells: list[Cell] = []
    for ts, status in enumerate(("made", "paid", "sent"), 1):
        _, written = design.layout.encode_event(
            {"order": "2021010101010101", "ts": ts, "status": status}
        )
        cells += written
    family = design.families["d"]
    return [
        cell.value
        for cell in select_kept_cells(sorted(cells, key=build_sort_key), family, now_ms=10)
    ]


@pytest.mark.claims(26)
def test_one_version_is_kept_by_default() -> None:
    """Not three: of an order's states the newest stays, and the rule says since when."""
    design = read("order_status/default_versions")
    assert 1 == design.families["d"].versions
    one = found("order_status/default_versions", "single-version-history")
    assert ("warning", "fields.ts") == (one.severity, one.path)
    assert "not 3" in one.verdict
    assert [b"sent"] == states_kept(design)
    said = changed("order_status/default_versions", families={"d": {"versions": 1}})
    assert () == check_design(said, select=["single-version-history"]).findings


@pytest.mark.claims(25, 66)
def test_a_thousand_versions_are_rows_that_nobody_finds() -> None:
    """Found out from a hundred on; with the time in the key each state is a row of its own."""
    one = found("order_status/versions", "many-versions")
    assert (1_000, "warning", "families.d.versions") == (one.value, one.severity, one.path)
    assert [b"sent", b"paid", b"made"] == states_kept(read("order_status/versions"))
    for versions, expected in ((99, 0), (100, 1)):
        design = changed("order_status/versions", families={"d": {"versions": versions}})
        assert expected == len(check_design(design, select=["many-versions"]).findings)
    order = {"order": "2021010101010101"}
    for name, expected in (("order_status/versions", 1), ("order_status/reversed", 3)):
        key = read(name).key
        assert expected == len({key.encode({**order, "ts": ts}) for ts in range(3)})
    assert len({row["order"] for row in rows("order_status/reversed")}) == 20_000
