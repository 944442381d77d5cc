"""The tree of a design file: what may be written, before anything is bound to bytes.

The same classes are what a design written in Python is made of. They check shape and plain ranges
only; whether a type, a kind or a field exists is told by the room that binds the word.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from rowkey.schema.notation import MOST_CHARACTERS

MOST_FIELDS = 1_000
MOST_READS = 200
MOST_FAMILIES = 100
MOST_CHOICES = 65_536
MOST_HEAVY = 10_000
MOST_BURSTS = 100
LONGEST_TEXT = 100_000


class _Words(BaseModel):
    """Words of a design file: unknown ones are mistakes, and nothing is converted silently."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        str_max_length=LONGEST_TEXT,
        defer_build=True,  # what a table of words needs is built once, with the table above it
    )


def _listed(given: Any) -> Any:
    """A TOML list as the tuple it becomes."""
    return tuple(given) if isinstance(given, list) else given


def _typed(given: Any) -> Any:
    """`ts = "timestamp_ms"` is short for `ts = { type = "timestamp_ms" }`."""
    return {"type": given} if isinstance(given, str) else given


def _kinded(given: Any) -> Any:
    """`draw = "zipf"` is short for `draw = { kind = "zipf" }`; None says nothing."""
    if isinstance(given, str):
        return {"kind": given}
    if not isinstance(given, dict):
        return given
    if given.get("kind") is None:
        raise PydanticCustomError("no_kind", "kind is missing")
    return {word: value for word, value in given.items() if value is not None}


Texts = Annotated[tuple[str, ...], Field(max_length=MOST_CHOICES), BeforeValidator(_listed)]
Values = Annotated[tuple[Any, ...], Field(max_length=MOST_HEAVY), BeforeValidator(_listed)]
Arguments = Annotated[dict[str, Any], BeforeValidator(_kinded)]


class FieldWords(_Words):
    """One field of the logical record: its type, where it is stored, what is known of it."""

    type: str = Field(description="the type of its values, such as text or timestamp_ms")
    nullable: bool = Field(False, description="whether a row may lack it although it is in the key")
    of: Texts | None = Field(None, description="choice: its values, in the order of their numbers")
    precision: int | None = Field(None, ge=1, le=38, description="decimal: digits in all")
    scale: int | None = Field(None, ge=0, le=38, description="decimal: digits after the point")
    width: int | None = Field(None, ge=1, le=32_767, description="digits, hex: characters, exactly")
    max_bytes: int | None = Field(None, ge=1, le=2**31 - 1, description="longest value in bytes")
    normalize: Literal["nfc"] | None = Field(None, description="text: Unicode form applied first")
    heavy: Values = Field((), description="values that bucket(…, n, m) spreads over m buckets")
    source: str | None = Field(None, alias="from", description="its column in a sample")
    family: str | None = Field(None, description="the family its column is in")
    qualifier: str | None = Field(None, description="the qualifier of its column")
    at: Literal["qualifier", "timestamp"] | None = Field(
        None, description="where its value lives instead of a column"
    )
    pack: str | None = Field(
        None, description="qualifier of the cell that it shares, and its format: p, or p:protobuf"
    )
    distinct: int | None = Field(None, ge=1, le=10**15, description="how many values, if known")
    mean_bytes: float | None = Field(
        None, ge=0, le=2**31 - 1, description="mean length of a value in bytes, if known"
    )
    draw: Arguments | None = Field(None, description="how often each value comes, for generating")


class Late(_Words):
    """Events that arrive after their time."""

    share: float = Field(gt=0, le=1, description="share of events that are late")
    upto: str = Field(description="longest delay")


class Burst(_Words):
    """A stretch in which more events come."""

    at: str = Field(description="when it begins, after the start")
    lasting: str = Field(alias="for", description="how long it lasts")
    times: float = Field(gt=0, le=10_000, description="how many times the rate")


class WriteWords(_Words):
    """How rows come in."""

    arrival: str = Field("clock", description="how key fields move with arrival")
    rate: str | None = Field(None, description="events per unit of time, such as 5000/s")
    time: str | None = Field(None, description="the field that holds the time of an event")
    sort: bool = Field(
        False, description="whether a sample is sorted by time before it is replayed"
    )
    period: str | None = Field(
        None, description="arrival per(field): time between two of an entity"
    )
    lasting: str | None = Field(
        None, alias="for", description="how long a generated workload lasts"
    )
    late: Late | None = Field(None, description="events that arrive after their time")
    bursts: Annotated[
        tuple[Burst, ...], Field(max_length=MOST_BURSTS), BeforeValidator(_listed)
    ] = Field((), description="stretches in which more events come")


class ReadWords(_Words):
    """A read the table must serve."""

    name: str = Field(min_length=1, max_length=200, description="its name")
    where: str = Field("", description="conditions joined by and")
    order: str = Field("", description="fields, most significant first, each asc or desc")
    limit: int | None = Field(None, ge=1, le=10**9, description="rows wanted")
    rate: str | None = Field(None, description="reads per unit of time")
    span: str | None = Field(None, description="length of time a range over the time field covers")


class ClusterWords(_Words):
    """What the table runs on."""

    servers: int = Field(8, ge=1, le=10_000, description="region servers")
    capacity: str | None = Field(None, description="operations one server serves, such as 20000/s")
    heap: str | None = Field(None, description="heap of one region server, such as 16GiB")


class SampleWords(_Words):
    """A recording of what comes in."""

    path: str = Field(min_length=1, description="the file, relative to the design file")
    format: Arguments | None = Field(None, description="how it is read; from its name if absent")


class Declaration(_Words):
    """One design file as a tree."""

    table: str = Field(description="the table's name, with its namespace if it has one")
    key: str = Field(max_length=MOST_CHARACTERS, description="the row key in bracket notation")
    splits: Annotated[Any, BeforeValidator(_listed)] = Field(
        None,
        description="region boundaries: an algorithm, with arguments or not, or a list of keys",
    )
    fields: dict[str, Annotated[FieldWords, BeforeValidator(_typed)]] = Field(
        min_length=1, max_length=MOST_FIELDS, description="the logical record, not the key"
    )
    families: dict[str, dict[str, Any]] = Field(
        default_factory=dict, max_length=MOST_FAMILIES, description="column families"
    )
    cluster: ClusterWords = Field(default_factory=ClusterWords, description="what it runs on")
    writes: WriteWords = Field(default_factory=WriteWords, description="how rows come in")
    reads: Annotated[
        tuple[ReadWords, ...], Field(max_length=MOST_READS), BeforeValidator(_listed)
    ] = Field((), description="the reads the table must serve")
    sample: SampleWords | None = Field(None, description="a recording of what comes in")
    catalog: str | None = Field(
        None,
        description="where the design is remembered: zookeeper://zk1,zk2/rowkey, file:PATH, or "
        "table for a table of the cluster; beside the tables if not given",
    )
