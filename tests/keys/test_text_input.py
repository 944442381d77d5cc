"""Values written as text are parsed the same alone and in a column, or refused in both."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given

import strategies
from example_counts import divide_examples
from rowkey.errors import RowError
from rowkey.keys import TYPES, FieldPart, bind_key

if TYPE_CHECKING:
    from rowkey.keys import Field, Key, Part

SPECIAL_TEXTS = [
    "--5", "+-5", "-+5", "+5", "1_0", "\uff11", "0x1F", " 7 ", "7\n", "", "nan", "inf",
    "-Infinity", "1e3", "1e-3", "1e99999999999999999999", ".5", "5.", "0" * 110 + "7",
    "1." + "0" * 110 + "5", "9" * 2_000, "2024-01-01T10:30.5", "2024-01-01T10:30:00.5",
    "2024-01-01T10:30:00,5", "20240101T103000.5", "2024-01-01", "2024-01-01T10:30",
    "2024-01-01T10:30:00+01:00", "2024-01-01 10:30:00.000Z", "2024-01-01 10:30:00.0000000Z",
    "2024-01-01 10:30:00.250Z", "1969-12-31 23:59:59Z", "true", "TRUE", "1", "0", "10.0.0.1", "::1",
]  # fmt: skip
"""Texts that parsers treat differently."""
TIME_TYPES = ["timestamp_s", "timestamp_ms", "timestamp_us", "timestamp_ns"]
RANDOM_TEXTS = st.one_of(
    st.text("0123456789+-.,eE_x: TZ/abf\uff11\u0663", max_size=12),
    st.sampled_from(SPECIAL_TEXTS),
)  # fmt: skip


def encode_text(key: Key, text: str) -> bytes | None:
    """Encode a value written as text; None if it is refused."""
    try:
        return key.encode({"a": key.fields["a"].parse(text), "n": 1})
    except RowError:
        return None


def encode_column(key: Key, array: pa.Array) -> bytes | None:
    """Encode a column of one value; None if it is refused."""
    try:
        batch = pa.record_batch({"a": array, "n": pa.array([1], pa.uint8())})
        (encoded,) = key.encode_batch(batch).to_pylist()
    except RowError:
        return None
    assert isinstance(encoded, bytes)
    return encoded


@pytest.mark.parametrize(
    "type_name", sorted(set(TYPES) - {"text", "bytes", "choice", "hex", "digits"})
)
@divide_examples(6, long=4)
@given(data=st.data())
def test_a_text_column_is_parsed_as_single_texts(type_name: str, data: st.DataObject) -> None:
    """A text gives the same key alone, in a text column, and where Arrow casts the column."""
    declaration = data.draw(strategies.declarations(type_name))
    fields = {"a": declaration.model_dump(by_alias=True, exclude_none=True), "n": "u8"}
    key = bind_key("[a][n]", fields)
    field = key.fields["a"]
    texts = st.one_of(RANDOM_TEXTS, strategies.values(field).map(field.type.format_value))
    assert_encoded_alike(key, data.draw(texts))


@pytest.mark.parametrize("type_name", ["i8", "u64", *TIME_TYPES, "float64", "bool", "uuid"])
def test_a_column_of_special_texts_is_parsed_as_single_texts(type_name: str) -> None:
    """Texts that parsers treat differently give the same key alone, in a column and cast."""
    key = bind_key("[a][n]", {"a": type_name, "n": "u8"})
    for text in SPECIAL_TEXTS:
        assert_encoded_alike(key, text)


def assert_encoded_alike(key: Key, text: str) -> None:
    """Check that a text gives the same key alone, in a column, and where Arrow casts the column."""
    expected = encode_text(key, text)
    for arrow_type in (pa.string(), pa.large_string()):
        assert expected == encode_column(key, pa.array([text], arrow_type))
    typed = key.fields["a"].type.cast_text_column(pa.array([text]))
    if typed is not None:
        assert expected == encode_column(key, typed) is not None


@pytest.mark.parametrize("type_name", TIME_TYPES)
def test_arrow_casts_times_only_if_nothing_would_be_lost(type_name: str) -> None:
    """Zeros below the unit are cast as fast as whole seconds; what would be lost is not cast."""
    whole, zeros = "2024-01-01 10:30:00Z", "2024-01-01 10:30:00.000Z"
    field_type = bind_key("[a]", {"a": type_name}).fields["a"].type
    expected = pa.array([field_type.parse(whole)] * 3).cast(field_type.build_arrow_type())
    assert field_type.cast_text_column(pa.array([whole, zeros, whole])) == expected
    assert field_type.cast_text_column(pa.array([zeros, whole, zeros])) == expected
    half = field_type.cast_text_column(pa.array([whole, "2024-01-01 10:30:00.500Z"]))
    assert (half is None) == (type_name == "timestamp_s")


@pytest.mark.parametrize("text", ["--5", "+-5", "1_0", "\uff11", "x5", "", "+"])
def test_text_that_is_not_a_number_is_refused(text: str) -> None:
    """Two signs, underscores and digits of other scripts are not a number."""
    for declaration in ("i64", {"type": "decimal", "precision": 5}):
        field = bind_key("[a]", {"a": declaration}).fields["a"]
        with pytest.raises(RowError, match="is not a"):
            field.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0" * 110 + "7", Decimal("7.00")), ("+.5", Decimal("0.50")), ("5.", Decimal("5.00"))],
)
def test_a_long_decimal_is_parsed_completely(text: str, expected: Decimal) -> None:
    """No digit of a decimal is cut off."""
    field = bind_key("[d]", {"d": {"type": "decimal", "precision": 9, "scale": 2}}).fields["d"]
    assert expected == field.parse(text)


@pytest.mark.parametrize("text", ["1." + "0" * 110 + "5", "0" * 1_001, "1e-400", "1e400"])
def test_a_decimal_beyond_the_scale_is_refused_and_not_rounded(text: str) -> None:
    """A digit beyond the scale is refused, however long the text is."""
    field = bind_key("[d]", {"d": {"type": "decimal", "precision": 9, "scale": 2}}).fields["d"]
    with pytest.raises(RowError):
        field.parse(text)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.array([72_000_000], pa.timestamp("ms", "Asia/Tokyo")),
            "has a time zone; expected date",
        ),
        (
            pa.array([72_000_000], pa.timestamp("ms")),
            "has times other than midnight; expected dates",
        ),
        (pa.array([2_932_897], pa.int32()).cast(pa.date32()), "2932897 days after 1970"),
    ],
)
def test_a_date_column_with_times_of_day_is_refused(column: pa.Array, message: str) -> None:
    """A date column with time zones, times of day or years beyond the calendar is refused."""
    with pytest.raises(RowError, match=message):
        bind_key("[d]", {"d": "date"}).encode_batch(pa.record_batch({"d": column}))


def test_timestamps_at_midnight_are_dates() -> None:
    """A column of timestamps at midnight is encoded as dates."""
    key = bind_key("[d]", {"d": "date"})
    days = [datetime(2024, 1, 2), datetime(1969, 12, 31)]  # noqa: DTZ001 - a date has no time zone
    batch = pa.record_batch({"d": pa.array(days, pa.timestamp("ns"))})
    assert [key.encode({"d": day.date()}) for day in days] == key.encode_batch(batch).to_pylist()


def test_numpy_scalars_are_encoded_as_python_values() -> None:
    """NumPy's numbers and truth values are encoded like Python's."""
    key = bind_key("[f][g][b][n]", {"f": "float32", "g": "float64", "b": "bool", "n": "u8"})
    row = {"f": np.float32(1.5), "g": np.float64(2.5), "b": np.bool_(True), "n": np.int8(3)}
    assert key.encode({"f": 1.5, "g": 2.5, "b": True, "n": 3}) == key.encode(row)
    with pytest.raises(RowError, match="expected true or false"):
        key.encode({**row, "b": np.int8(1)})


@pytest.mark.parametrize("type_name", sorted(TYPES))
@divide_examples(6, long=4)
@given(data=st.data())
def test_columns_of_nulls_and_of_views_are_encoded(type_name: str, data: st.DataObject) -> None:
    """A column of nulls, and a string or binary view with nulls, are encoded as rows are."""
    declaration = data.draw(strategies.declarations(type_name)).model_copy(
        update={"nullable": True}
    )
    options = declaration.model_dump(by_alias=True, exclude_none=True)
    key = bind_key("[a][n]", {"a": options, "n": "u8"})
    field = key.fields["a"]
    value = field.normalize(data.draw(strategies.values(field)))
    numbers = pa.array([1, 2], pa.uint8())
    nulls = [key.encode({"a": None, "n": n}) for n in (1, 2)]
    batch = pa.record_batch({"a": pa.nulls(2), "n": numbers})
    assert nulls == key.encode_batch(batch).to_pylist()
    views = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
    view = views.get(field.type.build_arrow_type())
    if view is not None:
        rows = [key.encode({"a": value, "n": 1}), nulls[1]]
        batch_with_view = pa.record_batch({"a": pa.array([value, None], view), "n": numbers})
        assert rows == key.encode_batch(batch_with_view).to_pylist()


@pytest.mark.parametrize("nullable", [False, True])
def test_zero_keys_decode_to_an_empty_batch_with_all_columns(nullable: bool) -> None:
    """The empty batch has the columns and types of any other batch."""
    fields = {
        name: {"type": type_name, "nullable": nullable, **options}
        for name, type_name, options in (
            ("a", "text", {}), ("b", "i64", {}), ("c", "date", {}), ("d", "timestamp_ms", {}),
            ("e", "decimal", {"precision": 5}), ("f", "choice", {"of": ["x"]}), ("g", "uuid", {}),
        )
    }  # fmt: skip
    key = bind_key("[a][b][c][d][e][f][desc(g)]", fields)
    keys = key.encode_batch(pa.record_batch({name: pa.array([], find_arrow_type(key.fields[name]))
                                             for name in key.fields}))  # fmt: skip
    row = {name: field.type.domain.generate_value(0) for name, field in key.fields.items()}
    one = key.decode_batch(pa.array([key.encode(row)]))
    assert one.schema == key.decode_batch(keys).schema


def find_arrow_type(field: Field) -> pa.DataType:
    """Return the Arrow type of a field."""
    return field.type.build_arrow_type()


@pytest.mark.parametrize(
    "plugin_name", [*sorted(TYPES), "pad", "reverse", "desc", "digest", "truncate"]
)
@divide_examples(6, long=4)
@given(data=st.data())
def test_every_generated_row_can_be_encoded(plugin_name: str, data: st.DataObject) -> None:
    """The key accepts every value of the domain of its fields."""
    key = data.draw(strategies.keys(plugin_name))
    assume(all(map(accepts_declared_width, key.parts)))
    widths = {width for part in key.parts for width in iter_fixed_widths(part)}
    assume(len(widths) == len({field for field, _ in widths}))  # no row has two widths of a field
    for row in key.generate_rows(6):
        assert key.encode(row, salt=0 if key.is_salted else None)


def accepts_declared_width(part: Part) -> bool:
    """Return whether a part is wide enough for the declared width of its field."""
    width = part.framing.width
    if isinstance(part, FieldPart) and part.reference.encoding == "fixed":
        limit = part.field.type.max_value_bytes
        return width is None or limit is None or width <= limit
    if part.name == "pad":
        declared = part.field.declaration.width  # type: ignore[attr-defined]
        return width is None or declared is None or declared <= width
    return all(map(accepts_declared_width, part.children))


def iter_fixed_widths(part: Part) -> Iterator[tuple[str, int | None]]:
    """Yield each field that a part or its children encode in a fixed width, and the width."""
    if isinstance(part, FieldPart) and part.reference.encoding == "fixed":
        yield str(part.fields[0]), part.framing.width
    for child in part.children:
        yield from iter_fixed_widths(child)


@pytest.mark.parametrize(
    "notation", ["[pad(a, {0})][digest(pad(a, {1}), 4)]", "[pad(a, {0})][pad(a, {1})]"]
)
@pytest.mark.parametrize("widths", [(4, 4), (4, 6), (6, 4)])
@pytest.mark.parametrize("options", [{"type": "digits", "width": 3}, {"type": "text"}])
def test_a_field_may_be_padded_twice(
    notation: str, widths: tuple[int, int], options: dict[str, object]
) -> None:
    """The example rows of a key that pads a field twice satisfy both parts."""
    key = bind_key(notation.format(*widths), {"a": options})
    assert 900 <= key.find_domain("a").size < 10**4
    assert len({key.encode(row) for row in key.generate_rows(20)}) == 20


def test_padding_a_field_keeps_the_domains_of_other_fields() -> None:
    """Only the padded field has the domain of numbers."""
    fields = {"n": {"type": "text", "max_bytes": 3}, "ts": "timestamp_ms", "b": "bool"}
    key = bind_key("[bucket(n, 4)][pad(n, 6)][ts][b]", fields)
    alone = bind_key("[ts][b]", {name: fields[name] for name in ("ts", "b")})
    assert [key.find_domain(name) for name in ("ts", "b")] == [
        alone.find_domain(name) for name in ("ts", "b")
    ]
    assert ("1", "999", 999) == (
        key.find_domain("n").generate_value(0),
        key.find_domain("n").generate_value(998),
        key.find_domain("n").size,
    )


def test_example_rows_of_nullable_fields_differ() -> None:
    """No example row has only nulls where its key would be empty."""
    fields = {"a": {"type": "text", "nullable": True}, "b": {"type": "u8", "nullable": True}}
    for notation in ("[a]", "[a][b]", "[desc(b)]"):
        key = bind_key(notation, {n: f for n, f in fields.items() if n in notation})
        assert len({key.encode(row) for row in key.generate_rows(4)}) == 4


def test_nan_after_a_null_is_refused_with_its_row() -> None:
    """The error counts a null before NaN as a row."""
    key = bind_key("[f][n]", {"f": {"type": "float64", "nullable": True}, "n": "u8"})
    batch = pa.record_batch(
        {"f": pa.array([1.0, None, float("nan")]), "n": pa.array([1, 2, 3], pa.uint8())}
    )
    with pytest.raises(
        RowError,
        match=r"^row 2 \(counted from 0\), field f: NaN has no position in the order of row keys",
    ):
        key.encode_batch(batch)
