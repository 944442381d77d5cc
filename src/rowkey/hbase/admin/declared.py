"""What is wrong with the arguments of a call, all of it at once, before anything is sent.

HBase takes splits in any order and attributes of any value, and some of them leave a table that can
be neither used nor deleted: so all of it is refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

from rowkey.cells import ATTRIBUTES, Family, check_family, check_table, longest_split
from rowkey.errors import DeclarationError, Mistakes, Refused, shown
from rowkey.hbase.admin.descriptors import field_of
from rowkey.hbase.admin.words import check_words, is_text, is_writable
from rowkey.regions import Boundaries

if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS_MOST: Final = 86_400.0
"""Most seconds to wait: who waits longer has mistaken the unit. Source: as `operation_s`."""


class Given:
    """The arguments of one call: each check notes what is wrong, `refuse` tells all of it.

    >>> Given().name("").seconds("soon").refuse()
    Traceback (most recent call last):
    rowkey.errors.DeclarationError: name: '' is no name of a table; expected a text that is not...
    wait_s: 'soon' is no number of seconds; expected 0..86400.
    """

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found = Mistakes()

    def refuse(self) -> None:
        """Raise if anything is wrong.

        Raises:
            Refused: with the one mistake there is.
            DeclarationError: with every one, if there are more.
        """
        if len(self.found.found) == 1:
            (one,) = self.found.found
            raise Refused(one.path, one.what, one.allowed, one.remedy)
        self.found.raise_any()

    def name(self, value: object, path: str = "name", what: str = "table") -> Self:
        """Note a name that nothing can have; whether there is such a table HBase says."""
        if not isinstance(value, str) or not is_text(value):
            self._add(path, f"{shown(value)} is no name of a {what}", "a text that is not empty")
        elif not is_writable(value):
            self._add(path, f"{shown(value)} has half a character", "text as UTF-8 has it")
        return self

    def truth(self, path: str, value: object) -> Self:
        """Note what is neither true nor false."""
        if not isinstance(value, bool):
            self._add(path, f"{shown(value)} is not a truth", "true or false")
        return self

    def seconds(self, value: object, path: str = "wait_s") -> Self:
        """Note what nobody can wait; None leaves it to the settings."""
        if value is None:
            return self
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number:
            self._add(path, f"{shown(value)} is no number of seconds", f"0..{_SECONDS_MOST:g}")
        elif not 0 <= value <= _SECONDS_MOST:  # type: ignore[operator]
            self._add(path, f"{shown(value)} is out of range", f"0..{_SECONDS_MOST:g}")
        return self

    def key(self, path: str, value: object, most: int) -> Self:
        """Note what is no row key of at most so many bytes."""
        if not isinstance(value, bytes):
            self._add(path, f"{shown(value)} is no row key", "bytes")
        elif len(value) > most:
            self._add(path, f"the key is {len(value):,} bytes long", f"1..{most:,}")
        return self

    def kind(self, path: str, value: object, kind: type, what: str) -> Self:
        """Note what is not of a class."""
        if not isinstance(value, kind):
            self._add(path, f"{shown(value)} is no {what}", f"a {kind.__name__}")
        return self

    def function(self, path: str, value: object) -> Self:
        """Note what cannot be called; None is no function, and may be."""
        if value is not None and not callable(value):
            self._add(path, f"{shown(value)} cannot be called", "a function")
        return self

    def several(self, path: str, value: object, what: str) -> tuple[Any, ...]:
        """The members of a list; none of what is none, as a text, which Python takes for one."""
        if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
            return tuple(value)
        self._add(path, f"{shown(value)} is no list of {what}", "a list")
        return ()

    def words(self, path: str, value: object) -> Mapping[str, Any]:
        """The words of a table; none of what is no mapping."""
        if isinstance(value, Mapping):
            return value
        self._add(path, f"{shown(value)} gives no words their values", "a mapping")
        return {}

    def has(self, path: str) -> bool:
        """Whether a mistake was noted just there."""
        return any(mistake.path == path for mistake in self.found.found)

    def _add(self, path: str, what: str, allowed: str) -> None:
        self.found.add(path, what, allowed)


def note_declared(
    given: Given,
    name: str,
    families: Sequence[Family],
    splits: Sequence[bytes],
    attributes: Mapping[str, str],
    configuration: Mapping[str, str],
) -> None:
    """Note every mistake in the name, families, splits and attributes of a table.

    Source: HBase 2.6.4 was asked for each of them; TableDescriptorChecker.
    """
    found, named = given.found, not given.has("name")
    for mistake in check_table(name) if named else ():
        found.refused("name", mistake)
    if not families and not given.has("families"):
        found.add("families", "a table without families", "1 or more")
    note_families(found, families)
    _note_splits(found, name if named and name.isascii() else "t", splits)
    note_words(found, "attributes", attributes)
    note_words(found, "configuration", configuration)
    for word in configuration:
        if word in attributes:
            found.add(f"configuration.{word}", "is among the attributes too", "it once")


def note_families(found: Mistakes, families: Sequence[object]) -> None:
    """Note every mistake in families, and those given twice."""
    seen = set()
    for index, family in enumerate(families):
        if not isinstance(family, Family) or not isinstance(family.name, str):
            found.add(f"families[{index}]", f"{shown(family)} is no family", "a Family with a name")
            continue
        path = f"families.{family.name[:80]}" if family.name else f"families[{index}]"
        if family.name in seen:
            found.add(path, "is given twice", "each family once")
        seen.add(family.name)
        for mistake in check_family(family.name, _changed(family)):
            found.refused(path, mistake)


def _changed(family: Family) -> dict[str, object]:
    """The attributes of a family that are not the default, by the design file's words."""
    given = {row.word: getattr(family, field_of(row)) for row in ATTRIBUTES.values()}
    plain = {row.word: row.default for row in ATTRIBUTES.values()}
    return {word: value for word, value in given.items() if value != plain[word]}


def _note_splits(found: Mistakes, table: str, splits: Sequence[bytes]) -> None:
    """Note every key that no region can begin with."""
    given: Sequence[object] = splits
    strange = [(i, key) for i, key in enumerate(given) if not isinstance(key, bytes)]
    for index, key in strange:
        found.add(f"splits[{index}]", f"{shown(key)} is no row key", "bytes")
    if strange:
        return
    try:
        Boundaries(splits)
    except DeclarationError as problem:
        found.found.extend(problem.mistakes)
    most = longest_split(table)
    for index, key in enumerate(splits):
        if len(key) > most:
            what = f"the key is {len(key):,} bytes long"
            found.add(f"splits[{index}]", what, f"1..{most:,} bytes beside the table's name")


def note_words(found: Mistakes, path: str, words: Mapping[str, object]) -> None:
    """Note every mistake in the words of a table."""
    for mistake in check_words(words):
        found.refused(path, mistake)
