"""Creating a table of many regions, and the progress reported meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from rowkey.cells import Family
from rowkey.progress import Progress

if TYPE_CHECKING:
    from rowkey.hbase.admin import Admin

SPLITS = [b"%03d" % number for number in range(1, 1_000)]


@pytest.mark.long
def test_a_table_of_a_thousand_regions_opens_on_all_servers(admin: Admin) -> None:
    """A thousand regions open on all servers, and each step of progress is reported."""
    name, told, begin = f"thousand_{uuid4().hex[:8]}", list[Progress](), time.monotonic()
    admin.create_table(name, [Family("d")], SPLITS, progress=told.append)
    made = time.monotonic()
    regions = admin.list_regions(name)
    admin.delete_table(name, disable=True)
    print(f"made in {made - begin:.0f} s, dropped in {time.monotonic() - made:.0f} s, told {told}")
    held = Counter(region.server for region in regions)
    assert [b"", *SPLITS] == [region.start for region in regions]
    assert [1_000] * len(told) == [one.total for one in told]
    assert sorted({one.done for one in told}) == [one.done for one in told]
    assert 1_000 == told[-1].done
    assert len(told) > len(held)
    assert max(held.values()) - min(held.values()) <= 1
