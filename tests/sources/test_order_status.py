"""States of orders: reversed numbers, descending times, versions of one cell."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from rowkey.cells import build_sort_key, select_kept_cells
from rowkey.errors import RowError
from rowkey.lint import check_design
from sources.evaluations import (
    change_design,
    explain_declared_read,
    get_finding,
    get_skew,
    list_causes,
    list_rows,
    list_rules,
    list_times,
    read_design,
    recount,
    simulate_example,
)

if TYPE_CHECKING:
    from rowkey import Design
    from rowkey.cells import Cell

LATEST = "latest states of an order"
PRINTED_NUMBERS = {
    "2021010101010101": "101010101010101202",
    "20210202020202": "2020202020201202",
    "20210303030303": "3030303030301202",
}
"""Document 3's examples of an order's number and of the key that it begins."""
REVERSED_NUMBERS = {
    "2021010101010101": "1010101010101202",
    "20210202020202": "20202020201202",
    "20210303030303": "30303030301202",
}


@pytest.mark.claims(67)
@pytest.mark.parametrize("number", PRINTED_NUMBERS)
def test_reversed_numbers_in_the_document_are_two_digits_too_long(number: str) -> None:
    """The document's reversed numbers have two digits more than the originals."""
    digits = {"type": "digits", "width": len(number)}
    key = change_design("order_status/reversed", fields={"order": digits}).key
    made = key.encode({"order": number, "ts": 1_609_459_200_000})
    assert REVERSED_NUMBERS[number] == number[::-1] == made[:-8].decode()
    assert len(PRINTED_NUMBERS[number]) == len(number) + 2
    assert PRINTED_NUMBERS[number] != made[:-8].decode()


@pytest.mark.claims(12, 67)
def test_a_reversed_number_of_another_width_is_refused() -> None:
    """A number of fourteen digits is refused where sixteen are declared."""
    key = read_design("order_status/reversed").key
    with pytest.raises(RowError):
        key.encode({"order": "20210202020202", "ts": 0})


@pytest.mark.claims(13, 66, 67)
def test_the_latest_state_is_the_first_row_of_its_order() -> None:
    """After the number is Long.MAX_VALUE - ts, so a scan begins with the latest state."""
    design = read_design("order_status/reversed")
    made = design.key.encode({"order": "2021010101010101", "ts": 1_609_459_200_000})
    assert struct.pack(">q", 2**63 - 1 - 1_609_459_200_000) == made[16:]
    assert ("forwards", 1) == (
        explain_declared_read("order_status/reversed", LATEST).order_method,
        explain_declared_read("order_status/reversed", LATEST).fan_out,
    )
    with rowkey.open(design, "memory:") as table:
        for ts, status in enumerate(("made", "paid", "sent")):
            table.put({"order": "2021010101010101", "ts": ts, "status": status})
            table.put({"order": "3021010101010101", "ts": ts, "status": "done"})
        scan = table.read(LATEST, "2021010101010101")
        assert ["sent", "paid", "made"] == [row["status"] for row in scan]


@pytest.mark.claims(11, 67)
def test_rising_numbers_fill_one_region_and_reversed_ones_all() -> None:
    """Rising numbers fill one of sixteen regions, and reversed ones fill all."""
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
        assert splits == [region.start for region in simulate_example(name).regions[1:]]
        counted = recount(name, key, splits, list_times(name))
        assert counted.writes == [region.writes for region in simulate_example(name).regions]
        assert get_skew(name) == pytest.approx(expected, abs=0.01)
    assert ["moving_front"] == list_causes("order_status/counted_up")
    assert "order" == get_finding("order_status/counted_up", "monotone-lead").evidence["field"]
    assert ([], []) == (list_rules("order_status/reversed"), list_causes("order_status/reversed"))


@pytest.mark.claims(11, 67)
@pytest.mark.parametrize("name", ["order_status/counted_up", "waybills/number_first"])
def test_random_numbers_are_even_where_rising_numbers_are_hot(name: str) -> None:
    field = "order" if "order" in name else "waybill"
    words = read_design(name).declaration.model_dump(by_alias=True)["fields"][field]
    drawn = {word: words[word] for word in ("type", "width", "distinct")}
    hot, even = (
        simulate_example(name),
        rowkey.simulate.run(change_design(name, fields={field: drawn})),
    )
    assert [region.start for region in hot.regions] == [region.start for region in even.regions]
    assert ("hot", "even") == (hot.verdict.level, even.verdict.level)
    assert ["moving_front"] == list_causes(name)
    assert [] == even.causes
    assert min(region.writes for region in even.regions) > 0.9 * 20_000 / 16


@pytest.mark.claims(4, 67, 83)
def test_a_number_stored_in_8_bytes_is_shorter_and_as_even() -> None:
    """A bucket byte and eight bytes of number replace sixteen digits, and are as even."""
    assert {"order_status/reversed": 16 + 8, "order_status/better": 1 + 8 + 8} == {
        name: simulate_example(name).key_bytes
        for name in ("order_status/reversed", "order_status/better")
    }
    assert get_skew("order_status/better") < 1.1


# Versions


def list_kept_states(design: Design) -> list[bytes]:
    """Return the states of an order that remain after a major compaction."""
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
def test_only_the_latest_state_is_kept_by_default() -> None:
    """By default only the latest state is kept, and the rule names the HBase version."""
    design = read_design("order_status/default_versions")
    assert 1 == design.families["d"].versions
    one = get_finding("order_status/default_versions", "single-version-history")
    assert ("warning", "fields.ts") == (one.severity, one.path)
    assert "not 3" in one.verdict
    assert [b"sent"] == list_kept_states(design)
    said = change_design("order_status/default_versions", families={"d": {"versions": 1}})
    assert () == check_design(said, select=["single-version-history"]).findings


@pytest.mark.claims(25, 66)
def test_a_hundred_versions_of_a_state_are_reported() -> None:
    """From a hundred versions on there is a finding; with the time in the key states are rows."""
    one = get_finding("order_status/versions", "many-versions")
    assert (1_000, "warning", "families.d.versions") == (one.value, one.severity, one.path)
    assert [b"sent", b"paid", b"made"] == list_kept_states(read_design("order_status/versions"))
    for versions, expected in ((99, 0), (100, 1)):
        design = change_design("order_status/versions", families={"d": {"versions": versions}})
        assert expected == len(check_design(design, select=["many-versions"]).findings)
    order = {"order": "2021010101010101"}
    for name, expected in (("order_status/versions", 1), ("order_status/reversed", 3)):
        key = read_design(name).key
        assert expected == len({key.encode({**order, "ts": ts}) for ts in range(3)})
    assert len({row["order"] for row in list_rows("order_status/reversed")}) == 20_000
