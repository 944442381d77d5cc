"""What a sample holds, before anything is declared: its columns as fields, and facts of each."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkey.advise.drafting.columns import Guess, Look, guess
from rowkey.advise.drafting.hints import is_like_event
from rowkey.errors import Mistakes, SampleError, printable
from rowkey.keys import Field, bind_fields, bound_key
from rowkey.schema import FieldRef, FieldWords, name_mistake
from rowkey.workload import Distinct, LeftOut, Profile, open_sample, read_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from rowkey.schema import Facts
    from rowkey.workload import Sample

MOST_COLUMNS = 1_000
"""Fields that a design may have."""
LISTED = 8
"""Columns that a mistake names."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the sample as a field.

    Args:
        field: the field, bound.
        words: its words in a design file.
        facts: what the sample shows of it.
        why: what its type was read from, if that is not plain.
        stray: one of its values, where they look like times and are not read as such.
    """

    field: Field
    words: Mapping[str, Any]
    facts: Facts
    why: str
    stray: str = ""

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.field.name


@dataclass(frozen=True, slots=True)
class Survey:
    """What a sample holds.

    Args:
        path: the file.
        format_words: how it is read; None if its name tells all.
        columns: its columns that became fields, in order.
        unread: columns that did not, with the reason.
        events: how many rows it has that are events.
        copies: how many of them stand there already, equal in every field.
        rows: a uniform sample of them.
        left_out: rows that are no events.
        assumed: what was guessed while reading, as sentences.
    """

    path: Path
    format_words: Mapping[str, Any] | None
    columns: tuple[Column, ...]
    unread: Mapping[str, str]
    events: int
    copies: int
    rows: pa.RecordBatch
    left_out: LeftOut
    assumed: tuple[str, ...] = field(default=())

    @property
    def strays(self) -> tuple[Column, ...]:
        """Columns that look like times and are not read as such, those of events first."""
        found = (one for one in self.columns if one.stray)
        return tuple(sorted(found, key=lambda one: not is_like_event(one.name)))


def surveyed(path: Path, format_words: Mapping[str, Any] | None, seed: int = 0) -> Survey:
    """What a sample holds.

    Args:
        path: the file.
        format_words: how it is read; told by its name if None.
        seed: where the profile's randomness begins.

    Raises:
        SampleError: it cannot be read, or no design can be made from it; with all that is wrong.

    Cost: two passes over the file.
    """
    sample = open_sample(path, {}, None, format_words)
    misfits = LeftOut()
    looks = _looked(sample, path, misfits)
    marked = [look for look in looks if look.null_texts]
    try:
        found = _said(sample, looks, format_words, seed)
    except SampleError:
        if not marked:
            raise
        found = None
    if found is not None and (found.left_out.count == misfits.count or not marked):
        return found
    # Texts that stand for null are none where they are quoted: their columns are text then.
    for look in marked:
        look.forms.clear()
    return _said(sample, looks, format_words, seed)


def _said(
    sample: Sample, looks: list[Look], format_words: Mapping[str, Any] | None, seed: int
) -> Survey:
    """The columns as fields, and what the file shows of them."""
    path = sample.path
    held = {name: look for name, look in _named(looks).items() if not look.is_empty}
    unread = {look.name: "holds nothing" for look in looks if look.is_empty}
    for name, kind in sample.format.find_unreadable_columns(path).items():
        unread[name] = f"is of the type {kind}, which no field has"
    guesses = {}
    for name, look in held.items():
        found = guess(look)
        if found is None:
            unread[look.name] = f"is of the type {look.kind}, which no field has"
        else:
            guesses[name] = found
    if not guesses:
        what = "; ".join(
            f"{printable(name)!r} {why}" for name, why in list(unread.items())[:LISTED]
        )
        raise SampleError(str(path), f"no column can be a field: {what}", "columns with values")
    format_words = _with_nulls(sample, format_words, guesses.values())
    words = _words(held, guesses, format_words)
    return _profiled(path, format_words, words, guesses, unread, seed)


def _looked(sample: Sample, path: Path, misfits: LeftOut) -> list[Look]:
    """What each column holds; the columns of a file without rows are a mistake."""
    looks: list[Look] = []
    says_null = any(option.name == "nulls" for option in sample.format.options)
    for batch in read_batches(sample.format, path, None, misfits):
        if not looks:
            looks = [Look(name, says_null) for name in batch.schema.names]
            _check_names([look.name for look in looks], batch.num_rows, path)
        for look, array in zip(looks, batch.columns, strict=True):
            look.add(array)
    if not looks or not looks[0].rows:
        raise SampleError(str(path), "holds no events", "one event or more")
    return looks


def _check_names(names: list[str], rows: int, path: Path) -> None:
    """Raise with everything that is wrong with the names of columns."""
    wrong = []
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        shown = ", ".join(repr(printable(name)) for name in twice[:LISTED])
        wrong.append(f"columns share a name: {shown}")
    if len(names) > MOST_COLUMNS:
        wrong.append(f"has {len(names):,} columns, and a design at most {MOST_COLUMNS:,} fields")
    if not rows:
        wrong.append("holds no events")
    if wrong:
        raise SampleError(
            str(path), "; ".join(wrong), "a name for each column, then rows",
            "Name the columns in the first line.",
        )  # fmt: skip


def _named(looks: list[Look]) -> dict[str, Look]:
    """The columns by the names of their fields, which a key can name."""
    named: dict[str, Look] = {}
    for number, look in enumerate(looks, 1):
        plain = unicodedata.normalize("NFC", look.name.strip())
        if name_mistake(plain) or "." in plain:
            letters = (c if c.isalnum() or c == "_" else "_" for c in plain[:60])
            plain = "".join(letters).strip("_") or f"column_{number}"
        while plain in named:
            plain = f"{plain}_{number}"
        if name_mistake(plain):
            plain = f"column_{number}"
        named[plain] = look
    return named


def _with_nulls(
    sample: Sample, given: Mapping[str, Any] | None, guesses: Iterable[Guess]
) -> Mapping[str, Any] | None:
    """How the file is read, with the texts that stand for null where its format can say so."""
    nulls = sorted({text for one in guesses for text in one.null_texts})
    kind = sample.format
    if not nulls or not any(option.name == "nulls" for option in kind.options):
        return given
    return {"kind": kind.name, **(given or {}), "nulls": [*(kind.chosen["nulls"] or ()), *nulls]}


def _words(
    held: Mapping[str, Look],
    guesses: Mapping[str, Guess],
    format_words: Mapping[str, Any] | None,
) -> dict[str, dict[str, Any]]:
    """The words of each field in a design file."""
    nulls = set((format_words or {}).get("nulls", ()))
    words = {}
    for name, found in guesses.items():
        look = held[name]
        is_plain = look.is_text and found.words["type"] in ("text", "choice")
        lacks = bool(look.nulls or (look.blanks and not is_plain) or look.null_texts & nulls)
        words[name] = {
            **found.words,
            **({"nullable": True} if lacks else {}),
            **({"from": look.name} if look.name.strip() != name else {}),
        }
    return words


def _profiled(
    path: Path,
    format_words: Mapping[str, Any] | None,
    words: Mapping[str, dict[str, Any]],
    guesses: Mapping[str, Guess],
    unread: Mapping[str, str],
    seed: int,
) -> Survey:
    """The facts of the fields, and the rows that are copies of others."""
    from rowkey.keys import Columns, fingerprints

    mistakes = Mistakes()
    declared = {name: FieldWords.model_validate(one) for name, one in words.items()}
    fields = bind_fields(declared, mistakes)
    mistakes.raise_any()
    whole = bound_key(tuple(FieldRef(name) for name in fields), fields, mistakes)
    mistakes.raise_any()
    assert whole is not None, "every field can stand in a key"
    sample = open_sample(path, fields, None, format_words)
    profile, rows = Profile(fields, seed), Distinct()
    for events in sample.events():
        profile.add(events)
        columns = Columns.of(events.rows, list(fields.values()))
        rows.add(fingerprints(whole.pieces(columns, whole.parts)))
    facts = profile.facts()
    return Survey(
        path,
        format_words,
        tuple(
            Column(f, words[n], facts[n], guesses[n].why, guesses[n].stray)
            for n, f in fields.items()
        ),
        unread,
        profile.count,
        rows.repeats,
        profile.reservoir.rows(),
        sample.left_out,
        tuple(sample.assumed),
    )
