"""What users of a portal may do."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from rowkey.errors import Mistake
from rowkey.messages import format_value

MAX_NAME_LENGTH = 64
"""Characters of the name of a user."""


class Role(IntEnum):
    """What a user may do; each role may do what those before it may."""

    VIEWER = 1
    """Sees everything."""
    DESIGNER = 2
    """Also writes design files."""
    OPERATOR = 3
    """Also changes tables."""

    @property
    def label(self) -> str:
        """The role as the users file has it."""
        return self.name.lower()


def find_role_mistake(path: str, value: Any) -> Iterator[Mistake]:
    """Yield what is wrong with the name of a role in a users file.

    Args:
        path: the key of the file.
    """
    roles = [role.label for role in Role]
    if value not in roles:
        yield Mistake(path, f"{format_value(value)} is not a role", f"one of {', '.join(roles)}")
