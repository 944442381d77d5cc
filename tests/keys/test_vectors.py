"""Golden vectors: the bytes that each kind promises for ever, and the encoder's word for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import book
from rowkey import bind_key
from rowkey.keys import TRANSFORMS, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rowkey.keys import FieldType, GoldenVector, Key, Transform

KINDS: Mapping[str, type[FieldType | Transform]] = {**TYPES, **TRANSFORMS}


def vectors(names: Iterable[str]) -> list[Any]:
    """Every vector of some kinds."""
    return [
        pytest.param(vector, id=f"{name}-{index}")
        for name in names
        for index, vector in enumerate(KINDS[name].vectors)
    ]


VECTORS, ON_THE_PAGE = vectors(KINDS), vectors(book.KINDS)


def bound(vector: GoldenVector) -> Key:
    """The key of a vector, bound anew."""
    return bind_key(vector.key, vector.fields)


def salt_of(vector: GoldenVector) -> int | None:
    """The number drawn for the row: what stands in it under the name of no field."""
    drawn = [value for name, value in vector.row.items() if name not in vector.fields]
    return drawn[0] if drawn else None


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_vectors(name: str) -> None:
    """No kind goes without golden vectors: they are its contract."""
    assert len(KINDS[name].vectors) > 0


@pytest.mark.parametrize("name", KINDS)
def test_vectors_are_of_the_kind(name: str) -> None:
    """A vector shows the kind that carries it: its name stands in the key or in the fields."""
    for vector in KINDS[name].vectors:
        types = {w if isinstance(w, str) else w["type"] for w in vector.fields.values()}
        assert name in types or f"{name}(" in vector.key


@pytest.mark.parametrize("vector", VECTORS)
def test_rows(vector: GoldenVector) -> None:
    """One row has the bytes of its vector."""
    assert vector.hex == bound(vector).encode(vector.row, salt=salt_of(vector)).hex()


@pytest.mark.parametrize("vector", VECTORS)
def test_batches(vector: GoldenVector) -> None:
    """A batch has the bytes of the vector in every row."""
    key = bound(vector)
    columns: dict[str, Any] = {
        name: pa.array([declared.normalize(vector.row[name])] * 3, declared.type.build_arrow_type())
        for name, declared in key.fields.items()
    }
    batch = pa.RecordBatch.from_pydict({"rows": pa.nulls(3), **columns})
    salt = salt_of(vector)
    salts = None if salt is None else np.full(3, salt)
    assert [bytes.fromhex(vector.hex)] * 3 == key.encode_batch(batch, salts=salts).to_pylist()


@pytest.mark.parametrize("vector", ON_THE_PAGE)
def test_book(vector: GoldenVector) -> None:
    """The page of bytes, read by hand, gives the bytes of every vector that it covers."""
    told = book.encode(vector.key, vector.fields, vector.row, salt_of(vector))
    assert vector.hex == told.hex()


@pytest.mark.parametrize("vector", VECTORS)
def test_decoding(vector: GoldenVector) -> None:
    """The bytes give back the normal value of every field that they do not lose."""
    key = bound(vector)
    encoded = key.encode(vector.row, salt=salt_of(vector))
    claimed = [name for name in key.fields if key.part_sequence.residue(name).is_empty]
    expected = {name: key.fields[name].normalize(vector.row[name]) for name in claimed}
    assert expected == key.decode(encoded)


@pytest.mark.claims(67)
@pytest.mark.parametrize(
    ("order", "reversed_order"),
    [
        ("2021010101010101", "1010101010101202"),
        ("20210202020202", "20202020201202"),
        ("20210303030303", "30303030301202"),
    ],
)
def test_a_reversed_number_has_its_own_digits(order: str, reversed_order: str) -> None:
    """Turned round, a number has as many digits as before, and the latest row of it is first."""
    key = bind_key("[reverse(order)][desc(ts)]", {"order": "text", "ts": "timestamp_ms"})
    older, newer = (key.encode({"order": order, "ts": ts}) for ts in (1, 1_609_459_200_000))
    begins = f"{reversed_order}\0".encode()
    assert begins + (2**63 - 1 - 1).to_bytes(8, "big") == older
    assert begins == newer[: len(begins)]
    assert newer < older
