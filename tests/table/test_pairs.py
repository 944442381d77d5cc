"""With two clients and bucket changes, a table still equals a dictionary."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from ramdisk import RAM_FOLDER
from table import test_machine
from table.pairs import COUNTS, DESIGNS, ClientPair, RisingClock

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
LENGTH = 60 if IS_LONG else 30
EXAMPLES = dict.fromkeys(("memory", "rocks"), 20 if IS_LONG else 1)
"""Examples of each design, by engine."""


class Machine(test_machine.Machine):
    """The steps of a table by either of two clients, and those of a bucket change."""

    both: ClientPair

    @initialize()
    def create(self) -> None:
        """Create a table with two clients."""
        self.place = TemporaryDirectory(dir=RAM_FOLDER)
        self.both = ClientPair(
            self.name, f"{self.scheme}:{self.place.name}", RisingClock(moves=True)
        )

    @rule()
    def turn(self) -> None:
        """Continue with the other client."""
        self.both.turn()

    @rule()
    def renew(self) -> None:
        """Let a client read of a change early."""
        self.both.renew()

    @rule(count=st.sampled_from(COUNTS), part=st.integers(0, 1))
    def announce(self, count: int, part: int) -> None:
        """Begin a change."""
        self.both.announce(count, part)

    @rule(seconds=st.sampled_from([1.0, 25.0, 59.0, 70.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.both.wait(seconds)

    @rule()
    def finish(self) -> None:
        """End a change."""
        self.both.finish()

    @rule(limit=st.integers(1, 4), count=st.sampled_from(COUNTS), falls=st.booleans())
    def go_on(self, limit: int, count: int, falls: bool) -> None:
        """Continue a scan after a change."""
        self.both.go_on(limit, count, falls=falls)


@pytest.mark.usefixtures("short_clock_wait")
@pytest.mark.parametrize("scheme", EXAMPLES)
def test_two_clients_of_a_table_behave_as_a_dictionary_during_bucket_changes(scheme: str) -> None:
    """In any order of steps of two clients and of changes, no row is lost or doubled."""
    compared: set[str] = set()
    depth = settings(max_examples=EXAMPLES[scheme], stateful_step_count=LENGTH)
    for name in DESIGNS:
        words = {"scheme": scheme, "name": name, "compared": compared}
        run_state_machine_as_test(type("Amid", (Machine,), words), settings=depth)
    assert set(DESIGNS) == compared
