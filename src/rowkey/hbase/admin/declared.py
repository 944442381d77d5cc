"""What is wrong with a table before it is made, all of it at once.

HBase takes splits in any order and attributes of any value, and some of them leave a table that can
be neither used nor deleted: so all of it is refused here, before anything is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey.cells import ATTRIBUTES, Family, check_family, check_table, longest_split
from rowkey.errors import DeclarationError, Mistakes, shown
from rowkey.hbase.admin.descriptors import field_of
from rowkey.hbase.admin.words import check_words, is_text
from rowkey.regions import Boundaries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def check_declared(
    name: str,
    families: Sequence[Family],
    splits: Sequence[bytes],
    attributes: Mapping[str, str],
    configuration: Mapping[str, str],
) -> None:
    """Raise unless a table can be made as it is described.

    Raises:
        DeclarationError: with every mistake in its name, families, splits and attributes.

    Source: HBase 2.6.4 was asked for each of them; TableDescriptorChecker.
    """
    found = Mistakes()
    named = is_text(name)
    if not named:
        found.add("name", f"{shown(name)} is no name of a table", "a text that is not empty")
    for mistake in check_table(name) if named else ():
        found.refused("name", mistake)
    if not families:
        found.add("families", "a table without families", "1 or more")
    note_families(found, families)
    _note_splits(found, name if named and name.isascii() else "t", splits)
    note_words(found, "attributes", attributes)
    note_words(found, "configuration", configuration)
    for word in configuration:
        if word in attributes:
            found.add(f"configuration.{word}", "is among the attributes too", "it once")
    found.raise_any()


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
