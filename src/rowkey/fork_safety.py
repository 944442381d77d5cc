"""Resources that a forked child process inherits and must not use as they are.

A lock that another thread held during the fork stays locked forever in the child, and the work of
that thread is never finished there.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Final, Protocol
from weakref import WeakSet

from rowkey.errors import Closed

STATE_INHERITED: Final = "inherited"
"""The state of a resource that was opened before this process was forked."""


class ForkAware(Protocol):
    """A resource with locks, threads, sockets or files, which a forked child cannot use."""

    def reset_in_child(self) -> None:
        """Restart, or refuse every later use, in a forked child; must not take a lock."""


_registered_resources: Final[WeakSet[ForkAware]] = WeakSet()


def register_resource(resource: ForkAware) -> None:
    """Have a resource reset in every process that is forked while the resource exists.

    Cost: 1 µs; the reference is weak.
    """
    _registered_resources.add(resource)


def build_inherited_error(name: str) -> Closed:
    """Return the error of a table or engine that was opened before the fork."""
    problem = f"{name} was opened before this process was forked, and belongs to its parent process"
    return Closed("table", problem, remedy="Open it again in this process.")


def _reset_resources() -> None:
    """Reset all registered resources in a child process right after the fork."""
    with ExitStack() as stack:  # if one of them raises, the others are still reset
        for resource in list(_registered_resources):
            stack.callback(resource.reset_in_child)


os.register_at_fork(after_in_child=_reset_resources)
