"""What can go wrong, sorted by what the reader must do about it.

```
RowkeyError
├── DeclarationError   change the design file (all its mistakes at once)
├── RowError           change the row
├── BatchError         change the rows it names; the others are written
├── ReadError          ask another way
├── SampleError        change the sample, or how it is described
├── Incomparable       make the designs agree where it says
├── DesignRefused      the design cannot do what was asked of it
├── DriftError         declare what is stored, or move the table
├── Conflict           somebody else was faster: read again, and decide again
├── CorruptionError    restore what is damaged from a copy, or save the rest by `rowkey repair`
└── Unsupported        something outside rowkey is missing or broken
```
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LONGEST_PIECE = 400
"""Characters of a piece of a message: a hostile file's words are shown, not repeated."""


_END = 80
"""Of them, at the end: what is said of a long word stands behind it."""


class RowkeyError(Exception):
    """Everything rowkey raises on purpose; its text is meant for the reader, not for a log."""


def printable(text: str) -> str:
    r"""A text on one line of a terminal: what does not print is escaped, what is long is cut.

    >>> printable("a\nb")
    'a\\nb'
    """
    cut = text
    if len(text) > LONGEST_PIECE:
        cut = f"{text[: LONGEST_PIECE - _END]}…{text[-_END:]}"
    return escaped(cut)


def escaped(text: str) -> str:
    r"""A text on one line of a terminal, all of it: what does not print is escaped.

    >>> escaped("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return text if text.isprintable() else "".join(map(_printable, text))


def escaped_json(text: str) -> str:
    r"""JSON as a terminal may have it: the same document, with what does not print escaped.

    >>> print(escaped_json('["a\x9b", "用户"]'))
    ["a\u009b", "用户"]
    """
    lines = text.split("\n")  # nearly all of them print, and a character at a time is slow
    return "\n".join(line if line.isprintable() else "".join(map(_in_json, line)) for line in lines)


def _in_json(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def counted(count: float, noun: str) -> str:
    """A number with its noun, which is of several unless the number is one.

    >>> counted(1, "row"), counted(1_200, "row"), counted(1.0, "range"), counted(1.04, "range")
    ('1 row', '1,200 rows', '1 range', '1.0 ranges')
    """
    if count == 1:
        return f"1 {noun}"
    return f"{count:,.0f} {noun}s" if count == int(count) else f"{count:,.1f} {noun}s"


def shown(value: object) -> str:
    """A value as a message names it; a number too long to be read is not written out.

    >>> shown("a"), shown(10**5000)
    ("'a'", 'a number of 16,610 bits')
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return f"a number of {value.bit_length():,} bits"
    try:
        return repr(value)
    except ValueError:  # a list with such a number in it
        return "a value too long to be shown"


_LONGEST_NUMBER = 256
"""Bits; no field holds more than 128, and Python writes out no number of many thousands."""


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One thing wrong, in four pieces that print as one sentence.

    Each piece is made printable, whatever stood in the file.

    Args:
        path: where, as dotted names and indexes: `fields.host.max_bytes`.
        what: what is wrong, with the value.
        allowed: what is allowed there, or an empty string.
        remedy: what to write instead, or an empty string.
        line: line of the file, from 1; 0 if there is no file.
        column: character of that line, from 1, with which what is wrong begins; 0 if unknown.

    >>> print(Mistake("key[0].n", "70000 is out of range", "1..65536", "Use fewer buckets."))
    key[0].n: 70000 is out of range; expected 1..65536. Use fewer buckets.
    """

    path: str
    what: str
    allowed: str = ""
    remedy: str = ""
    line: int = 0
    column: int = 0

    def __post_init__(self) -> None:
        for piece in ("path", "what", "allowed", "remedy"):
            object.__setattr__(self, piece, printable(getattr(self, piece)))

    def __str__(self) -> str:
        """The sentence: `path: what; expected allowed. remedy`."""
        text = f"{self.path}: {self.what}" if self.path else self.what
        if self.allowed:
            text += f"; expected {self.allowed}"
        if not text.endswith((".", "…")):
            text += "."
        return f"{text} {self.remedy}" if self.remedy else text


class DeclarationError(RowkeyError, ValueError):
    """A design file, or a design written in Python, that cannot be bound.

    Args:
        mistakes: every mistake found, in the order of the file.
        source: name of the file, printed before each line and column.
    """

    def __init__(self, mistakes: Iterable[Mistake], source: str = "") -> None:
        self.mistakes = tuple(mistakes)
        self.source = source
        super().__init__("\n".join(self._sentences()))

    def _sentences(self) -> Iterator[str]:
        for mistake in self.mistakes:
            numbers = (str(number) for number in (mistake.line, mistake.column) if number)
            place = ":".join(filter(None, (escaped(self.source), *numbers)))
            yield f"{place}: {mistake}" if place else str(mistake)


class OneMistakeError(RowkeyError, ValueError):
    """An error of one mistake; the base of those below."""

    def __init__(self, path: str, what: str, allowed: str = "", remedy: str = "") -> None:
        self.mistake = Mistake(path, what, allowed, remedy)
        super().__init__(str(self.mistake))


class RowError(OneMistakeError):
    """A row, or the bytes of a key, that the design cannot encode or decode."""


class BatchError(RowkeyError, ValueError):
    """Some rows of a batch were refused; the others are written.

    Args:
        refused: the number of each row in the batch, from 0, and what is wrong with it.
        count: how many were refused; more than are listed, if they are very many.
        seen: how many rows the batch had.
    """

    def __init__(self, refused: Iterable[tuple[int, RowError]], count: int, seen: int) -> None:
        self.refused = tuple(refused)
        self.count = count
        self.seen = seen
        lines = [f"{count:,} of {seen:,} rows were refused; the others are written."]
        lines += [f"row {number}: {problem}" for number, problem in self.refused[:_ROWS_SHOWN]]
        if count > _ROWS_SHOWN:
            lines.append(f"… and {count - _ROWS_SHOWN:,} more")
        super().__init__("\n".join(lines))


_ROWS_SHOWN = 10
"""Refused rows that the text names; `refused` has more."""


class ReadError(OneMistakeError):
    """A read that cannot be answered as it was asked; `mistakes` holds all that is wrong with it.

    Args:
        path: where the first mistake stands: `where[1]`, `values.since`, or a field.
        what: what is wrong, with the value.
        allowed: what is allowed there, or an empty string.
        remedy: what to write instead, or an empty string.
        others: further mistakes, each on a line of its own.
    """

    def __init__(
        self,
        path: str,
        what: str,
        allowed: str = "",
        remedy: str = "",
        others: Iterable[Mistake] = (),
    ) -> None:
        super().__init__(path, what, allowed, remedy)
        self.mistakes = (self.mistake, *others)
        self.args = ("\n".join(map(str, self.mistakes)),)


class SampleError(OneMistakeError):
    """A sample that cannot be read as it was described."""


class Incomparable(RowkeyError, ValueError):
    """Designs that cannot stand on one scale: they do not agree, or do not fit the sample.

    Args:
        mistakes: everything that is in the way, each behind the name of its design.
    """

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class DesignRefused(OneMistakeError):
    """A design that cannot do what was asked of it; what it lacks is in the text."""


class DriftError(RowkeyError, ValueError):
    """A design that is not the one its table was made with.

    Args:
        table: the table's name.
        differences: each as `path: declared X, remembered Y`.
    """

    def __init__(self, table: str, differences: Iterable[Mistake]) -> None:
        self.table = table
        self.differences = tuple(differences)
        said = "".join(f"\n  {difference}" for difference in self.differences)
        super().__init__(f"{printable(table)} was made otherwise than declared:{said}")


class Conflict(OneMistakeError):
    """What was to be changed is not what it was when it was read."""


class CorruptionError(OneMistakeError):
    """Stored data is damaged, gone, or cannot be read; the file is named, and what is lost.

    Nothing is written that depends on what could not be read.
    """


class Unsupported(OneMistakeError):
    """Something rowkey needs from outside is missing or broken."""


class Refused(OneMistakeError):
    """A kind's answer to arguments it cannot take; the binder adds where they stand."""


@dataclass(slots=True)
class Mistakes:
    """Collects what is wrong with one input, so that all of it is reported at once.

    >>> found = Mistakes()
    >>> found.add("key", "names the unknown field 'hots'", "host", "Did you mean host?")
    >>> found.raise_any()
    Traceback (most recent call last):
    rowkey.errors.DeclarationError: key: names the unknown field 'hots'; expected host. Did you...
    """

    found: list[Mistake] = field(default_factory=list)

    def add(self, path: str, what: str, allowed: str = "", remedy: str = "") -> None:
        """Note one mistake."""
        self.found.append(Mistake(path, what, allowed, remedy))

    def refused(self, path: str, refusal: Refused) -> None:
        """Note what a kind refused, below the path where its arguments stand."""
        mistake = refusal.mistake
        below = f"{path}.{mistake.path}" if mistake.path else path
        self.add(below, mistake.what, mistake.allowed, mistake.remedy)

    def raise_any(self) -> None:
        """Raise if anything was noted.

        Raises:
            DeclarationError: with every mistake noted so far.
        """
        if self.found:
            raise DeclarationError(self.found)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A remedy naming the nearest known word; empty if none is near.

    Cost: bounded, whatever a hostile file holds: 64 characters against 1,000 words.

    >>> did_you_mean("Tiemstamp_ms", ["text", "timestamp_ms"])
    'Did you mean timestamp_ms?'
    """
    from difflib import get_close_matches

    candidates = {name.lower(): name for name in islice(known, 1_000) if len(name) <= 64}
    near = get_close_matches(word[:64].lower(), candidates, n=1, cutoff=_NEAR)
    return f"Did you mean {candidates[near[0]]}?" if near and near[0] else ""


_NEAR = 0.7
"""Likeness from which a word is meant: `hots` is host, `colour` is not cluster. Tried by hand."""
