"""Under a random arrival, the order of a file changes no verdict."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from rowkey.design import Design
from rowkey.simulate import run

CUSTOMERS, ORDERS = 40, 100


def test_a_file_sorted_by_customer_is_replayed_in_random_order() -> None:
    """One customer after the other looks hot by the clock, and as even as it is at random."""
    names = [f"c{n // ORDERS:02}" for n in range(CUSTOMERS * ORDERS)]
    times = [1_700_000_000 + n % ORDERS * 86_400 + n // ORDERS for n in range(len(names))]
    rows = pa.table({"customer": names, "at": times, "number": range(len(names))})
    design = Design(
        "orders",
        "[customer][number]",
        fields={
            "customer": {"type": "text", "max_bytes": 8},
            "number": "u32",
            "at": "timestamp_s",
        },
        splits=[f"c{n:02}" for n in range(5, CUSTOMERS, 5)],
        writes={"arrival": "random", "time": "at"},
    )
    drawn, again, sorted_file = (
        run(one, rows, seed=1)
        for one in (design, design, design.copy_with_options(writes={"sort": False}))
    )
    assert ("even", "hot") == (drawn.verdict.level, sorted_file.verdict.level)
    assert "moving_front" not in {one.code for one in drawn.causes}
    assert drawn.verdict == again.verdict
    assert Counter(names) == Counter(drawn.sampled_rows.column("customer").to_pylist())
