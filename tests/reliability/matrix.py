"""The fault matrix: each fault of each object, in how many tries, and what each call did.

`python -m reliability.matrix FOLDER` tries the faults that it reads as lines `OBJECT FAULT FIRST
COUNT` and prints the outcome of each line as JSON. `try_cells` runs such workers side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from reliability.attempts import Bench, list_calls
from reliability.faults import FAULTS, FaultInUse
from reliability.scenarios import OBJECTS
from reliability.scenarios.contract import CRASHED, WRONG
from reliability.shim import Shim, build_environment, compile_shim

MAX_LISTED = 12
"""Wrong answers of a cell that are listed; all are counted."""
CHUNK = 50
"""Tries of faults at rest that a worker makes before it takes the next ones."""
MAX_UNMET = 3
"""Tries in a row, of one call, in which no call of the system was left to fail: the others are left
out."""


@dataclass
class Outcome:
    """What became of the calls under one fault of one object.

    Args:
        object_name: the object.
        fault_name: the fault.
        faults: the number of faults that happened.
        verdicts: by call, the number of each verdict.
        wrong: the silent wrong answers and crashes, at most `MAX_LISTED`: seed, call, verdict and
            problem.
    """

    object_name: str
    fault_name: str
    faults: int = 0
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: dict[str, Any]) -> None:
        """Add the document of another outcome of the same cell."""
        self.faults += other["faults"]
        for call, counts in other["verdicts"].items():
            self.verdicts[call].update(counts)
        self.wrong = [*self.wrong, *other["wrong"]][:MAX_LISTED]

    def document(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {**vars(self), "verdicts": {call: {**one} for call, one in self.verdicts.items()}}

    def count(self, *verdicts: str) -> int:
        """Return how many calls had one of the verdicts."""
        return sum(counts[one] for counts in self.verdicts.values() for one in verdicts)


def list_cells(object_names: Iterable[str] = (), fault_names: Iterable[str] = ()) -> list[str]:
    """Return the cells of some objects and faults, or of all, as `OBJECT FAULT`."""
    return [
        f"{target.name} {fault.name}"
        for target in OBJECTS.values()
        for fault in FAULTS.values()
        if target.name in (object_names or OBJECTS)
        and fault.name in (fault_names or FAULTS)
        and list_calls(target, fault)
    ]


def try_cells(
    cells: Iterable[str],
    tries: Callable[[str], range],
    folder: Path,
    workers: int,
    progress: Callable[[int], None] = lambda _: None,
) -> list[Outcome]:
    """Try the faults of cells in worker processes, and return the outcome of each.

    Without a C compiler, faults in use are left out.

    Args:
        cells: as `list_cells` returns them.
        tries: returns the seeds of a cell.
        folder: an empty folder, best in memory.
        workers: the number of processes.
        progress: called with the number of faults that happened.
    """
    shim = compile_shim(folder)
    outcomes = {f"{one} {fault}": Outcome(one, fault) for one, fault in map(str.split, cells)}
    tasks: SimpleQueue[tuple[str, int, int]] = SimpleQueue()
    for cell, outcome in outcomes.items():
        if shim is None and not FAULTS[outcome.fault_name].is_at_rest:
            continue
        seeds = tries(cell)
        size = len(seeds) if isinstance(FAULTS[outcome.fault_name], FaultInUse) else CHUNK
        for first in range(seeds.start, seeds.stop, size):
            tasks.put((cell, first, min(size, seeds.stop - first)))

    def work(number: int) -> None:
        with _Worker(folder / f"worker-{number}", shim) as worker:
            while True:
                try:
                    cell, first, count = tasks.get_nowait()
                except Empty:
                    return
                outcomes[cell].add(worker.try_faults(cell, first, count))
                progress(sum(one.faults for one in outcomes.values()))

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    return list(outcomes.values())


def choose_seeds(cell: str, tries: int) -> range:
    """Return the seeds of a cell of the whole matrix.

    Args:
        cell: as `list_cells` returns it.
        tries: how many a fault and an object of weight 1 get.
    """
    object_name, fault_name = cell.split()
    weight = OBJECTS[object_name].weight * FAULTS[fault_name].weight
    return range(max(2, round(tries * weight)))


class _Worker:
    """A process that tries faults."""

    def __init__(self, folder: Path, shim: Path | None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "reliability.matrix", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**build_environment(shim), "OPENBLAS_NUM_THREADS": "1"},
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._process.wait()

    def try_faults(self, cell: str, first: int, count: int) -> dict[str, Any]:
        """Try the faults of a cell, and return the document of its outcome."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{cell} {first} {count}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the worker ended in {cell} {first}"
        found: dict[str, Any] = json.loads(answer)
        return found


def try_faults(bench: Bench, object_name: str, fault_name: str, seeds: range) -> Outcome:
    """Try the faults of one cell.

    Args:
        bench: where.
        object_name: the object.
        fault_name: the fault.
        seeds: each decides one fault.
    """
    target, fault = OBJECTS[object_name], FAULTS[fault_name]
    outcome, calls = Outcome(object_name, fault_name), list_calls(target, fault)
    unmet: Counter[str] = Counter()
    left = (seed for seed in seeds if unmet[calls[seed % len(calls)]] < MAX_UNMET)
    chosen = left if isinstance(fault, FaultInUse) else seeds
    for seed, attempt in bench.try_faults(target, fault, chosen):
        if not attempt.is_met:
            unmet[calls[seed % len(calls)]] += 1
            continue
        outcome.faults += 1
        for name, verdict in attempt.verdicts.items():
            outcome.verdicts[name][verdict] += 1
            if verdict in (WRONG, CRASHED):
                problem = attempt.problems.get(name, "as the call before")
                outcome.wrong.append(
                    {"seed": seed, "call": name, "verdict": verdict, "problem": problem}
                )
    outcome.wrong = outcome.wrong[:MAX_LISTED]
    return outcome


def _serve(lines: Iterator[str], folder: Path) -> None:
    with closing(Bench(folder)) as bench:
        for line in lines:
            object_name, fault_name, first, count = line.split()
            seeds = range(int(first), int(first) + int(count))
            outcome = try_faults(bench, object_name, fault_name, seeds)
            sys.stdout.write(json.dumps(outcome.document()) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    assert sys.platform == "linux" or not Shim.is_loaded()
    _serve(iter(sys.stdin), Path(sys.argv[1]))
