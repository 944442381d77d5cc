"""The bytes that packed cells save agree with a count by hand and with written cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.cells import compute_cell_bytes
from rowkey.design import Design
from rowkey.workload import measure_packing, open_sample

FIELDS: dict[str, Any] = {
    "host": "text",
    "ts": "timestamp_ms",
    "n": {"type": "i32", "pack": "p", "nullable": True},
    "note": {"type": "text", "pack": "p", "nullable": True},
    "size": {"type": "i64", "nullable": True},
}
ROWS = "host,ts,n,note,size\nh,1609459200000,5,ab,\nh,1609459200001,,,7\nh,1609459200002,300,,\n"
ROW_KEY = 1 + 1 + 8
"""The host and the byte that ends it, the time."""
FIXED = 20 + ROW_KEY + 1
"""A cell beside qualifier and value: lengths 4 + 4 + 2 + 1, timestamp 8, type 1, row, family."""
PACKED_BYTES = [
    FIXED + 1 + (1 + (1 + 1) + (1 + 1 + 2)),  # a map of two: 0 and 5, 1 and a text of two bytes
    FIXED + 4 + 8,  # size alone
    FIXED + 1 + (1 + (1 + 3)),  # a map of one: 0 and a number of two bytes
]
UNPACKED_BYTES = [(FIXED + 1 + 4) + (FIXED + 4 + 2), FIXED + 4 + 8, FIXED + 1 + 4]
MARKER = 3 * (FIXED + 0 + 0)
"""All columns may be absent, so that each row has a cell without qualifier and value."""


def open_events(design: Design, text: str, folder: Path) -> Any:
    """Open a sample with all fields of a design."""
    path = folder / "rows.csv"
    path.write_text(text)
    return open_sample(path, design.fields, None, None)


def test_bytes_saved_by_packing_equal_a_count_by_hand(tmp_path: Path) -> None:
    """The saved bytes agree with the formats of KeyValue and MessagePack, cell by cell."""
    design = Design("t", "[host][ts]", fields=FIELDS, writes={"time": "ts"})
    found = measure_packing(design.layout, open_events(design, ROWS, tmp_path))
    assert found is not None
    assert ({"d:p": ("n", "note")}, 3) == (found.cells, found.events)
    assert sum(PACKED_BYTES) + MARKER == pytest.approx(3 * found.packed_bytes)
    assert sum(UNPACKED_BYTES) + MARKER == pytest.approx(3 * found.unpacked_bytes)
    assert found.saved_share == pytest.approx(
        1 - (sum(PACKED_BYTES) + MARKER) / (sum(UNPACKED_BYTES) + MARKER)
    )


def test_a_design_without_packed_cells_has_no_figure_of_saved_bytes() -> None:
    assert measure_packing(Design("t", "[n]", fields={"n": "u8", "a": "u8"}).layout, None) is None


def test_declared_widths_are_used_for_saved_bytes_without_a_sample() -> None:
    """Declared bytes of a value are used where they cannot be measured."""
    design = Design("t", "[host][ts]", fields=FIELDS, writes={"time": "ts"})
    found = measure_packing(design.layout, None)
    assert found is not None
    assert 0 == found.events
    assert 0 < found.saved_share < 1


EVENTS = st.lists(
    st.tuples(st.none() | st.integers(-(2**31), 2**31 - 1), st.none() | st.text("aé", max_size=9)),
    min_size=1,
    max_size=20,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all examples write into."""
    return tmp_path_factory.mktemp("packed")


@pytest.mark.parametrize("pack", ["p", "p:protobuf"])
@given(events=EVENTS)
def test_the_estimate_of_saved_bytes_equals_the_written_cells(
    folder: Path, pack: str, events: list[Any]
) -> None:
    """The estimate equals the bytes of written cells, packed and not."""
    packed = {
        **FIELDS,
        "n": {**FIELDS["n"], "pack": pack},
        "note": {**FIELDS["note"], "pack": pack},
    }
    alone = {name: {k: v for k, v in words.items() if k != "pack"} if isinstance(words, dict)
             else words for name, words in FIELDS.items()}  # fmt: skip
    designs = [Design("t", "[host][ts]", fields=f, writes={"time": "ts"}) for f in (packed, alone)]
    lines = [
        f"h,{ts},{'' if n is None else n},{'' if note is None else chr(34) + note + chr(34)},"
        for ts, (n, note) in enumerate(events)
    ]
    text = "host,ts,n,note,size\n" + "\n".join(lines) + "\n"
    found = measure_packing(designs[0].layout, open_events(designs[0], text, folder))
    rows = [{"host": "h", "ts": ts, "n": n, "note": o} for ts, (n, o) in enumerate(events)]
    expected = []
    for design in designs:
        given_rows = [{k: v for k, v in row.items() if v is not None} for row in rows]
        written = [design.layout.encode_event(row, timestamp=1) for row in given_rows]
        expected.append(sum(
            compute_cell_bytes(len(one.row), len(cell.family), len(cell.qualifier), len(cell.value))
            for one in written for cell in one.cells
        ))  # fmt: skip
    assert found is not None
    assert expected == pytest.approx(
        [found.packed_bytes * len(rows), found.unpacked_bytes * len(rows)]
    )
