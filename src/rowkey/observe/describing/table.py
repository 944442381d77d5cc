"""A live table as a design file, which makes the same table again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rowkey.cells import ATTRIBUTES, FOREVER_S, Family, check_family
from rowkey.design import Design
from rowkey.engines import now_ms, open_engine
from rowkey.observe.describing.columns import fields_of, strange_columns
from rowkey.observe.describing.keys import key_format
from rowkey.observe.describing.sampling import sampled
from rowkey.observe.describing.wording import annotated
from rowkey.observe.remembering import remembered, table_of
from rowkey.open_file_limit import explains_shortage
from rowkey.regions import to_binary
from rowkey.schema import NANOSECONDS, read_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rowkey.engines import Engine, Store
    from rowkey.observe.describing.sampling import Sampled
    from rowkey.observe.remembering import Remembered

OURS = "rowkey."
"""What the words begin with that tables of rowkey keep of themselves."""


GONE = (
    "Family {name} is in the design and no longer in the table, which has lost what it held: the "
    "file would make it again."
)


@dataclass(frozen=True, slots=True)
class Description:
    """A table as a design file.

    Args:
        text: the file, with what was seen and what is not known as comments.
        design: what it declares.
        is_ours: whether the table was made by rowkey, so that its design is known, not inferred.
        sampled: rows that were looked at.
    """

    text: str
    design: Design
    is_ours: bool
    sampled: int


@explains_shortage
def describe(table: str, url: str) -> Description:
    """A live table as a design file that makes the same table again: families and regions.

    Of a table that rowkey made the design is known. Of another one the first rows of its regions
    are looked at; what they show of the key is declared where all of them bear it out, and said
    with its evidence. Nothing is made up: what is not known is declared as bytes, and said.

    Args:
        table: its name.
        url: where it is.

    Raises:
        Refused: there is no such table.
        Unsupported: it cannot be reached.

    Cost: a short scan of each region, of 4,096 rows in all.
    """
    with open_engine(url, create=False) as engine:
        store = table_of(engine, table, url)
        known = remembered(engine, store, table)
        splits = store.spec.splits
        if known.entry is not None:
            return _of_ours(store, splits, known)
        return _of_others(table, engine, store, splits, known)


def _of_ours(store: Store, splits: Sequence[bytes], known: Remembered) -> Description:
    """A table whose design is known: with the families and the regions that it has now."""
    entry, design = known.entry, known.design
    assert entry is not None
    assert design is not None
    words = design.declaration.model_dump(by_alias=True, exclude_defaults=True)
    head = [f"The design is {known.where}."]
    counts = entry.ruling
    if counts.number > 1:
        numbers = ", ".join(f"part {place} counts {n}" for place, n in counts.counts.items())
        head.append(f"It lives in generation {counts.number} of its bucket counts: {numbers}.")
    above: dict[str, list[str]] = {}
    if tuple(splits) != _designed(design):
        words["splits"] = [to_binary(split) for split in splits]
        was = len(counts.splits) + 1
        above["splits"] = [f"where the {len(splits) + 1} regions begin now; it was made with {was}"]
    order = list(design.families)
    families, notes = _families(store, order)
    if list(design.families.values()) != _in_order(store, order):
        gone = [name for name in order if name not in families]
        notes += [GONE.format(name=name) for name in gone]
        kept = words.get("families", {})
        words["families"] = families | {name: kept.get(name, {}) for name in gone}
        above["families"] = ["as the table has them now; its design says otherwise"]
    head += notes
    text = annotated(Design(**words), head, above, {})
    return Description(text, Design.loads(text), is_ours=True, sampled=0)


def _of_others(
    table: str, engine: Engine, store: Store, splits: Sequence[bytes], known: Remembered
) -> Description:
    """A table that others made: what it is exactly, and what its first rows show."""
    found = sampled(store, splits)
    made = key_format(found.keys, splits, now_ms())
    columns, seen = fields_of(found, made.fields)
    families, notes = _families(store, [])
    words: dict[str, Any] = {
        "table": table,
        "key": made.key,
        "splits": [to_binary(split) for split in splits],
        "fields": {**{name: dict(one) for name, one in made.fields.items()}, **columns},
        "families": families,
    }
    servers = engine.servers()
    if servers != [""]:
        words["cluster"] = {"servers": max(len(servers), 1)}
    head = [
        f"Its design is not known: {known.where}.",
        _looked(found),
        *notes,
        *strange_columns(found),
        "How rows come in and how they are read is not known: declare [writes] and [[reads]].",
    ]
    above = {"key": ["The key, part by part, as sampled keys show it:", *made.notes]}
    if splits:
        above["splits"] = [f"where its {len(splits) + 1:,} regions begin now"]
    text = annotated(Design(**words), head, above, seen)
    return Description(text, Design.loads(text), is_ours=False, sampled=len(found.keys))


def _looked(found: Sampled) -> str:
    """What was looked at."""
    if not found.keys:
        return (
            "It has no row." if found.regions == found.of else f"It has no row in {_which(found)}."
        )
    return f"Looked at: the first rows of {_which(found)}, {len(found.keys):,} in all; no others."


def _which(found: Sampled) -> str:
    """The regions that were looked into, as a phrase."""
    if found.regions < found.of:
        return f"{found.regions:,} of its {found.of:,} regions, evenly chosen"
    return "its one region" if found.of == 1 else f"its {found.of:,} regions"


def _designed(design: Design) -> tuple[bytes, ...] | None:
    """Where the regions of a design begin, if it says so by itself."""
    if design.cut.needs_sample or design.cut.needs_count:
        return None
    return design.cut.boundaries(design.key).splits


def _in_order(store: Store, order: Sequence[str]) -> list[Family]:
    """The families that a table has, in the order of a design and then of their names."""
    there = {family.name: family for family in store.described[0]}
    names = [*(name for name in order if name in there), *sorted(there.keys() - set(order))]
    return [there[name] for name in names]


def _families(store: Store, order: Sequence[str]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The families as a design file has them, and what of the table it cannot say."""
    words, notes = {}, []
    for family in _in_order(store, order):
        said = _said(family)
        wrong = {refusal.mistake.path for refusal in check_family(family.name, _plain(said))}
        words[family.name] = {word: value for word, value in said.items() if word not in wrong}
        notes += [
            f"Family {family.name} says {word} = {said[word]!r} in a way that no design can."
            for word in sorted(wrong & said.keys())
        ]
    notes += _unsaid(store)
    return words, notes


def _said(family: Family) -> dict[str, Any]:
    """What a family says that is not the default."""
    plain = Family(family.name)
    found = {}
    for word, row in ATTRIBUTES.items():
        name = f"{word}_s" if row.seconds else word
        value = getattr(family, name)
        if value != getattr(plain, name):
            found[word] = _length(value) if row.seconds and value != FOREVER_S else value
    return found


def _length(seconds: int) -> str:
    """A length of time in the largest unit that tells it whole.

    >>> _length(2_592_000), _length(90)
    ('30d', '90s')
    """
    units = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
    return next(f"{seconds // each}{unit}" for unit, each in units if seconds % each == 0)


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same with a time to live in seconds."""
    return {
        word: _seconds(value) if word == "ttl" and isinstance(value, str) else value
        for word, value in said.items()
    }


def _seconds(length: str) -> int:
    """A length of time in seconds; the inverse of `_length`."""
    return read_duration(length).nanoseconds // NANOSECONDS["s"]


def _unsaid(store: Store) -> Iterator[str]:
    """Words of the table and its families that a design file has no place for."""
    for word, value in sorted(store.described[1].items()):
        if not word.startswith(OURS):
            yield f"The table says {word} = {value}; a design has no word for it."
    for family, others in sorted(store.unsaid.items()):
        for word, value in sorted(others.items()):
            yield f"Family {family} says {word} = {value}; a design has no word for it."
