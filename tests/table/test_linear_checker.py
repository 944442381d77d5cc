"""The checker itself: histories known to be right or wrong, and a search that tries all."""

from __future__ import annotations

from itertools import permutations
from random import Random
from typing import Any

import pytest

from table.linear_checker import Operation, is_linearizable
from table.linear_history import ABSENT, step


def at(start: float, stop: float, name: str, given: Any = None, result: Any = None) -> Operation:
    """An operation that took from one time to another."""
    return Operation(name, given, result, start, stop)


def row(a: Any = None, n: Any = None) -> tuple[Any, ...]:
    """The state of a row."""
    return (a, None, n, None)


RIGHT = {
    "nothing": [],
    "one after another": [
        at(0, 1, "put", {"a": 1}), at(2, 3, "get", None, row(1)), at(4, 5, "delete"),
        at(6, 7, "get", None, None),
    ],
    "a read beside a put sees either": [
        at(0, 10, "put", {"a": 1}), at(1, 2, "get", None, None), at(3, 4, "get", None, row(1)),
    ],
    "puts that overlap come in any order": [
        at(0, 10, "put", {"a": 1}), at(0, 10, "put", {"a": 2}), at(11, 12, "get", None, row(1)),
    ],
    "counts that overlap": [
        at(0, 10, "increment", 1, 2),
        at(0, 10, "increment", 1, 1),
        at(11, 12, "get", None, row(n=2)),
    ],
    "a check that fails beside the put that would let it hold": [
        at(0, 10, "put", {"a": 1}), at(1, 2, "check_and_put", (("a", 1), {"a": 2}), False),
    ],
}  # fmt: skip

WRONG = {
    "an acknowledged put is not seen": [
        at(0, 1, "put", {"a": 1}), at(2, 3, "put", {"a": 2}), at(4, 5, "get", None, row(1)),
    ],
    "an acknowledged delete is not seen": [
        at(0, 1, "put", {"a": 1}), at(2, 3, "delete"), at(4, 5, "get", None, row(1)),
    ],
    "a value is seen, and then an older one": [
        at(0, 10, "put", {"a": 1}), at(1, 2, "get", None, row(1)), at(3, 4, "get", None, None),
    ],
    "two counts are one": [at(0, 10, "increment", 1, 1), at(0, 10, "increment", 1, 1)],
    "a count does not see the one before": [
        at(0, 1, "increment", 5, 5), at(2, 3, "increment", 5, 5),
    ],
    "two checks of one value both hold": [
        at(0, 1, "put", {"a": 1}),
        at(2, 9, "check_and_put", (("a", 1), {"a": 2}), True),
        at(2, 9, "check_and_put", (("a", 1), {"a": 3}), True),
    ],
    "a check holds, and its put is nowhere": [
        at(0, 1, "put", {"a": 1}), at(2, 3, "check_and_put", (("a", 1), {"a": 2}), True),
        at(4, 5, "get", None, row(1)),
    ],
    "half of a replace is seen": [
        at(0, 1, "put", {"a": 1, "n": 1}), at(2, 5, "replace", {"a": 2}),
        at(3, 4, "get", None, row(2, 1)),
    ],
    "a value that nobody wrote": [at(0, 1, "get", None, row(7))],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_have_happened_is_found_right(name: str) -> None:
    """Some order explains it."""
    assert is_linearizable(RIGHT[name], step, ABSENT)


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_have_happened_is_found_wrong(name: str) -> None:
    """No order explains it, however it is noted."""
    for history in permutations(WRONG[name]):
        assert not is_linearizable(history, step, ABSENT)


def explained_by_trying(history: list[Operation]) -> bool:
    """Whether any order at all explains a history: the definition, taken at its word."""
    for order in permutations(history):
        if any(
            later.stop < earlier.start
            for place, earlier in enumerate(order)
            for later in order[place + 1 :]
        ):
            continue
        state: Any = ABSENT
        for one in order:
            is_possible, state = step(state, one)
            if not is_possible:
                break
        else:
            return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_it_agrees_with_trying_every_order(seed: int) -> None:
    """On histories of up to six operations with results that are drawn at random."""
    random, verdicts = Random(seed), set()
    for _ in range(30):
        history = []
        for _ in range(random.randint(2, 6)):
            start = random.randrange(10)
            stop = start + random.randint(1, 6)
            match random.choice(["get", "put", "increment", "delete", "check"]):
                case "get":
                    found = random.choice([None, row(1), row(2), row(n=1), row(1, 1)])
                    history.append(at(start, stop, "get", None, found))
                case "put":
                    history.append(at(start, stop, "put", {"a": random.randint(1, 2)}))
                case "increment":
                    history.append(at(start, stop, "increment", 1, random.randint(1, 2)))
                case "delete":
                    history.append(at(start, stop, "delete"))
                case "check":
                    check = (("a", random.choice([None, 1])), {"a": 2})
                    history.append(at(start, stop, "check_and_put", check, random.random() < 0.5))
        verdict = explained_by_trying(history)
        verdicts.add(verdict)
        assert verdict == is_linearizable(history, step, ABSENT), history
    assert {True, False} == verdicts
