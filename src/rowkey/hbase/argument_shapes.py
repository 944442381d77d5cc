"""Checks of the shape of arguments, so that a wrong one is no error from inside the client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rowkey.cells import check_family_name
from rowkey.errors import InvalidArgument
from rowkey.messages import format_value


def check_instance(path: str, value: object, expected: type | tuple[type, ...]) -> None:
    """Raise unless a value is an instance of a class."""
    if not isinstance(value, expected):
        classes = expected if isinstance(expected, tuple) else (expected,)
        what = f"{format_value(value)} has the type {type(value).__name__}"
        raise InvalidArgument(path, what, " or ".join(one.__name__ for one in classes))


def check_list(path: str, values: object, allowed: str) -> None:
    """Raise unless a value is a list, a tuple or another sequence that is no text or bytes.

    Args:
        path: the argument.
        allowed: what the list has to hold, for the message.
    """
    if isinstance(values, str | bytes | bytearray) or not isinstance(values, Sequence):
        what = f"{format_value(values)} has the type {type(values).__name__}"
        raise InvalidArgument(path, what, f"a list of {allowed}")


def check_column(family: Any, qualifier: object) -> None:
    """Raise unless a family and a qualifier can name a column; the server knows its families."""
    check_family_name(family)
    check_instance("qualifier", qualifier, bytes)


def check_changes(path: str, changes: Any, amount: str) -> None:
    """Raise unless the changes of an append or increment are of one column or more, each once.

    Args:
        path: the argument.
        changes: its value.
        amount: what follows the family and the qualifier of each change, for the message.

    Raises:
        InvalidArgument: one has another shape, there is none, or a column is named twice: a server
            would apply both to its value before the call.

    Source: HRegion.reckonDeltasByStore.
    """
    check_list(path, changes, f"tuples (family, qualifier, {amount})")
    if not changes:
        raise InvalidArgument(path, "the list is empty", "one column or more")
    columns = set()
    for change in changes:
        if not isinstance(change, tuple | list) or len(change) != 3:
            what = f"{format_value(change)} is not the change of a column"
            raise InvalidArgument(path, what, f"a tuple (family, qualifier, {amount})")
        family, qualifier, _ = change
        check_column(family, qualifier)
        if (family, qualifier) in columns:
            raise InvalidArgument(
                path,
                f"the column {family.encode() + b':' + qualifier!r} occurs twice",
                "each column once",
                "Combine the two changes of the column.",
            )
        columns.add((family, qualifier))
