"""The keys of a design file as Pydantic models.

A design written in Python is built from the same classes. They check types and plain limits only.
Whether a field, a field type or a plugin exists is checked when the design is bound.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from rowkey.schema.key_notation import MAX_KEY_CHARACTERS

MAX_FIELDS = 1_000
MAX_READS = 200
MAX_FAMILIES = 100
MAX_CHOICES = 65_536
MAX_HEAVY_VALUES = 10_000
MAX_BURSTS = 100
MAX_TEXT_CHARACTERS = 100_000
MAX_PRICE = 1e9
MAX_COMPANIONS = 8
STORED_OPTIONS = ("nullable", "of", "precision", "scale", "width", "max_bytes", "normalize")
"""Options of a field, besides its type, that bear on its bytes or on which values it allows."""


class _StrictModel(BaseModel):
    """A table of a design file; unknown keys are mistakes, and values are never converted."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        str_max_length=MAX_TEXT_CHARACTERS,
        defer_build=True,  # the validator of a nested model is built once, with its parent's
    )


def _to_share(toml_value: Any) -> Any:
    """Return a share that was written in percent as a number; anything else as it is."""
    if isinstance(toml_value, str) and toml_value.endswith("%"):
        with suppress(ValueError):
            return float(toml_value.removesuffix("%")) / 100
    return toml_value


def _to_tuple(toml_value: Any) -> Any:
    """Return a TOML list as a tuple, and any other value unchanged."""
    return tuple(toml_value) if isinstance(toml_value, list) else toml_value


def _expand_type(toml_value: Any) -> Any:
    """Expand the short form `ts = "timestamp_ms"` to `ts = { type = "timestamp_ms" }`."""
    return {"type": toml_value} if isinstance(toml_value, str) else toml_value


def _expand_plugin(toml_value: Any) -> Any:
    """Expand `draw = "zipf"` to `draw = { kind = "zipf" }`, and drop keys set to None."""
    if isinstance(toml_value, str):
        return {"kind": toml_value}
    if not isinstance(toml_value, dict):
        return toml_value
    if toml_value.get("kind") is None:
        raise PydanticCustomError("no_kind", "kind is missing")
    return {name: value for name, value in toml_value.items() if value is not None}


TextTuple = Annotated[tuple[str, ...], Field(max_length=MAX_CHOICES), BeforeValidator(_to_tuple)]
ValueTuple = Annotated[
    tuple[Any, ...], Field(max_length=MAX_HEAVY_VALUES), BeforeValidator(_to_tuple)
]
PluginArguments = Annotated[dict[str, Any], BeforeValidator(_expand_plugin)]


class FieldDeclaration(_StrictModel):
    """One field of a row: its type, where its value is stored, and what is known of its values."""

    type: str = Field(description="the field type, such as text or timestamp_ms")
    nullable: bool = Field(
        False, description="whether a field of the row key may be null; other fields always may"
    )
    of: TextTuple | None = Field(
        None, description="choice: the allowed values; the first is stored as 0, the next as 1, …"
    )
    precision: int | None = Field(None, ge=1, le=38, description="decimal: total number of digits")
    scale: int | None = Field(None, ge=0, le=38, description="decimal: digits after the point")
    width: int | None = Field(
        None, ge=1, le=32_767, description="digits, hex: exact number of characters"
    )
    max_bytes: int | None = Field(
        None, ge=1, le=2**31 - 1, description="maximum length of a value in bytes"
    )
    normalize: Literal["nfc"] | None = Field(
        None, description="text: Unicode normalization of values before they are stored"
    )
    heavy: ValueTuple = Field(
        (), description="very frequent values, each of which bucket(…, n, m) spreads over m buckets"
    )
    source: str | None = Field(
        None, alias="from", description="name of the sample's column, if it is not the field's name"
    )
    family: str | None = Field(None, description="column family of the field's column")
    qualifier: str | None = Field(
        None,
        description="column qualifier of the field's column: text, in which \\xNN is one byte and "
        "\\x5C a backslash, as in HBase's shell",
    )
    at: Literal["qualifier", "timestamp"] | None = Field(
        None, description="store the value in the qualifier or the timestamp of the row's cells"
    )
    pack: str | None = Field(
        None,
        description="qualifier of a cell that several fields share, and its format: p:protobuf",
    )
    distinct: int | None = Field(
        None, ge=1, le=10**15, description="number of distinct values, if known"
    )
    unique: bool = Field(
        False, description="whether no two rows have the same value, which then is a key by itself"
    )
    mean_bytes: float | None = Field(
        None, ge=0, le=2**31 - 1, description="mean length of a value in bytes, if known"
    )
    draw: PluginArguments | None = Field(
        None, description="distribution from which a generated workload draws values"
    )


class LateEvents(_StrictModel):
    """Events that arrive some time after the time they carry."""

    share: float = Field(gt=0, le=1, description="the share of the events that are late, 0 to 1")
    upto: str = Field(description="the maximum delay, such as 10m")


class Burst(_StrictModel):
    """A period with a higher rate of events."""

    at: str = Field(description="the time from the start of the workload to the burst, such as 1h")
    lasting: str = Field(alias="for", description="the duration of the burst, such as 5m")
    times: float = Field(gt=0, le=10_000, description="the factor by which the rate is multiplied")


class WriteDeclaration(_StrictModel):
    """The rate, the order and the timing of the events that are written."""

    arrival: str = Field(
        "clock",
        description="order of the events: clock, random, sequential, per(field) or bulk_sorted",
    )
    rate: str | None = Field(None, description="events per unit of time, such as 5000/s")
    grows: Literal["entities", "rows"] | None = Field(
        None,
        description="what makes the declared rate higher than that of a sample: entities (more "
        "users, devices, … of the same pace) or rows (the same ones, more often)",
    )
    time: str | None = Field(None, description="name of the field with the time of an event")
    sort: bool | None = Field(
        None,
        description="whether a sample is sorted by time before it is replayed; "
        "if not set, where events arrive by the clock and the times of the sample are in no order",
    )
    period: str | None = Field(
        None, description="arrival per(field): time between two events with the same value of it"
    )
    lasting: str | None = Field(
        None, alias="for", description="duration of a generated workload, such as 1h"
    )
    late: LateEvents | None = Field(
        None, description="how many events arrive late, and how late at most"
    )
    bursts: Annotated[
        tuple[Burst, ...], Field(max_length=MAX_BURSTS), BeforeValidator(_to_tuple)
    ] = Field((), description="periods with a higher rate")


class ReadDeclaration(_StrictModel):
    """A read that the table must serve."""

    name: str = Field(min_length=1, max_length=200, description="the name of the read")
    where: str = Field("", description="conditions joined by and, such as host = ? and ts > ?")
    order: str = Field("", description="sort order of the rows, such as ts desc, host")
    limit: int | None = Field(None, ge=1, le=10**9, description="maximum number of rows")
    rate: str | None = Field(None, description="reads per unit of time, such as 100/s")
    span: str | None = Field(
        None, description="length of the time range that a read covers, such as 1h"
    )
    keys: str | None = Field(
        None,
        description="how often each value that the conditions give is asked for: sample (as often "
        "as it has rows, the default), uniform (each as often as the others) or zipf(1.2) (the "
        "value with the most rows most often, by Zipf's law with this exponent; 0.99 in zipf "
        "without a number)",
    )
    age: str | None = Field(
        None,
        description="how long before the newest row a time range ends: latest (with it), uniform "
        "(any age is equally likely) or exp(1h) (exponential, with this mean); if not set, a range "
        "begins at the time of any row, and one without an end is the latest if it has a span",
    )


class ClusterDeclaration(_StrictModel):
    """The HBase cluster that the table is for."""

    servers: int = Field(8, ge=1, le=10_000, description="number of region servers")
    capacity: str | None = Field(
        None, description="operations that one region server can serve, such as 20000/s"
    )
    heap: str | None = Field(None, description="heap size of one region server, such as 16GiB")
    price_per_server_hour: float | None = Field(
        None,
        gt=0,
        le=MAX_PRICE,
        description="price of one region server for an hour, in your currency, such as 0.4",
    )
    price_per_gib_month: float | None = Field(
        None,
        gt=0,
        le=MAX_PRICE,
        description="price of a GiB of disk for a month, in the same currency, such as 0.05",
    )


class SampleDeclaration(_StrictModel):
    """A file with recorded events."""

    path: str | None = Field(
        None, min_length=1, description="the path of the file, relative to the design file"
    )
    format: PluginArguments | None = Field(
        None, description="file format, such as csv; chosen by the file's name if not given"
    )

    of: str | None = Field(
        None,
        min_length=1,
        description="what the file is a part of: period (all events of some time), events (some "
        "of all events, such as each hundredth line) or the name of a field (all events of some "
        "values of it, such as some users); period if not set",
    )
    share: Annotated[float | None, BeforeValidator(_to_share)] = Field(
        None, gt=0, lt=1, description="how much of that the file is, such as 1% or 0.01"
    )


class DesignDeclaration(_StrictModel):
    """A whole design file."""

    table: str = Field(description="the table name, with its namespace if it has one")
    key: str = Field(
        max_length=MAX_KEY_CHARACTERS,
        description="the row key in bracket notation, such as [bucket(host, 16)][host][ts]",
    )
    splits: Annotated[Any, BeforeValidator(_to_tuple)] = Field(
        None,
        description="how the table is split into regions: an algorithm, or a list of split keys",
    )
    fields: dict[str, Annotated[FieldDeclaration, BeforeValidator(_expand_type)]] = Field(
        min_length=1,
        max_length=MAX_FIELDS,
        description='the fields of a row with their types, such as { host = "text" }',
    )
    families: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        max_length=MAX_FAMILIES,
        description="column families and their attributes, by name",
    )
    cluster: ClusterDeclaration = Field(
        default_factory=ClusterDeclaration, description="the HBase cluster that the table is for"
    )
    writes: WriteDeclaration = Field(
        default_factory=WriteDeclaration, description="how events are written to the table"
    )
    reads: Annotated[
        tuple[ReadDeclaration, ...], Field(max_length=MAX_READS), BeforeValidator(_to_tuple)
    ] = Field((), description="the reads that the table must serve")
    sample: SampleDeclaration | None = Field(None, description="a file with recorded events")
    companions: Annotated[dict[str, str], Field(max_length=MAX_COMPANIONS)] = Field(
        default_factory=dict,
        description="design files of further tables with the same rows under other keys, by the "
        'table\'s name, such as { orders_by_number = "orders_by_number.toml" }; they are written '
        "and read together with this table; one with only the fields of its key is an index",
    )
    catalog: str | None = Field(
        None,
        description="where the design is stored: zookeeper://zk1,zk2/rowkey, file:PATH, or table "
        "for a table of the cluster; if not given, in the storage of the tables",
    )
