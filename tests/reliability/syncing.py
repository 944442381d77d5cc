"""Print which files are synced while a table is created, changed, flushed and dropped.

`syncing.py PLACE` runs with the shim loaded; it prints a line of JSON for each step.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import rowkey
from reliability.scenarios.embedded_table import DESIGN, make_row
from reliability.shim import Shim
from rowkey.catalog import open_catalog
from rowkey.pandas_guard import skip_pandas
from rowkey.table import drop_table


def main() -> None:
    """Do each step, and print which files were created, renamed and synced."""
    place = Path(sys.argv[1])
    url = f"rocks:{place / 'above' / 'data'}"
    shim = Shim(place)

    def step(name: str, call: Callable[[], object]) -> None:
        shim.note()
        call()
        told = [(what, str(path)) for what, path in shim.read_notes()]
        sys.stdout.write(json.dumps({"step": name, "noted": told}) + "\n")

    step("create", lambda: rowkey.open(DESIGN, url).close())
    with rowkey.open(DESIGN, url) as table:
        step("put", lambda: table.put(make_row(1)))
        step("put with sync", lambda: table.put(make_row(2), sync=True))
        step("flush", table.flush)
    with closing(open_catalog(f"file:{place / 'above' / 'data' / '.catalog'}")) as catalog:
        entry = catalog.read("t")
        assert entry is not None
        step("catalog", lambda: catalog.write("t", replace(entry, max_stale_s=30), entry.version))
        step("note", lambda: catalog.write_note("t", "load", "1"))
    step("drop", lambda: drop_table(DESIGN, url))


if __name__ == "__main__":
    with skip_pandas():
        main()
