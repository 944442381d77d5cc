from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from ramdisk import RAM_FOLDER
from table.machine import COLUMNS, DESIGNS, HOSTS, IDENTITY, LEVELS, TIMES, Clock, TableAndModel

if TYPE_CHECKING:
    from table.worlds import Row

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
LENGTH = 50 if IS_LONG else 30
EXAMPLES = dict.fromkeys(("memory", "rocks"), 30 if IS_LONG else 1)
"""Examples of each of the ten designs, by engine."""

wheres = st.fixed_dictionaries(
    {"host": st.sampled_from(HOSTS), "level": st.sampled_from(LEVELS), "ts": st.sampled_from(TIMES)}
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "note": st.sampled_from([None, "", "x", "yy"]),
    "size": st.none() | st.integers(0, 3),
    "hits": st.none() | st.integers(-2, 3),
}
parts = st.fixed_dictionaries({}, optional=VALUES)
rows = st.builds(lambda where, part: where | part, wheres, parts)
changes = st.tuples(st.sampled_from(["put", "put", "replace", "delete", "wrong"]), rows)


def _to_change(change: tuple[str, Row]) -> tuple[str, Row]:
    """Return a change for a batch; a delete has only the identity of its row."""
    kind, row = change
    return (kind, {name: row[name] for name in IDENTITY}) if kind == "delete" else change


class Machine(RuleBasedStateMachine):
    """Takes the same steps in a table and in a dictionary, and compares both."""

    scheme: ClassVar[str]
    name: ClassVar[str]
    """The engine and the design, set by the test that runs it."""
    compared: ClassVar[set[str]]
    """The designs whose tables were compared whole."""

    @initialize(moves=st.booleans())
    def create(self, moves: bool) -> None:
        """Create a table with a constant or a rising clock."""
        self.place = TemporaryDirectory(dir=RAM_FOLDER)
        self.both = TableAndModel(self.name, f"{self.scheme}:{self.place.name}", Clock(moves))

    @rule(row=rows)
    def put(self, row: Row) -> None:
        """Put some fields."""
        self.both.put(row)

    @rule(row=rows)
    def put_again(self, row: Row) -> None:
        """Put some fields, so that puts are twice as frequent as other steps."""
        self.both.put(row)

    @rule(row=rows)
    def replace(self, row: Row) -> None:
        """Replace a row."""
        self.both.replace(row)

    @rule(where=wheres, part=parts)
    def delete_then_put(self, where: Row, part: Row) -> None:
        """Delete a row and put it at once."""
        self.both.delete(where)
        self.both.get([where])
        self.both.put(where | part)
        self.both.get([where])

    @rule(where=wheres)
    def delete(self, where: Row) -> None:
        """Delete a row."""
        self.both.delete(where)

    @rule(where=wheres, other=wheres, name=st.sampled_from(IDENTITY), part=parts)
    def move(self, where: Row, other: Row, name: str, part: Row) -> None:
        """Move a row."""
        self.both.move(where, {name: other[name]} | _select_whole_columns(part))

    @rule(where=wheres, amount=st.integers(-3, 3))
    def increment(self, where: Row, amount: int) -> None:
        """Increment a counter."""
        self.both.increment(where, amount)

    @rule(where=wheres, piece=st.sampled_from(["", "a", "ÿ"]))
    def append(self, where: Row, piece: str) -> None:
        """Append a text."""
        self.both.append(where, piece)

    @rule(row=rows, expected=VALUES["hits"])
    def check_and_put(self, row: Row, expected: int | None) -> None:
        """Put a row on a condition."""
        self.both.check_and_put(row, expected)

    @rule(listed=st.lists(changes.map(_to_change), max_size=12), size=st.integers(1, 5))
    def batch(self, listed: list[tuple[str, Row]], size: int) -> None:
        """Make several changes together."""
        self.both.batch(listed, size)

    @rule(listed=st.lists(rows, max_size=6))
    def load(self, listed: list[Row]) -> None:
        """Load Arrow columns, with one row of each identity."""
        self.both.load(list({tuple(row[n] for n in IDENTITY): row for row in listed}.values()))

    @rule(row=rows)
    def fail(self, row: Row) -> None:
        """Make changes that are refused."""
        self.both.fail(row)

    @rule(listed=st.lists(wheres, min_size=1, max_size=4))
    def get(self, listed: list[Row]) -> None:
        """Get rows."""
        self.both.get(listed)

    @rule(host=st.sampled_from(HOSTS), falls=st.booleans(), limit=st.integers(0, 5))
    def scan(self, host: str, falls: bool, limit: int) -> None:
        """Scan a host."""
        self.both.scan(host, limit, falls=falls)

    @rule(what=st.sampled_from(["flush", "compact", "reopen", "wait", "compare"]))
    def keep_up(self, what: str) -> None:
        """Flush, compact, reopen, let time pass, or compare all rows."""
        both = self.both
        {"flush": both.table.flush, "compact": both.table.compact, "reopen": both.reopen,
         "wait": both.pass_time, "compare": both.compare}[what]()  # fmt: skip

    def teardown(self) -> None:
        """Compare the whole table with the dictionary at the end."""
        if not hasattr(self, "both"):
            return
        try:
            self.both.compare()
            self.compared.add(self.name)
        finally:
            self.both.close()
            self.place.cleanup()


def _select_whole_columns(part: Row) -> Row:
    """Return all columns or none, since a move changes complete rows and packs."""
    return part if part.keys() >= set(COLUMNS) else {}


@pytest.mark.usefixtures("short_clock_wait")
@pytest.mark.parametrize("scheme", EXAMPLES)
def test_a_table_behaves_as_a_dictionary_of_rows(scheme: str) -> None:
    """After any steps in any order, the table holds what a dictionary holds."""
    compared: set[str] = set()
    depth = settings(max_examples=EXAMPLES[scheme], stateful_step_count=LENGTH)
    for name in DESIGNS:
        words = {"scheme": scheme, "name": name, "compared": compared}
        run_state_machine_as_test(type("On", (Machine,), words), settings=depth)
    assert set(DESIGNS) == compared
