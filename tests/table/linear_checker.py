"""Check whether the observations of several threads fit one order of their operations.

The algorithm is that of Wing and Gong with Lowe's memory of states, as porcupine and Knossos have
it: operations are tried in orders in which each begins before those that began after its end; a
state that was reached with the same operations is not tried again.

Source: Wing and Gong 1993, "Testing and Verifying Concurrent Objects"; Lowe 2017, "Testing for
Linearizability"; the linked list is that of anishathalye/porcupine, checker.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Step = Callable[[Any, "Operation"], tuple[bool, Any]]
    """Whether an operation may have had its result in a state, and the state after it."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of one thread on one row.

    Args:
        name: the operation.
        given: the arguments.
        result: the result.
        start: the time of its beginning, by a clock that all threads share.
        stop: the time after its end.
        thread: the number of the thread.
    """

    name: str
    given: Any
    result: Any
    start: float
    stop: float
    thread: int = 0


@dataclass(slots=True)
class _Event:
    """The beginning or the end of an operation that has no place in the order yet."""

    number: int
    end: _Event | None = None
    before: _Event | None = field(default=None, repr=False)
    after: _Event | None = field(default=None, repr=False)


def is_linearizable(history: Sequence[Operation], step: Step, initial: Hashable) -> bool:
    """Return whether some order explains all results of a history.

    Args:
        history: the operations in any order.
        step: the model.
        initial: the first state of the model.

    Cost: about 5 µs an operation where few overlap; exponential in those that overlap at worst.
    """
    head, state, placed = _link_events(history), initial, 0
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
                _unlink(event)
                event = head.after
            else:
                event = event.after
        else:  # an operation ended that could not be placed before
            if not path:
                return False
            event, state = path.pop()
            placed &= ~(1 << event.number)
            _relink(event)
            event = event.after
    return True


def _link_events(history: Sequence[Operation]) -> _Event:
    """Return the events as a linked list in order of time, beginnings before ends."""
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


def _unlink(event: _Event) -> None:
    """Remove the beginning and the end of an operation from the list."""
    for one in (event, event.end):
        assert one is not None
        assert one.before is not None
        one.before.after = one.after
        if one.after is not None:
            one.after.before = one.before


def _relink(event: _Event) -> None:
    """Insert the beginning and the end of an operation where they were."""
    for one in (event.end, event):
        assert one is not None
        assert one.before is not None
        one.before.after = one
        if one.after is not None:
            one.after.before = one
