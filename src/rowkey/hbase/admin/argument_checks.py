"""Check the arguments of a call and collect all mistakes before anything is sent.

HBase accepts split keys in any order and attributes with any value, and some of them make a table
that can neither be used nor deleted, so they are refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from rowkey.cells import (
    ATTRIBUTES,
    Family,
    compute_max_split_bytes,
    find_family_mistakes,
    find_table_name_mistakes,
)
from rowkey.errors import InvalidArgument, InvalidDesign, Mistakes
from rowkey.hbase.admin.descriptors import (
    check_attributes,
    find_family_field,
    is_nonempty_text,
    is_utf8_encodable,
)
from rowkey.messages import format_value
from rowkey.regions import Boundaries

_MAX_WAIT_S: Final = 86_400.0
"""Most seconds to wait; more is probably a wrong unit. Source: as `operation_timeout_s`."""

_WAIT_TEXT: Final = f"a number from 0 to {_MAX_WAIT_S:,.0f}"


class ArgumentChecks:
    """Collect the mistakes in the arguments of one call; `raise_mistakes` raises them together.

    >>> ArgumentChecks().check_name("").check_seconds("soon").raise_mistakes()
    Traceback (most recent call last):
    rowkey.errors.InvalidDesign: name: '' is not a table name; expected a text that is not...
    wait_s: 'soon' is not a number of seconds; expected a number from 0 to 86,400.
    """

    __slots__ = ("mistakes",)

    def __init__(self) -> None:
        self.mistakes = Mistakes()

    def raise_mistakes(self) -> None:
        """Raise the collected mistakes, if there are any.

        Raises:
            InvalidArgument: there is one mistake.
            InvalidDesign: there are several mistakes.
        """
        if len(self.mistakes.mistakes) == 1:
            (one,) = self.mistakes.mistakes
            raise InvalidArgument(one.path, one.problem, one.expected, one.remedy)
        self.mistakes.raise_any()

    def check_name(self, value: object, path: str = "name", what: str = "table") -> Self:
        """Add a mistake unless the value is a non-empty text; HBase checks whether it exists."""
        if not isinstance(value, str) or not is_nonempty_text(value):
            self._add_mistake(
                path, f"{format_value(value)} is not a {what} name", "a text that is not empty"
            )
        elif not is_utf8_encodable(value):
            self._add_mistake(
                path, f"{format_value(value)} cannot be encoded as UTF-8", "valid Unicode text"
            )
        return self

    def check_bool(self, path: str, value: object) -> Self:
        """Add a mistake unless the value is a bool."""
        if not isinstance(value, bool):
            self._add_mistake(path, f"{format_value(value)} is not a bool", "True or False")
        return self

    def check_seconds(self, value: object, path: str = "wait_s") -> Self:
        """Add a mistake unless the value is a number of seconds, or None for the default."""
        if value is None:
            return self
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number:
            self._add_mistake(path, f"{format_value(value)} is not a number of seconds", _WAIT_TEXT)
        elif not 0 <= value <= _MAX_WAIT_S:  # type: ignore[operator]
            self._add_mistake(path, f"{format_value(value)} is out of range", _WAIT_TEXT)
        return self

    def check_row_key(self, path: str, value: object, max_bytes: int) -> Self:
        """Add a mistake unless the value is a row key of at most `max_bytes`."""
        if not isinstance(value, bytes):
            self._add_mistake(path, f"{format_value(value)} is not a row key", "bytes")
        elif len(value) > max_bytes:
            what = f"the row key has {len(value):,} bytes"
            self._add_mistake(path, what, f"1 to {max_bytes:,} bytes")
        return self

    def check_type(self, path: str, value: object, expected_type: type, what: str) -> Self:
        """Add a mistake unless the value is an instance of a class."""
        if not isinstance(value, expected_type):
            self._add_mistake(
                path, f"{format_value(value)} is not a {what}", f"a {expected_type.__name__}"
            )
        return self

    def check_callable(self, path: str, value: object) -> Self:
        """Add a mistake unless the value is None or callable."""
        if value is not None and not callable(value):
            self._add_mistake(path, f"{format_value(value)} cannot be called", "a function")
        return self

    def check_list(self, path: str, value: object, what: str) -> tuple[Any, ...]:
        """Return the items of a list; add a mistake for anything else, also for text and bytes."""
        if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
            return tuple(value)
        self._add_mistake(path, f"{format_value(value)} is not a list of {what}", "a list")
        return ()

    def check_mapping(self, path: str, value: object) -> Mapping[str, Any]:
        """Return a mapping; add a mistake and return an empty one for anything else."""
        if isinstance(value, Mapping):
            return value
        self._add_mistake(
            path, f"{format_value(value)} is not a mapping of names to values", "a mapping"
        )
        return {}

    def has_mistake(self, path: str) -> bool:
        """Return whether a mistake was added for this path."""
        return any(mistake.path == path for mistake in self.mistakes.mistakes)

    def _add_mistake(self, path: str, what: str, allowed: str) -> None:
        self.mistakes.add(path, what, allowed)


def collect_table_mistakes(
    checks: ArgumentChecks,
    name: str,
    families: Sequence[Family],
    splits: Sequence[bytes],
    attributes: Mapping[str, str],
    configuration: Mapping[str, str],
) -> None:
    """Collect every mistake in the name, families, split keys and attributes of a table.

    Source: each tried on HBase 2.6.4; TableDescriptorChecker.
    """
    mistakes, has_name = checks.mistakes, not checks.has_mistake("name")
    for mistake in find_table_name_mistakes(name) if has_name else ():
        mistakes.add_invalid_argument("name", mistake)
    if not families and not checks.has_mistake("families"):
        mistakes.add("families", "the table has no column families", "one family or more")
    collect_family_mistakes(mistakes, families)
    _collect_split_mistakes(mistakes, name if has_name and name.isascii() else "t", splits)
    collect_attribute_mistakes(mistakes, "attributes", attributes)
    collect_attribute_mistakes(mistakes, "configuration", configuration)
    for key in configuration:
        if key in attributes:
            what = "the same key is in attributes"
            mistakes.add(f"configuration.{key}", what, remedy="Remove one of the two.")


def collect_family_mistakes(mistakes: Mistakes, families: Sequence[object]) -> None:
    """Collect every mistake in families, including families that occur twice."""
    names = set()
    for index, family in enumerate(families):
        if not isinstance(family, Family) or not isinstance(family.name, str):
            mistakes.add(
                f"families[{index}]",
                f"{format_value(family)} is not a family",
                "a Family with a name",
            )
            continue
        path = f"families.{family.name[:80]}" if family.name else f"families[{index}]"
        if family.name in names:
            mistakes.add(path, "the family occurs twice", "each family once")
        names.add(family.name)
        for mistake in find_family_mistakes(family.name, _select_non_defaults(family)):
            mistakes.add_invalid_argument(path, mistake)


def _select_non_defaults(family: Family) -> dict[str, object]:
    """Return the attributes of a family that differ from their default, by design file key."""
    values = {row.key: getattr(family, find_family_field(row)) for row in ATTRIBUTES.values()}
    defaults = {row.key: row.default for row in ATTRIBUTES.values()}
    return {key: value for key, value in values.items() if value != defaults[key]}


def _collect_split_mistakes(mistakes: Mistakes, table: str, splits: Sequence[bytes]) -> None:
    untyped: Sequence[object] = splits
    wrong_types = [(i, key) for i, key in enumerate(untyped) if not isinstance(key, bytes)]
    for index, key in wrong_types:
        mistakes.add(f"splits[{index}]", f"{format_value(key)} is not a row key", "bytes")
    if wrong_types:
        return
    try:
        Boundaries(splits)
    except InvalidDesign as problem:
        mistakes.mistakes.extend(problem.mistakes)
    max_bytes = compute_max_split_bytes(table)
    for index, key in enumerate(splits):
        if len(key) > max_bytes:
            what = f"the split key has {len(key):,} bytes"
            allowed = f"1 to {max_bytes:,} bytes with this table name"
            mistakes.add(f"splits[{index}]", what, allowed)


def collect_attribute_mistakes(
    mistakes: Mistakes, path: str, attributes: Mapping[str, object]
) -> None:
    """Collect every mistake in the attributes of a table."""
    for mistake in check_attributes(attributes):
        mistakes.add_invalid_argument(path, mistake)
