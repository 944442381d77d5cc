"""Columns of a sample that are read as numbers: plain, by a declared layout or a detected one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rowkey.array_libraries import pa, pc
from rowkey.errors import SampleError
from rowkey.messages import Message, shorten_text
from rowkey.workload.contract import SampleFormat, format_inline_table
from rowkey.workload.values.number_layouts import DetectedNumbers, NumberDetector, NumberLayout
from rowkey.workload.values.typed_columns import convert_column, is_text_column

if TYPE_CHECKING:
    from rowkey.keys import Field

_WHOLE_FLOAT = r"^\s*([+-]?[0-9]+)\.0+\s*$"
"""A whole number with a point, as spreadsheets and data frames write it."""
_POINT_OR_GROUP = r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$"
"""A number whose point may mark decimals or group thousands."""


_NAN = r"^\s*[+-]?[Nn][Aa][Nn]\s*$"


def is_number_field(field: Field) -> bool:
    """Return whether a field holds numbers that files write in several ways."""
    if field.type.unit_ns is not None:
        return False
    kind = field.type.build_arrow_type()
    is_fraction = pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    return bool(pa.types.is_integer(kind) or is_fraction)


class NumberColumn:
    """Reads a column of a sample as numbers; its first values decide how if nothing is declared.

    Args:
        column: the column's name in the file.
    """

    def __init__(self, field: Field, column: str, path: Path, sample_format: SampleFormat) -> None:
        self.field = field
        self._decisions: list[Message] = []
        self._nan_count = 0
        self._column = column
        self._path = path
        self._format = sample_format
        self._layout: NumberLayout | None = sample_format.number_layouts.get(column)
        self._is_decided = self._layout is not None

    @property
    def assumptions(self) -> list[Message]:
        """Return what was decided while values were read."""
        if not self._nan_count:
            return self._decisions
        note = Message(
            "sample.nan_values",
            "{column} is NaN {count:,} times, which no field can hold: {field} is null there",
            count=self._nan_count,
            column=self._column,
            field=self.field.name,
        )
        return [*self._decisions, note]

    def replace_nans(self, array: pa.Array) -> pa.Array:
        """Return values as the file has them, with null for NaN if the field can be null."""
        if not self.field.nullable:
            return array
        if pa.types.is_floating(array.type):
            is_nan = pc.is_nan(array)
        elif is_text_column(array):
            is_nan = pc.match_substring_regex(array, _NAN)
        else:
            return array
        count = pc.sum(is_nan).as_py() or 0
        self._nan_count += count
        return pc.if_else(is_nan, pa.scalar(None, array.type), array) if count else array

    @property
    def expected_form(self) -> str:
        """Return what a value of the column should look like; empty for plain numbers."""
        return f"a number written as {self._layout.text}" if self._layout else ""

    def convert(self, array: pa.Array) -> pa.Array:
        """Return the next values as those of the field; null where they are no numbers of it.

        Raises:
            SampleError: the first values can be read as different numbers.
        """
        if isinstance(array.type, pa.DictionaryType):
            array = array.cast(array.type.value_type)
        if not is_text_column(array):
            return convert_column(self.field, array)
        if not self._is_decided and array.null_count < len(array):
            self._decide(array)
        if self._layout is not None:
            array = self._layout.normalize_texts(array)
        if self.field.type.is_plain_integer and pc.any(pc.match_substring(array, ".")).as_py():
            array = pc.replace_substring_regex(array, _WHOLE_FLOAT, r"\1")
        return convert_column(self.field, array)

    def _decide(self, array: pa.Array) -> None:
        """Decide how the column is read, from its first values."""
        self._is_decided = True
        texts = pc.unique(pc.utf8_trim_whitespace(array.drop_null()))
        texts = texts.filter(pc.not_equal(texts, ""))
        is_uncertain = pc.match_substring_regex(texts, _POINT_OR_GROUP)
        if len(texts) and pc.all(is_uncertain).as_py():
            self._note_point(texts[0].as_py())
        detector = NumberDetector()
        detector.add_texts(texts)
        detected = detector.decide()
        if detected is not None:
            refuse_uncertain_numbers(self._path, self._column, detected, self._format)
            self._layout = detected.layout
            self._decisions.append(describe_numbers(self._column, detected))

    def _note_point(self, example: str) -> None:
        """Note that the point of numbers such as 1.234 is read as the mark of decimals.

        It is certain unless semicolons separate values, which files with decimal commas need.
        """
        options = {**self._format.option_values, **self._format.detected_options}
        if options.get("delimiter") != ";":
            return
        self._decisions.append(
            Message(
                "sample.decimal_point",
                "the numbers of {column} have a decimal point, such as {example}; if the point "
                "groups thousands, declare numbers = {option}",
                column=self._column,
                example=shorten_text(example),
                option=format_inline_table({self._column: "1.234,56"}),
            )
        )


def refuse_uncertain_numbers(
    path: Path, column: str, detected: DetectedNumbers, sample_format: SampleFormat
) -> None:
    """Raise if the texts of a column can be different numbers.

    Raises:
        SampleError: they can; it names the options that decide.
    """
    if not detected.rivals:
        return
    ways = [detected.layout.text, *(rival.text for rival in detected.rivals)]
    options = [sample_format.suggest_options(numbers={column: way}) for way in ways]
    raise SampleError(
        f"{path}: column {column!r}",
        f"the mark of decimals is not certain: {shorten_text(detected.example)!r} may be written "
        f"as {' or as '.join(ways)}",
        "a declared layout",
        f"Declare it: {', or '.join(options)}.",
    )


def describe_numbers(column: str, detected: DetectedNumbers) -> Message:
    """Return what was decided on a column of numbers, and why."""
    return Message(
        "sample.number_layout",
        "the numbers of {column} are written as {layout}, such as {example}",
        column=column,
        layout=detected.layout.text,
        example=shorten_text(detected.example),
    )
