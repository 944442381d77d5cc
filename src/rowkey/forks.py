"""What a forked child does with what it inherits from its parent.

A lock that another thread held at the fork is held forever in the child, and what that thread was
doing there is never finished.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Final, Protocol
from weakref import WeakSet

from rowkey.errors import Refused

INHERITED: Final = "inherited"
"""The state of something that was opened before this process was forked."""


class ForkAware(Protocol):
    """Something with locks, threads, sockets or files that a child cannot simply go on using."""

    def reset_in_child(self) -> None:
        """In a forked child: begin again, or refuse from now on; takes no lock."""


_RESOURCES: Final[WeakSet[ForkAware]] = WeakSet()


def register(resource: ForkAware) -> None:
    """Have a resource reset in every process that is forked while it lives.

    Cost: 1 µs; it is referenced weakly.
    """
    _RESOURCES.add(resource)


def inherited_error(name: str) -> Refused:
    """Return the refusal to use something that was opened before a fork."""
    what = f"{name} was opened before this process was forked, and belongs to its parent"
    return Refused("table", what, "what this process opened itself", "Open it here.")


def _reset_all() -> None:
    with ExitStack() as stack:  # whatever one of them raises, the others are reset
        for resource in list(_RESOURCES):
            stack.callback(resource.reset_in_child)


os.register_at_fork(after_in_child=_reset_all)
