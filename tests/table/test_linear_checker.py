"""The checker agrees with known histories and with a search through all orders."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from table.linear_checker import Operation, is_linearizable
from table.linear_history import ABSENT, apply_operation


def make_operation(
    start: float, stop: float, name: str, given: Any = None, result: Any = None
) -> Operation:
    """Return an operation from one time to another."""
    return Operation(name, given, result, start, stop)


def make_state(a: Any = None, n: Any = None) -> tuple[Any, ...]:
    """Return the state of a row."""
    return (a, None, n, None)


LINEARIZABLE_HISTORIES = {
    "nothing": [],
    "one after another": [
        make_operation(0, 1, "put", {"a": 1}),
        make_operation(2, 3, "get", None, make_state(1)),
        make_operation(4, 5, "delete"),
        make_operation(6, 7, "get", None, None),
    ],
    "a read beside a put sees either": [
        make_operation(0, 10, "put", {"a": 1}),
        make_operation(1, 2, "get", None, None),
        make_operation(3, 4, "get", None, make_state(1)),
    ],
    "puts that overlap come in any order": [
        make_operation(0, 10, "put", {"a": 1}),
        make_operation(0, 10, "put", {"a": 2}),
        make_operation(11, 12, "get", None, make_state(1)),
    ],
    "counts that overlap": [
        make_operation(0, 10, "increment", 1, 2),
        make_operation(0, 10, "increment", 1, 1),
        make_operation(11, 12, "get", None, make_state(n=2)),
    ],
    "a check that fails beside the put that would let it hold": [
        make_operation(0, 10, "put", {"a": 1}),
        make_operation(1, 2, "check_and_put", (("a", 1), {"a": 2}), False),
    ],
}

VIOLATIONS = {
    "an acknowledged put is not seen": [
        make_operation(0, 1, "put", {"a": 1}),
        make_operation(2, 3, "put", {"a": 2}),
        make_operation(4, 5, "get", None, make_state(1)),
    ],
    "an acknowledged delete is not seen": [
        make_operation(0, 1, "put", {"a": 1}),
        make_operation(2, 3, "delete"),
        make_operation(4, 5, "get", None, make_state(1)),
    ],
    "a value is seen, and then an older one": [
        make_operation(0, 10, "put", {"a": 1}),
        make_operation(1, 2, "get", None, make_state(1)),
        make_operation(3, 4, "get", None, None),
    ],
    "two counts are one": [
        make_operation(0, 10, "increment", 1, 1),
        make_operation(0, 10, "increment", 1, 1),
    ],
    "a count does not see the one before": [
        make_operation(0, 1, "increment", 5, 5),
        make_operation(2, 3, "increment", 5, 5),
    ],
    "two checks of one value both hold": [
        make_operation(0, 1, "put", {"a": 1}),
        make_operation(2, 9, "check_and_put", (("a", 1), {"a": 2}), True),
        make_operation(2, 9, "check_and_put", (("a", 1), {"a": 3}), True),
    ],
    "a check holds, and its put is nowhere": [
        make_operation(0, 1, "put", {"a": 1}),
        make_operation(2, 3, "check_and_put", (("a", 1), {"a": 2}), True),
        make_operation(4, 5, "get", None, make_state(1)),
    ],
    "half of a replace is seen": [
        make_operation(0, 1, "put", {"a": 1, "n": 1}),
        make_operation(2, 5, "replace", {"a": 2}),
        make_operation(3, 4, "get", None, make_state(2, 1)),
    ],
    "a value that nobody wrote": [make_operation(0, 1, "get", None, make_state(7))],
}


@pytest.mark.parametrize("name", LINEARIZABLE_HISTORIES)
def test_a_history_that_some_order_explains_is_accepted(name: str) -> None:
    assert is_linearizable(LINEARIZABLE_HISTORIES[name], apply_operation, ABSENT)


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_history_that_no_order_explains_is_rejected(name: str) -> None:
    """A history that no order explains is rejected, in any notation order."""
    for history in permutations(VIOLATIONS[name]):
        assert not is_linearizable(history, apply_operation, ABSENT)


def is_linearizable_by_trying(history: list[Operation]) -> bool:
    """Return whether any order explains a history, by trying all orders."""
    for order in permutations(history):
        if any(
            later.stop < earlier.start
            for place, earlier in enumerate(order)
            for later in order[place + 1 :]
        ):
            continue
        state: Any = ABSENT
        for one in order:
            is_possible, state = apply_operation(state, one)
            if not is_possible:
                break
        else:
            return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_the_checker_agrees_with_trying_every_order(seed: int) -> None:
    """The checker agrees with trying all orders on random histories of up to six operations."""
    random, verdicts = Random(seed), set()
    for _ in range(30):
        history = []
        for _ in range(random.randint(2, 6)):
            start = random.randrange(10)
            stop = start + random.randint(1, 6)
            match random.choice(["get", "put", "increment", "delete", "check"]):
                case "get":
                    found = random.choice(
                        [None, make_state(1), make_state(2), make_state(n=1), make_state(1, 1)]
                    )
                    history.append(make_operation(start, stop, "get", None, found))
                case "put":
                    history.append(make_operation(start, stop, "put", {"a": random.randint(1, 2)}))
                case "increment":
                    history.append(
                        make_operation(start, stop, "increment", 1, random.randint(1, 2))
                    )
                case "delete":
                    history.append(make_operation(start, stop, "delete"))
                case "check":
                    check = (("a", random.choice([None, 1])), {"a": 2})
                    history.append(
                        make_operation(start, stop, "check_and_put", check, random.random() < 0.5)
                    )
        verdict = is_linearizable_by_trying(history)
        verdicts.add(verdict)
        assert verdict == is_linearizable(history, apply_operation, ABSENT), history
    assert {True, False} == verdicts
