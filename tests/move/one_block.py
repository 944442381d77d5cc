"""Designs whose files have one block each, in which HBase loses no delete of a row.

In a file of several blocks HBase may pass over the delete of a family: `trySkipToNextColumn` leaves
out all cells of the empty qualifier below a surplus one, also such a delete, whose qualifier is
empty too. See `test_deletes_that_hbase_forgets.py`.
"""

from __future__ import annotations

from rowkey import Design

BLOCK_BYTES = 1 << 24
"""The most that HBase is given; the tables of these tests are smaller."""


def give_one_block(design: Design) -> Design:
    """Return a design whose files have one block each."""
    declared = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    names = {slot.family for slot in design.layout.slots}
    return Design(**{**declared, "families": {name: {"block_size": BLOCK_BYTES} for name in names}})
