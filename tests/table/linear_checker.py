"""Whether what several threads saw of one row can have happened in some order, one after another.

The algorithm is that of Wing and Gong with Lowe's memory of states, as porcupine and Knossos have
it: operations are tried in an order that respects who ended before whom began; what is reached once
with the same operations done and the same state is not tried again.

Source: Wing and Gong 1993, "Testing and Verifying Concurrent Objects"; Lowe 2017, "Testing for
Linearizability"; the linked list is that of anishathalye/porcupine, checker.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    Step = Callable[[Any, "Operation"], tuple[bool, Any]]
    """Whether an operation may have had its result in a state, and the state after it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What one thread did to one row.

    Args:
        name: the operation.
        given: what it was given.
        result: what it gave.
        start: when it began, by a clock that all threads share.
        stop: when it had ended.
        thread: which thread did it.
    """

    name: str
    given: Any
    result: Any
    start: float
    stop: float
    thread: int = 0


@dataclass(slots=True)
class _Event:
    """The beginning or the end of an operation, in a list of those that are still to be placed."""

    number: int
    end: _Event | None = None
    before: _Event | None = field(default=None, repr=False)
    after: _Event | None = field(default=None, repr=False)


def is_linearizable(history: Sequence[Operation], step: Step, initial: Hashable) -> bool:
    """Return whether some order explains all results of a history.

    Args:
        history: what was done, in any order.
        step: the model.
        initial: its first state.

    Cost: about 5 µs an operation where few overlap; exponential in those that overlap at worst.
    """
    head, state, placed = _linked(history), initial, 0
    seen: set[tuple[int, Any]] = set()
    path: list[tuple[_Event, Any]] = []
    event = head.after
    while head.after is not None:
        assert event is not None
        if event.end is not None:
            is_possible, reached = step(state, history[event.number])
            now = placed | 1 << event.number
            if is_possible and (now, reached) not in seen:
                seen.add((now, reached))
                path.append((event, state))
                state, placed = reached, now
                _lift(event)
                event = head.after
            else:
                event = event.after
        else:  # an operation ended that could not be placed before
            if not path:
                return False
            event, state = path.pop()
            placed &= ~(1 << event.number)
            _put_back(event)
            event = event.after
    return True


def _linked(history: Sequence[Operation]) -> _Event:
    """The events in the order of their times, behind a head; beginnings first of one time."""
    times: list[tuple[float, int, _Event]] = []
    for number, one in enumerate(history):
        end = _Event(number)
        times.append((one.start, 0, _Event(number, end)))
        times.append((one.stop, 1, end))
    last = head = _Event(-1)
    for _, _, event in sorted(times, key=lambda item: item[:2]):
        last.after, event.before = event, last
        last = event
    return head


def _lift(event: _Event) -> None:
    """Take the beginning and the end of an operation out of the list."""
    for one in (event, event.end):
        assert one is not None
        assert one.before is not None
        one.before.after = one.after
        if one.after is not None:
            one.after.before = one.before


def _put_back(event: _Event) -> None:
    """Put them back where they were."""
    for one in (event.end, event):
        assert one is not None
        assert one.before is not None
        one.before.after = one
        if one.after is not None:
            one.after.before = one
