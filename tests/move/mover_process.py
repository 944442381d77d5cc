"""A process that makes one step of a move: `mover_process.py URL TABLE DESIGN STEP LIFETIME RATE`.

DESIGN is the number of a design of `build_designs`, LIFETIME the seconds without a sign of life
after which another mover takes over, RATE the most rows that are copied in a second. Each part of
the step is printed when it begins, and at last what came of the step, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from move.mover_loop import build_designs  # noqa: E402
from rowkey.move import Move, mover_lock  # noqa: E402
from rowkey.progress import Progress, ReportProgress  # noqa: E402


def print_parts() -> ReportProgress:
    """Return a function that prints each part of a step once."""
    last = ""

    def report(now: Progress) -> None:
        nonlocal last
        if now.phase != last:
            last = now.phase
            print(last, flush=True)

    return report


def make_step(url: str, table: str, design: int, step: str, rows_per_s: float) -> dict[str, Any]:
    """Make a step of a move; return what came of it."""
    report = print_parts()
    with Move(table, url) as move:
        if step == "run":
            target = build_designs(move.source_name)[design]
            move.start(target)
            move.throttle(rows_per_s=rows_per_s)
            found = move.run(target, progress=report)
        elif step == "verify":
            found = move.verify(progress=report)
        elif step == "finish":
            return {"dropped": move.finish(progress=report)}
        else:
            switched = move.cut_over if step == "cut_over" else move.roll_back
            result = switched(progress=report)
            return {"primary": result.primary, "window_s": result.window_s}
        return {
            "has_passed": found.has_passed,
            "rows": found.source.rows,
            "differences": [str(one) for one in found.differences],
            "unsettled": len(found.unsettled),
        }


if __name__ == "__main__":
    lifetime_s = float(sys.argv[5])
    mover_lock.LIFETIME_S, mover_lock.BEAT_INTERVAL_S = lifetime_s, lifetime_s / 5
    words = (sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], float(sys.argv[6]))
    print(json.dumps(make_step(*words)))
