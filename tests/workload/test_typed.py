"""A text has the same meaning in every Arrow type of its column and next to any others."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from example_counts import divide_examples
from rowkey.errors import Mistakes, RowError
from rowkey.keys import TYPES, bind_fields
from rowkey.keys.batches.columns import build_field_column
from rowkey.schema import FieldDeclaration
from rowkey.workload.values.typed_columns import convert_column

if TYPE_CHECKING:
    from rowkey.keys import Field

COUNTS = [name for name, kind in TYPES.items() if kind.has_integer_form]
FEWER_EXAMPLES = divide_examples(4, long=2)
"""Each property is tried with every type, so half of the examples is enough for each."""
UNUSUAL_TEXTS = st.sampled_from(
    ["", " ", "0", "-0", "+1", "007", " 7", "7 ", "0x1F", "1_000", "1,5", "1.0", "1e3", "nan",
     "inf", "true", "T", "2024-01-31", "20240131", "20240131235959", "2024-01-31T23:59:59Z",
     "2024-01-31 23:59:59.5", "2024-01-31T23:59:59+02:00", "1969-12-31", "2300-01-01", "٣", "a\0b"]
)  # fmt: skip


def bind_field(words: FieldDeclaration) -> Field:
    """Return the bound field of some options, and reject invalid options."""
    mistakes = Mistakes()
    bound = bind_fields({"a": words}, mistakes)
    if mistakes.mistakes:
        assume(False)
    return bound["a"]


@st.composite
def draw_texts(draw: st.DrawFn, field: Field) -> list[str | None]:
    """Draw a column of texts of the field's own values and of others."""
    shown = strategies.values(field).map(field.type.format_value)
    numbers = st.integers(-(2**65), 2**65).map(str)
    one = st.one_of(shown, shown, UNUSUAL_TEXTS, numbers, st.text(max_size=6), st.none())
    return draw(st.lists(one, min_size=1, max_size=6))


def parse_alone(field: Field, text: str | None) -> Any:
    """Return the value of a single text; None if the field has no such value."""
    try:
        return None if text is None else field.normalize(field.parse(text))
    except RowError:
        return None


@pytest.mark.parametrize("kind", sorted(TYPES))
@FEWER_EXAMPLES
@given(data=st.data())
def test_a_text_is_parsed_the_same_in_a_column_and_alone(kind: str, data: st.DataObject) -> None:
    """A column has the value of each single text, or null where the text is invalid."""
    words = data.draw(strategies.declarations(kind))
    field = bind_field(words.model_copy(update={"nullable": True}))
    column = data.draw(draw_texts(field))
    expected = [parse_alone(field, text) for text in column]
    plain = pa.array(column, pa.string())
    arrays = [plain, pa.array(column, pa.large_string()), plain.dictionary_encode()]
    for array in arrays:
        assert repr(expected) == repr(
            build_field_column(field, convert_column(field, array)).to_list()
        )


@pytest.mark.parametrize("kind", COUNTS)
@FEWER_EXAMPLES
@given(number=st.integers(0, 2**62), beside=st.sampled_from(["2024-01-31", "5", "x"]))
def test_digits_alone_are_a_number_in_the_unit_of_the_field(
    kind: str, number: int, beside: str
) -> None:
    """Digits alone, also eight or fourteen of them, are a number in the field's unit."""
    field = bind_field(FieldDeclaration(type=kind, nullable=True))
    most = field.type.number_range[1]
    for digits in (str(number % (most + 1)), "24380101", "20240131235959"):
        told = parse_alone(field, digits)
        if kind == "date":
            assert told is None or told.strftime("%Y%m%d") == digits.zfill(8)
        elif int(digits) <= most:
            column = convert_column(field, pa.array([beside, digits]))
            assert told == int(digits) == build_field_column(field, column).to_list()[1]


@pytest.mark.parametrize("kind", sorted(TYPES))
@FEWER_EXAMPLES
@given(data=st.data())
def test_a_formatted_value_is_parsed_back_to_itself(kind: str, data: st.DataObject) -> None:
    """A value that a type formats is parsed back to itself."""
    field = bind_field(data.draw(strategies.declarations(kind)))
    value = field.normalize(data.draw(strategies.values(field)))
    assert repr(value) == repr(field.normalize(field.parse(field.type.format_value(value))))


@pytest.mark.parametrize(
    ("kind", "column", "expected"),
    [
        ("timestamp_s", ["1", "-5"], [1, None]),
        ("timestamp_s", ["1", "0x10"], [1, None]),
        ("timestamp_s", ["0" * 45 + "1", "5"], [None, 5]),
        ("timestamp_s", [str(2**63 - 1), str(2**63)], [2**63 - 1, None]),
        ("float64", ["nan", "1"], [None, 1.0]),
        ("float64", ["-0.0", "2e0", "0x10"], [0.0, 2.0, None]),
        ("float32", ["1.00000017881393432617187499"], [1.000000238418579]),
    ],
)
def test_the_fast_parser_of_a_column_equals_parsing_each_text(
    kind: str, column: list[str], expected: list[Any]
) -> None:
    """The fast parser of a column gives what each single text gives."""
    field = bind_field(FieldDeclaration(type=kind))
    assert expected == [parse_alone(field, text) for text in column]
    read = convert_column(field, pa.array(column))
    is_time = pa.types.is_timestamp(read.type)
    assert repr(expected) == repr((read.cast(pa.int64()) if is_time else read).to_pylist())


NOON = datetime(2024, 1, 31, 12, tzinfo=UTC)
NOON_S = 1_706_702_400
SIZES: dict[str, Any] = {"decimal": {"precision": 9, "scale": 2}, "hex": {"width": 4}}


@pytest.mark.parametrize(
    ("kind", "array", "expected"),
    [
        ("u32", pa.array([1.0, 2.0, None, 2.5]), [1, 2, None, None]),
        ("u8", pa.array([5, -1, 256, None]), [5, None, None, None]),
        ("i64", pa.array([True, False]), [None, None]),
        ("u32", pa.array([Decimal(7), Decimal(-7)]), [7, None]),
        ("text", pa.array([7, None, -1]), ["7", None, "-1"]),
        ("text", pa.array([b"a", b"\xff"]), ["a", None]),
        ("text", pa.array([date(2024, 1, 31)]), ["2024-01-31"]),
        ("timestamp_s", pa.array([NOON, None]), [NOON_S, None]),
        ("timestamp_s", pa.array([NOON_S * 10**9, NOON_S * 10**9 + 1], pa.timestamp("ns")),
         [NOON_S, None]),
        ("timestamp_ms", pa.array([NOON_S], pa.int64()), [NOON_S]),
        ("timestamp_ms", pa.array([date(2024, 1, 31)]), [1_706_659_200_000]),
        ("date", pa.array([NOON]), [date(2024, 1, 31)]),
        ("float64", pa.array(["1.5", "-0.0", None]), [1.5, 0.0, None]),
        ("float64", pa.array(["1.5", "nan", "1e400"]), [1.5, None, float("inf")]),
        ("hex", pa.array(["0aFF", "0agg", "0af", "0afé"]), ["0aff", None, None, None]),
        ("bool", pa.array(["true", "no", "1"]), [True, None, True]),
        ("decimal", pa.array(["1.5", "1.55"]), [Decimal("1.50"), Decimal("1.55")]),
    ],
)  # fmt: skip
def test_typed_parquet_values_that_the_field_can_hold_are_kept(
    kind: str, array: pa.Array, expected: list[Any]
) -> None:
    """Values of a Parquet column that the field can hold are kept, the others are null."""
    words: dict[str, Any] = {"type": kind, "nullable": True}
    field = bind_field(FieldDeclaration(**words, **SIZES.get(kind, {})))
    assert expected == build_field_column(field, convert_column(field, array)).to_list()


@pytest.mark.parametrize("kind", ["u64", "timestamp_ms"])
def test_whole_floats_of_an_integer_field_become_integers(kind: str) -> None:
    """Whole floats become integers also next to others, which are no values of the field."""
    field = bind_field(FieldDeclaration.model_validate({"type": kind}))
    floats = pa.array([1_714_989_600_123.0, 2.5, float("inf"), float("nan"), None, -1.0])
    found = convert_column(field, floats)
    assert [1_714_989_600_123, *[None] * 5] == found.cast(pa.int64()).to_pylist()
    whole = convert_column(field, floats.slice(0, 1))
    assert [1_714_989_600_123] == build_field_column(field, whole).values.tolist()
