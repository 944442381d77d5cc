"""The exceptions of rowkey, sorted by what a caller does about them.

```
RowkeyError
├── InvalidArgument     call with another argument
├── InvalidDesign       change the design file; all its mistakes are listed
├── RowError            change the row
├── BatchError          change the rows that it names; the others are written
├── ReadError           change the read
├── SampleError         change the sample, or how it is described
├── IncomparableDesigns make the designs agree on what it lists
├── DesignRefused       use another design: this one cannot do what was asked
├── CatalogMismatch     declare what the table was created with, or move the table
├── NotSupported        use another engine, or do without
├── Conflict            read again and decide again: another client was faster
├── CorruptionError     restore the files from a copy, or save the rest by `rowkey repair`
├── Closed              open the table or the client again
└── Unavailable         try again later: a server, a file or a package is missing or broken
```

Every one of them can be pickled, so that pools of processes pass them on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from rowkey.messages import escape_text, shorten_text


class RestorableError(Exception):
    """Base class of exceptions that pickle and copy restore without calling their constructor."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how pickle restores the error without calling its constructor."""
        return _restore_error, (type(self), self.args, self.__dict__)


def _restore_error(
    error_class: type[RestorableError], args: tuple[object, ...], attributes: dict[str, object]
) -> RestorableError:
    """Return an unpickled error, built without calling its constructor."""
    error = error_class.__new__(error_class)
    error.args = args
    error.__dict__.update(attributes)
    return error


class RowkeyError(RestorableError):
    """Base class of all errors that rowkey raises on purpose."""


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One mistake, as path, problem, expected values and remedy that print as one sentence.

    Each piece is made printable, whatever stood in the file.

    Args:
        path: where, as dotted names and indexes: `fields.host.max_bytes`.
        problem: what is wrong, with the value.
        expected: what is allowed there, or an empty string.
        remedy: what to write instead, or an empty string.
        line: line of the file, from 1; 0 if there is no file.
        column: character of that line, from 1, with which what is wrong begins; 0 if unknown.

    >>> print(Mistake("key[0].n", "70000 is out of range", "1..65536", "Use fewer buckets."))
    key[0].n: 70000 is out of range; expected 1..65536. Use fewer buckets.
    """

    path: str
    problem: str
    expected: str = ""
    remedy: str = ""
    line: int = 0
    column: int = 0

    def __post_init__(self) -> None:
        for piece in ("path", "problem", "expected", "remedy"):
            object.__setattr__(self, piece, shorten_text(getattr(self, piece)))

    def __str__(self) -> str:
        """Return the mistake as `path: problem; expected ... . remedy`."""
        text = f"{self.path}: {self.problem}" if self.path else self.problem
        if self.expected:
            text += f"; expected {self.expected}"
        if not text.endswith((".", "…")):
            text += "."
        return f"{text} {self.remedy}" if self.remedy else text


class InvalidDesign(RowkeyError, ValueError):
    """A design, in a file or written in Python, with mistakes.

    Args:
        mistakes: every mistake found, in the order of the file.
        source: name of the file, printed before each line and column.
        is_unreadable: whether the file could not be read, so that nothing is known of its design.
    """

    def __init__(
        self, mistakes: Iterable[Mistake], source: str = "", *, is_unreadable: bool = False
    ) -> None:
        self.mistakes = tuple(mistakes)
        self.source = source
        self.is_unreadable = is_unreadable
        super().__init__("\n".join(self._format_sentences()))

    def _format_sentences(self) -> Iterator[str]:
        """Yield each mistake as a sentence, with file, line and column in front."""
        for mistake in self.mistakes:
            place = self._format_place(mistake)
            yield f"{place}: {mistake}" if place else str(mistake)

    def _format_place(self, mistake: Mistake) -> str:
        """Return file, line and column of a mistake; words name the numbers if no file does."""
        numbers = [str(number) for number in (mistake.line, mistake.column) if number]
        if self.source:
            return ":".join((escape_text(self.source), *numbers))
        return ", ".join(map(" ".join, zip(("line", "character"), numbers, strict=False)))


class OneMistakeError(RowkeyError, ValueError):
    """Base class of the errors that report one mistake."""

    def __init__(self, path: str, problem: str, expected: str = "", remedy: str = "") -> None:
        self.mistake = Mistake(path, problem, expected, remedy)
        super().__init__(str(self.mistake))


class SeveralMistakesError(OneMistakeError):
    """Base class of the errors whose `mistakes` hold all that is wrong, the first one in front.

    Args:
        path: where the first mistake stands.
        problem: what is wrong, with the value.
        expected: what is allowed there, or an empty string.
        remedy: what to write instead, or an empty string.
        more_mistakes: further mistakes, each on a line of its own.
    """

    def __init__(
        self,
        path: str,
        problem: str,
        expected: str = "",
        remedy: str = "",
        more_mistakes: Iterable[Mistake] = (),
    ) -> None:
        super().__init__(path, problem, expected, remedy)
        self.mistakes = (self.mistake, *more_mistakes)
        self.args = ("\n".join(map(str, self.mistakes)),)


class RowError(SeveralMistakesError):
    """A row, or the bytes of a key, that the design cannot encode or decode.

    >>> errors = RowError("field ts", "x is not a time"), RowError("field n", "7 is too large")
    >>> print(RowError.join(errors).prefix_path("line 3"))
    line 3, field ts: x is not a time.
    line 3, field n: 7 is too large.
    """

    @classmethod
    def join(cls, errors: Iterable[RowError]) -> RowError:
        """Return one error with the mistakes of several errors of one row, each once."""
        mistakes = dict.fromkeys(mistake for error in errors for mistake in error.mistakes)
        return cls._from_mistakes(list(mistakes))

    def prefix_path(self, place: str) -> RowError:
        """Return the error with a place in front of the path of each mistake."""
        return self._from_mistakes(
            [
                replace(one, path=f"{place}, {one.path}" if one.path else place)
                for one in self.mistakes
            ]
        )

    @classmethod
    def _from_mistakes(cls, mistakes: list[Mistake]) -> RowError:
        first, *others = mistakes
        return cls(first.path, first.problem, first.expected, first.remedy, others)


class BatchError(RowkeyError, ValueError):
    """Some rows of a batch were refused; the others are written.

    Args:
        row_errors: the number of each row in the batch, from 0, and what is wrong with it.
        error_count: how many were refused; more than are listed, if they are very many.
        row_count: how many rows the batch had.
    """

    def __init__(
        self, row_errors: Iterable[tuple[int, RowError]], error_count: int, row_count: int
    ) -> None:
        self.row_errors = tuple(row_errors)
        self.error_count = error_count
        self.row_count = row_count
        heading = f"{error_count:,} of {row_count:,} rows were refused; the others are written."
        lines = [f"{heading} Rows are counted from 0, in the order in which they were put."]
        lines += [
            str(error.prefix_path(f"row {number}"))
            for number, error in self.row_errors[:_MAX_LISTED_ROWS]
        ]
        if error_count > _MAX_LISTED_ROWS:
            lines.append(f"… and {error_count - _MAX_LISTED_ROWS:,} more")
        super().__init__("\n".join(lines))


_MAX_LISTED_ROWS = 10
"""Refused rows that the text names; `row_errors` has more."""


class ReadError(SeveralMistakesError):
    """A read that cannot be answered as it was asked.

    Its paths are `where[1]`, `value of :since`, or a field.
    """


class SampleError(OneMistakeError):
    """A sample that cannot be read as it was described."""

    is_refusal = False
    """Whether it is because the row key refuses the values of too many rows."""


class IncomparableDesigns(RowkeyError, ValueError):
    """Designs that cannot be compared: they disagree, or do not fit the sample.

    Args:
        mistakes: all obstacles, each with the name of its design in front.
    """

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))


class DesignRefused(OneMistakeError):
    """A design that lacks what the requested operation needs; the text says what."""


class CatalogMismatch(RowkeyError, ValueError):
    """A declared design that differs from the design its table was created with.

    Args:
        table: the table's name.
        differences: each as `path: X in the design, but Y in the table`.
        remedy: what to do now.
    """

    def __init__(
        self,
        table: str,
        differences: Iterable[Mistake],
        remedy: str = (
            "Declare in the design what the table has, or move its rows: rowkey move plan."
        ),
    ) -> None:
        self.table = table
        self.differences = tuple(differences)
        lines = "".join(f"\n  {difference}" for difference in self.differences)
        heading = f"table {shorten_text(table)}: the design does not fit the table. It differs in:"
        super().__init__(f"{heading}{lines}\n{remedy}")


class Conflict(OneMistakeError):
    """Another client has changed the row or table since it was read."""


class CorruptionError(OneMistakeError):
    """Stored data is damaged or missing; the text names the file and what is lost.

    Nothing is written that depends on what could not be read.
    """


class Closed(OneMistakeError):
    """A call on a table, client or scan that is closed."""


class NotSupported(OneMistakeError):
    """An engine, a server or an installed package cannot do what was asked."""


class Unavailable(OneMistakeError):
    """A server, a file or a package that rowkey needs is missing or broken; try again later."""


class InvalidArgument(OneMistakeError):
    """An argument with a value that is not allowed; `mistake.path` names it.

    >>> print(InvalidArgument("limit", "-1 is too small", "0 or more"))
    argument limit: -1 is too small; expected 0 or more.
    """

    names_argument: ClassVar[bool] = True
    """Whether a path that could be the name of an argument is one."""

    def __init__(self, path: str, problem: str, expected: str = "", remedy: str = "") -> None:
        super().__init__(path, problem, expected, remedy)
        if self.names_argument and _ARGUMENT_PATH.match(path):
            self.args = (f"argument {self.mistake}",)


_ARGUMENT_PATH = re.compile(r"[A-Za-z_]\w*([.[][^ :]*)?$")
"""Paths that begin with the name of an argument: `limit`, `columns.d`, `splits[2]`."""


@dataclass(slots=True)
class Mistakes:
    """Collects the mistakes of one input, so that all of them are reported at once.

    >>> mistakes = Mistakes()
    >>> mistakes.add("key", "names the unknown field 'hots'", "host", "Did you mean host?")
    >>> mistakes.raise_any()
    Traceback (most recent call last):
    rowkey.errors.InvalidDesign: key: names the unknown field 'hots'; expected host. Did you...
    """

    mistakes: list[Mistake] = field(default_factory=list)

    def add(self, path: str, problem: str, expected: str = "", remedy: str = "") -> None:
        """Append one mistake to the list."""
        self.mistakes.append(Mistake(path, problem, expected, remedy))

    def add_invalid_argument(self, path: str, error: InvalidArgument) -> None:
        """Append the mistake of a plugin's argument, with its path below the given path."""
        mistake = error.mistake
        below = f"{path}.{mistake.path}" if mistake.path else path
        self.add(below, mistake.problem, mistake.expected, mistake.remedy)

    def raise_any(self) -> None:
        """Raise `InvalidDesign` with all mistakes, if there are any.

        Raises:
            InvalidDesign: with every mistake noted so far.
        """
        if self.mistakes:
            raise InvalidDesign(self.mistakes)
