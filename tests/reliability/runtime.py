"""A disk that fails while a table is used: reads, writes and syncs that fail at the n-th call.

`runtime.py PLACE WORK STICKY STEP MODE...` runs with the shim loaded; it prints a line of JSON for
each fault that was tried. Each probe is run again and again, with the first call failing, then the
second, and so on until it runs through without meeting its fault; after the first STEP calls some
are passed over, a STEP-th part of those before. With a STEP of 0 only `FEW_PROBES` are run, with
each call the sixteenth of the one before, and reads only where reading fails.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rowkey
from reliability.places import COUNTER_ID, DESIGN, make_row, make_rows
from reliability.probes import PROBES, REFUSED, RIGHT, WRONG
from reliability.shim import Shim
from rowkey.cli.pandas_guard import skip_pandas
from rowkey.errors import RowkeyError
from rowkey.table import repair_tables, save_tables, verify_tables

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CALLS = 400
"""Calls at which a probe is let fail, if it makes so many."""

NEW = {**make_row(COUNTER_ID + 40), "v": "new"}
"""What is put by the probe `put`."""


def _run_probe(table: rowkey.Table, probe: str) -> str:
    """Run a probe on an open table, and return what is wrong."""
    expected = make_rows("")
    match probe:
        case "get":
            found = table.get_many([{"id": row["id"]} for row in expected[::50]])
            return "" if found == expected[::50] else "a row is other than it was"
        case "scan":
            found = sorted(table.scan(), key=lambda row: row["id"])
            return "" if found == expected else f"{len(found)} of {len(expected)} rows"
        case "count":
            return "" if table.count() == len(expected) else "another number of rows"
        case "dump":
            count = sum(batch.num_rows for batch in table.scan().batches(500))
            return "" if count == len(expected) else f"{count} of {len(expected)} rows"
        case "increment":
            before = expected[COUNTER_ID]["n"]
            after = table.increment({"id": COUNTER_ID}, n=3)["n"]
            return "" if after == before + 3 else f"{after} instead of {before + 3}"
        case "check_and_put":
            row = expected[COUNTER_ID + 1]
            if table.check_and_put({**row, "v": "new"}, n=None):
                return "a value that stands was taken for absent"
            held = table.check_and_put({**row, "v": "new"}, n=row["n"])
            return "" if held else "a value that stands was not found"
    return _run_write_probe(table, probe)


def _run_write_probe(table: rowkey.Table, probe: str) -> str:
    match probe:
        case "put":
            table.put(NEW)
        case "flush":
            table.put(NEW)
            table.flush()
        case "compact":
            table.compact()
        case _:
            raise ValueError(probe)
    return ""


USES = (*PROBES[1:-1], "put", "flush", "compact")
READS = ("get", "scan", "count", "dump")
FEW_PROBES = ("open", "get", "scan", "increment", "compact", "repair")
"""Reads of rows and of all, a change in the log and changes of files: the others use these."""


def _try_fault(
    place: Path, probe: str, shim: Shim, arm: Callable[[], None]
) -> tuple[str, str, int]:
    """Run a probe with a fault; return the verdict, what is wrong, and the number of calls."""
    url = f"rocks:{place}"
    calls = 0
    try:
        if probe == "open":
            arm()
            table = rowkey.open(DESIGN, url)
            problem = ""
            calls = shim.disarm()
            table.close()
        elif probe == "repair":
            arm()
            problem = _repair_table(place)
        else:
            table = rowkey.open(DESIGN, url)
            try:
                arm()
                problem = _run_probe(table, probe)
                calls = shim.disarm()
            finally:
                with suppress(RowkeyError):  # acknowledged changes are checked below
                    table.close()
    except RowkeyError:
        return REFUSED, "", max(calls, shim.disarm())
    except Exception as error:  # noqa: BLE001 - whatever it is, it was not meant
        return WRONG, f"{type(error).__name__}: {error}", max(calls, shim.disarm())
    return WRONG if problem else RIGHT, problem, max(calls, shim.disarm())


def _repair_table(place: Path) -> str:
    into = place.with_name("saved")
    shutil.rmtree(into, ignore_errors=True)
    (found,) = verify_tables(f"rocks:{place}")
    if found.is_sound:
        return "" if found.cell_count >= len(make_rows("")) else "cells were passed over"
    if not found.needs_saving:
        list(repair_tables(f"rocks:{place}", ["t"]))
    else:
        list(save_tables(f"rocks:{place}", f"rocks:{into}", ["t"]))
    return ""


def _check_stored_rows(place: Path, probe: str, verdict: str) -> str:
    """Check the rows once the disk works again, and return what is wrong.

    Acknowledged changes must be there, and refused ones completely or not at all.
    """
    expected = {row["id"]: row for row in make_rows("")}
    changed: dict[str, tuple[int, dict[str, Any]]] = {
        "increment": (COUNTER_ID, {"n": (expected[COUNTER_ID]["n"] or 0) + 3}),
        "check_and_put": (COUNTER_ID + 1, {"v": "new"}),
        "put": (NEW["id"], {"v": "new"}),
        "flush": (NEW["id"], {"v": "new"}),
    }
    try:
        with rowkey.open(DESIGN, f"rocks:{place}", create=False) as table:
            rows = {row["id"]: row for row in table.scan()}
    except RowkeyError as problem:
        return f"it does not open again: {problem}"
    allowed = [expected]
    if probe in changed:
        id_, values = changed[probe]
        done = {**expected, id_: {**expected[id_], **values}}
        allowed = [done] if verdict == RIGHT else [expected, done]
    return "" if rows in allowed else "afterwards, rows are other than they were acknowledged"


def main() -> None:
    """Try all faults of some types."""
    place, work, sticky, step, *modes = sys.argv[1:]
    shim = Shim(Path(work) / "used")
    with skip_pandas():
        for what in modes:
            _try_faults(Path(place), shim, what, sticky == "sticky", int(step))


def _try_faults(place: Path, shim: Shim, what: str, sticky: bool, step: int) -> None:
    """Try all faults of one type, and print the result of each."""
    copy, few = shim.directory, step == 0
    for probe in FEW_PROBES if few else ("open", *USES, "repair"):
        if few and probe in READS and what != "read error":
            continue
        nth = 1
        while nth <= MAX_CALLS:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(place, copy)
            arm = partial(shim.fail, what, nth, sticky=sticky)
            verdict, problem, calls = _try_fault(copy, probe, shim, arm)
            if not problem:
                problem = _check_stored_rows(copy, probe, verdict)
                verdict = WRONG if problem else verdict
            told = {
                "mode": what,
                "probe": probe,
                "verdict": verdict,
                "problem": problem,
                "call": nth,
            }
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
            if calls < nth:  # it has run through without its fault
                break
            nth = 16 * nth if few else nth + max(1, nth // step)


if __name__ == "__main__":
    main()
