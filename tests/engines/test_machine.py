from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from engines import steps, strategies
from engines.benches import BENCHES
from engines.book import Book
from ramdisk import RAM_FOLDER
from rowkey.engines import ScanRange

if TYPE_CHECKING:
    from engines.benches import Bench
    from rowkey.cells import Family

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EXAMPLES, LENGTH = (500, 100) if LONG else (4, 50)
SPARE = 1.4
"""Extra examples for each test, since Hypothesis ends some early."""


class Machine(RuleBasedStateMachine):
    """Takes random steps on an engine and in the book, and compares the outcomes."""

    bench: Bench
    """Set by the test that runs it."""
    taken: Counter[str]
    """How many steps of each kind all runs of one test have taken."""

    @initialize(families=strategies.shapes, splits=strategies.splits)
    def create(self, families: tuple[Family, ...], splits: tuple[bytes, ...]) -> None:
        """Create a table and an empty book."""
        start = self.bench.now()
        self.history: list[steps.Step] = []
        self.engine = steps.World(self.bench.create(families, splits), self.bench, start)
        self.book = steps.World(Book(families, self.bench.now, splits), None, start)

    def do(self, step: steps.Step) -> None:
        """Take a step."""
        self.taken[type(step).__name__] += 1
        self.compare(step)

    def compare(self, step: steps.Step) -> None:
        """Take a step on both and compare the outcomes."""
        self.history.append(step)
        in_book = steps.take_step(step, self.book)
        assert in_book == steps.take_step(step, self.engine)

    @rule(step=strategies.mutations)
    def put(self, step: steps.Step) -> None:
        """Put cells."""
        self.do(step)

    @rule(step=strategies.mutations)
    def put_again(self, step: steps.Step) -> None:
        """Put cells, so that puts are twice as frequent."""
        self.do(step)

    @rule(step=strategies.removals)
    def delete(self, step: steps.Step) -> None:
        """Delete cells."""
        self.do(step)

    @rule(step=strategies.mixtures)
    def mix(self, step: steps.Step) -> None:
        """Put and delete in one mutation."""
        self.do(step)

    @rule(step=strategies.computations)
    def compute(self, step: steps.Step) -> None:
        """Increment, append, or check and mutate."""
        self.do(step)

    @rule(step=strategies.computations)
    def compute_again(self, step: steps.Step) -> None:
        """Compute, so that each operation is as frequent as a put."""
        self.do(step)

    @rule(step=strategies.gets)
    def get(self, step: steps.Step) -> None:
        """Read rows."""
        self.do(step)

    @rule(step=strategies.scans)
    def scan(self, step: steps.Step) -> None:
        """Read ranges."""
        self.do(step)

    @rule(step=strategies.scans)
    def scan_again(self, step: steps.Step) -> None:
        """Read ranges, so that scans are twice as frequent."""
        self.do(step)

    @rule(step=strategies.upkeep)
    def keep_up(self, step: steps.Step) -> None:
        """Let time pass, flush, compact, alter, split, or reopen."""
        self.do(step)

    @rule(step=strategies.upkeep)
    def keep_up_again(self, step: steps.Step) -> None:
        """Take maintenance steps, which makes them twice as frequent."""
        self.do(step)

    def teardown(self) -> None:
        """Compare all stored cells and the counts of the regions."""
        if not hasattr(self, "engine"):
            return
        whole = (ScanRange(),)
        self.compare(steps.Scan(whole, steps.Selection(versions=9)))
        self.compare(steps.Scan(whole, steps.EVERYTHING))
        self._compare_counts()
        steps.close_snapshot(self.engine)
        self.engine.bench.drop(self.engine.store)

    def _compare_counts(self) -> None:
        """Compare regions and their counts, unless a split has halved some counts."""
        expected, actual = self.book.store.list_regions(), self.engine.store.list_regions()
        if any(isinstance(step, steps.Divide) for step in self.history):
            assert _sum_counts(expected) == _sum_counts(actual)
        else:
            assert expected == actual


def _sum_counts(regions: list[Any]) -> tuple[list[bytes], int, int]:
    starts = [region.start for region in regions]
    return starts, sum(one.writes for one in regions), sum(one.reads for one in regions)


def run_machine(bench: Bench, examples: int, length: int) -> Counter[str]:
    """Run the machine on a bench, and return how many steps of each type were taken."""
    taken: Counter[str] = Counter()
    kind = type("On", (Machine,), {"bench": bench, "taken": taken})
    depth = settings(max_examples=int(SPARE * examples), stateful_step_count=length)
    run_state_machine_as_test(kind, settings=depth)
    return taken


@pytest.mark.parametrize("name", BENCHES)
def test_an_engine_gives_the_same_results_as_the_reference_model(name: str) -> None:
    """An engine gives the same results as the reference book for random steps."""
    with TemporaryDirectory(dir=RAM_FOLDER) as place:
        bench = BENCHES[name](Path(place) / "tables")
        try:
            taken = run_machine(bench, EXAMPLES, LENGTH)
        finally:
            bench.close()
    assert {kind.__name__ for kind in steps.Step.__subclasses__()} == set(taken)
    assert taken.total() >= EXAMPLES * LENGTH
