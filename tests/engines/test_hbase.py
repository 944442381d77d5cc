from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from engines import steps, strategies
from engines.benches import BENCHES
from engines.book import Book
from engines.differences import DIFFERENCES, find_needless
from engines.hbase.bench import HBaseBench
from engines.hbase.exclusions import EXCLUDED_TESTS, NEEDS_WHOLE_TABLE
from engines.hbase.pacing import PacedTables
from engines.hbase.slots import Slots
from engines.test_machine import Machine

if TYPE_CHECKING:
    from rowkey.cells import Family
    from rowkey.engines import Engine

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
EXAMPLES, LENGTH = (30, 40) if LONG else (6, 20)
SPARE = 1.5
"""Extra examples for each test, since Hypothesis ends some early."""
SHAPES = strategies.SHAPES if LONG else strategies.SHAPES[::8]
LAYOUTS = strategies.LAYOUTS
CHANGES = steps.Mutate | steps.Increment | steps.Append | steps.CheckAndMutate
OURS = {steps.Reopen, steps.Alter, steps.Flush, steps.Merge, steps.Keep, steps.Recall}
"""Steps that HBase is not asked for: a cluster is not started anew, a part of a table cannot be
altered or snapped, and a flush drops what is hidden as far as it is in memory."""
pauses = st.builds(steps.Advance, st.sampled_from((1, 300, 700, 1_200)))
settling = st.just(steps.Settle())
upkeep = st.one_of(pauses, pauses, settling, settling, strategies.divisions)


class HBaseMachine(Machine):
    """Takes random steps on a real HBase and in the book."""

    paces: list[PacedTables]
    """Those of all runs of one test."""

    @initialize(
        families=st.sampled_from(SHAPES),
        splits=strategies.splits,
        back=st.sampled_from((0, 1_000, 3_500)),
    )
    def create(self, families: tuple[Family, ...], splits: tuple[bytes, ...], back: int) -> None:
        """Create a part of a table and an empty book, with a start in the past."""
        self.history: list[steps.Step] = []
        start = self.bench.now() - back
        self.engine = steps.World(self.bench.create(families, splits), self.bench, start)
        self.book = steps.World(Book(families, lambda: self.pace.at, splits), None, start)
        self.pace = PacedTables(self.engine, self.book)
        self.paces.append(self.pace)

    def compare(self, step: steps.Step) -> None:
        """Take a step on both and compare the outcomes."""
        if isinstance(step, steps.Divide | steps.Settle):
            for sentinel in self.pace.sentinels(step):
                self.compare(sentinel)
        step = self.pace.keep_marks_apart(self.pace.drop_ttls(step))
        self.history.append(step)
        expected, actual = self._both(step)
        assert expected == actual

    def _both(self, step: steps.Step) -> tuple[object, object]:
        if isinstance(step, steps.Get | steps.Scan):
            return self.pace.read(step)
        if isinstance(step, steps.Divide):
            settled = self.pace.settle(steps.Settle())
            assert settled[0] == settled[1]
        if isinstance(step, steps.Divide | steps.Settle):
            return self.pace.settle(step)
        if isinstance(step, steps.Advance):
            return None, steps.take_step(step, self.engine)
        assert isinstance(step, CHANGES)
        return self.pace.write(step, step.row)

    @rule(step=upkeep)
    def keep_up(self, step: steps.Step) -> None:
        """Let time pass, flush and compact, or split."""
        self.do(step)

    def keep_up_again(self, step: steps.Step) -> None:
        """Do nothing, since maintenance takes a second."""

    def _compare_counts(self) -> None:
        """Compare regions; HBase counts a mutation of puts and deletes twice."""
        expected = [region.start for region in self.book.store.list_regions()]
        assert expected == [region.start for region in self.engine.store.list_regions()]


def test_hbase_gives_the_same_results_as_the_reference_model(hbase_engine: Engine) -> None:
    """A real HBase gives the same results as the reference book for random steps."""
    bench = HBaseBench(hbase_engine, Slots(hbase_engine), LAYOUTS)
    taken: Counter[str] = Counter()
    paces: list[PacedTables] = []
    kind = type("On", (HBaseMachine,), {"bench": bench, "taken": taken, "paces": paces})
    depth = settings(
        max_examples=int(SPARE * EXAMPLES), stateful_step_count=LENGTH, phases=(Phase.generate,)
    )
    run_state_machine_as_test(kind, settings=depth)
    assert {kind.__name__ for kind in set(steps.Step.__subclasses__()) - OURS} == set(taken)
    assert taken.total() >= EXAMPLES * LENGTH
    assert max(pace.longest_s for pace in paces) < 2


def test_every_listed_difference_still_exists_on_hbase(
    hbase_engine: Engine, tmp_path: Path
) -> None:
    """Each listed difference still exists on a real HBase."""
    slots = Slots(hbase_engine)
    here = BENCHES["memory"](tmp_path / "place")
    start = here.now()

    def on_engine(families: tuple[Family, ...]) -> steps.World:
        return steps.World(here.create(families), here, start)

    def there(families: tuple[Family, ...]) -> steps.World:
        bench = HBaseBench(hbase_engine, slots, [()])
        return steps.World(bench.create(families), bench, start)

    assert [] == find_needless(DIFFERENCES, on_engine, there)
    planted = replace(DIFFERENCES[0], steps=DIFFERENCES[0].steps[1:])
    assert [planted] == find_needless([planted], on_engine, there)
    here.close()


def test_replayed_steps_of_every_listed_difference_give_equal_results(
    hbase_engine: Engine,
) -> None:
    """A replay on HBase and on the model changes the steps that would differ."""
    bench = HBaseBench(hbase_engine, Slots(hbase_engine), [()])
    kind = type("On", (HBaseMachine,), {"bench": bench, "taken": Counter(), "paces": []})
    for one in DIFFERENCES:
        machine = kind()
        machine.create(families=one.families, splits=(), back=0)
        for step in one.steps:
            machine.compare(step)


def test_every_test_excluded_from_hbase_exists() -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    names = {*EXCLUDED_TESTS, *NEEDS_WHOLE_TABLE}
    assert names == {name for name in names if any(f"def {name}(" in text for text in texts)}
