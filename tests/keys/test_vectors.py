"""Golden vectors: every field type and transform encodes the documented bytes forever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import reference_encoder
from rowkey import bind_key
from rowkey.keys import TRANSFORMS, TYPES

if TYPE_CHECKING:
    from rowkey.keys import FieldType, GoldenVector, Key, Transform

PLUGINS: Mapping[str, type[FieldType | Transform]] = {**TYPES, **TRANSFORMS}


def list_vectors(names: Iterable[str]) -> list[Any]:
    """Return the golden vectors of some plugins as test parameters."""
    return [
        pytest.param(vector, id=f"{name}-{index}")
        for name in names
        for index, vector in enumerate(PLUGINS[name].vectors)
    ]


VECTORS, REFERENCE_VECTORS = list_vectors(PLUGINS), list_vectors(reference_encoder.PLUGIN_NAMES)


def bind_vector(vector: GoldenVector) -> Key:
    """Bind the key of a vector, without the codes that an earlier key assigned."""
    return bind_key(vector.key, vector.fields)


def find_salt(vector: GoldenVector) -> int | None:
    """Return the salt of a vector's row, which is listed under a name that is not a field."""
    salts = [value for name, value in vector.row.items() if name not in vector.fields]
    return salts[0] if salts else None


@pytest.mark.parametrize("name", PLUGINS)
def test_every_plugin_has_a_golden_vector(name: str) -> None:
    """Each field type and transform has at least one golden vector."""
    assert len(PLUGINS[name].vectors) > 0


@pytest.mark.parametrize("name", PLUGINS)
def test_golden_vectors_use_their_plugin(name: str) -> None:
    """The name of the plugin is in the key or in the fields of each of its vectors."""
    for vector in PLUGINS[name].vectors:
        types = {w if isinstance(w, str) else w["type"] for w in vector.fields.values()}
        assert name in types or f"{name}(" in vector.key


@pytest.mark.parametrize("vector", VECTORS)
def test_each_row_has_the_bytes_of_its_golden_vector(vector: GoldenVector) -> None:
    assert vector.hex == bind_vector(vector).encode(vector.row, salt=find_salt(vector)).hex()


@pytest.mark.parametrize("vector", VECTORS)
def test_each_row_of_a_batch_has_the_bytes_of_its_golden_vector(vector: GoldenVector) -> None:
    key = bind_vector(vector)
    columns: dict[str, Any] = {
        name: pa.array([declared.normalize(vector.row[name])] * 3, declared.type.build_arrow_type())
        for name, declared in key.fields.items()
    }
    batch = pa.RecordBatch.from_pydict({"rows": pa.nulls(3), **columns})
    salt = find_salt(vector)
    salts = None if salt is None else np.full(3, salt)
    assert [bytes.fromhex(vector.hex)] * 3 == key.encode_batch(batch, salts=salts).to_pylist()


@pytest.mark.parametrize("vector", REFERENCE_VECTORS)
def test_the_reference_encoder_gives_the_bytes_of_every_golden_vector(vector: GoldenVector) -> None:
    """The encoder written from the documentation gives the bytes of every vector."""
    encoded = reference_encoder.encode_row(vector.key, vector.fields, vector.row, find_salt(vector))
    assert vector.hex == encoded.hex()


@pytest.mark.parametrize("vector", VECTORS)
def test_golden_vectors_decode_to_their_rows(vector: GoldenVector) -> None:
    """Decoding returns the normal value of every field of which the key loses nothing."""
    key = bind_vector(vector)
    encoded = key.encode(vector.row, salt=find_salt(vector))
    recoverable = [name for name in key.fields if key.part_sequence.residue(name).is_empty]
    expected = {name: key.fields[name].normalize(vector.row[name]) for name in recoverable}
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
def test_a_reversed_number_keeps_its_digits_and_puts_the_latest_row_first(
    order: str, reversed_order: str
) -> None:
    """A reversed number has as many digits as before, and its latest row comes first."""
    key = bind_key("[reverse(order)][desc(ts)]", {"order": "text", "ts": "timestamp_ms"})
    older, newer = (key.encode({"order": order, "ts": ts}) for ts in (1, 1_609_459_200_000))
    prefix = f"{reversed_order}\0".encode()
    assert prefix + (2**63 - 1 - 1).to_bytes(8, "big") == older
    assert prefix == newer[: len(prefix)]
    assert newer < older
