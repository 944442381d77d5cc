"""Infer the format of row keys from a sample; a format counts only if it reads all keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import log2
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.errors import RowkeyError
from rowkey.observe.description.key_elements import (
    HEX_DIGITS,
    KeyContext,
    KeyElement,
    guess_elements,
)

if TYPE_CHECKING:
    Derivation = tuple[tuple[str, ...], str, str]
    """The fields from which a part may be computed, the part in notation, and a description."""

MIN_KEYS = 20
"""Keys that are needed to infer a format: fewer may have a common pattern by chance."""
BUCKET_HASHES = ("murmur3", "crc32", "md5", "be", "java31")
"""Hashes that a bucket is tried with. Source: the transform `bucket`."""
DIGEST_BYTES = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}
"""Digests that a hash is tried with, and their bytes. Source: the transform `digest`."""
BUCKET_DOUBT = (
    "no tried hash of the other parts surely gives it: it may be a bucket, a salt or a row type"
)
"""The note on a first byte that matches the region starts but is computed from no field."""
MIN_MATCHING_BITS = 40
"""Bits of a computed part that must match, summed over the different values of its fields. At most
4,160 derivations are tried, 13 sources with 5 hashes in 64 widths, so one of them matches by chance
once in 2^28. Keys with equal values count once: 16 keys of one site prove no more than one."""
MAX_PARTS = 12
"""Parts of a key at most."""


@dataclass(frozen=True, slots=True)
class KeyFormat:
    """The inferred format of the row keys of a table.

    Args:
        key: in bracket notation.
        fields: the options of its fields.
        notes: the evidence for each part, as sentences.
    """

    key: str
    fields: Mapping[str, dict[str, Any]]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _KeyBuilder:
    """The key parts and fields that were inferred so far."""

    parts: list[str] = field(default_factory=list)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, element: KeyElement) -> None:
        """Append a guessed element as a key part, with its field."""
        name = self._choose_name(element.name_stem) if element.name_stem else ""
        part = element.notation.format(name)
        if name:
            self.fields[name] = dict(element.field_options)
        self.parts.append(part if part.startswith("[") else f"[{part}]")
        self.notes.append(f"{self.parts[-1]}: {element.reason}.")

    def _choose_name(self, stem: str) -> str:
        """Return an unused field name that begins with a stem."""
        names = (stem if number == 1 else f"{stem}{number}" for number in count(1))
        return next(name for name in names if name not in self.fields)

    @property
    def key(self) -> str:
        """The parts as one key."""
        return "".join(self.parts)


def infer_key_format(keys: Sequence[bytes], splits: Sequence[bytes], now_ms: int) -> KeyFormat:
    """Return the row key format that fits all sampled keys, or a single bytes field.

    Args:
        keys: distinct row keys.
        splits: where regions begin.
        now_ms: now, milliseconds since 1970; numbers far beyond it are not taken for times.
    """
    if len(keys) < MIN_KEYS:
        what = f"only {len(keys)} rows were found" if keys else "no row was found"
        return _build_unknown_format(keys, f"{what}, and at least {MIN_KEYS} are needed")
    bucket = _explain_bucket(keys, splits)
    first = 1 if bucket else 0
    builder = _KeyBuilder()
    if bucket:
        builder.fields["bucket"] = {"type": "u8"}
        builder.parts.append("[bucket]")
        builder.notes.append(f"[bucket]: {bucket}; {BUCKET_DOUBT}.")
    _append_elements(builder, [key[first:] for key in keys], now_ms)
    plain = KeyFormat(builder.key, builder.fields, tuple(builder.notes))
    if not can_read_keys(plain, keys):
        return _build_unknown_format(keys, "no tried format fits all sampled keys")
    if bucket:
        if len({key[0] for key in keys}) < 2:
            return plain  # a hash of many values would give more than one number
        bucket_count = len(splits) + 1
        return (
            _find_derivation(
                plain,
                "bucket",
                _list_bucket_derivations(plain, bucket_count),
                log2(bucket_count),
                keys,
            )
            or plain
        )
    width = plain.fields.get("hash", {}).get("width", 1)
    computed = _find_derivation(plain, "hash", _list_hex_digests(plain, width), 4 * width, keys)
    return computed or _infer_digest_format(keys, now_ms) or plain


def _infer_digest_format(keys: Sequence[bytes], now_ms: int) -> KeyFormat | None:
    """Return a key format that begins with a digest of the other parts; None if none fits."""
    min_key_bytes, max_digest_bytes = min(map(len, keys)), max(DIGEST_BYTES.values())
    for is_hex in (False, True):
        for width in range(2, max_digest_bytes + 1):
            prefix_bytes = 2 * width if is_hex else width
            heads = {key[:prefix_bytes] for key in keys}
            if prefix_bytes >= min_key_bytes or (
                is_hex and not all(map(HEX_DIGITS.fullmatch, heads))
            ):
                break
            if 8 * width * len(heads) < MIN_MATCHING_BITS:
                continue
            builder = _KeyBuilder(["[hash]"], {"hash": {"type": "bytes"}})
            _append_elements(builder, [key[prefix_bytes:] for key in keys], now_ms)
            plain = KeyFormat(builder.key, builder.fields, tuple(builder.notes))
            derivations = _list_digests(plain, width, is_hex=is_hex)
            if (
                computed := _find_derivation(plain, "hash", derivations, 8 * width, keys)
            ) is not None:
                return computed
    return None


def _build_unknown_format(keys: Sequence[bytes], reason: str) -> KeyFormat:
    """Return a key format of one bytes field, with the reason why nothing was inferred."""
    longest_bytes = max(map(len, keys), default=32)
    max_bytes = int(1 << (max(2 * longest_bytes - 1, 1)).bit_length())
    options = {"type": "bytes", "max_bytes": min(max_bytes, 32_767)}
    return KeyFormat("[row:tail]", {"row": options}, (f"The key format is unknown: {reason}.",))


def _explain_bucket(keys: Sequence[bytes], splits: Sequence[bytes]) -> str:
    """Return the evidence that the first byte is a bucket number; "" if there is none."""
    n_regions = len(splits) + 1
    if (
        n_regions < 2
        or n_regions > 256
        or list(splits) != [bytes([number]) for number in range(1, n_regions)]
    ):
        return ""
    heads = {key[0] for key in keys if key}
    if max(heads) >= n_regions or any(len(key) < 2 for key in keys):
        return ""
    return (
        f"{n_regions} regions begin at 00, 01 and so on to {n_regions - 1:02x}, and the first "
        f"byte of every sampled key is below {n_regions}"
    )


def _append_elements(builder: _KeyBuilder, rests: Sequence[bytes], now_ms: int) -> None:
    """Split the sampled keys into elements from left to right, and append each as a part."""
    keys, is_fixed = rests, bool(builder.parts)
    while any(rests) and len(builder.parts) < MAX_PARTS:
        if not all(rests):
            return  # some keys end where others continue, so no format fits
        element = next(guess_elements(rests, KeyContext(is_fixed, now_ms, keys)))
        builder.add(element)
        is_fixed = len(set(element.lengths)) == 1 and bool(element.name_stem)
        rests = [rest[end:] for rest, end in zip(rests, element.lengths, strict=True)]


def can_read_keys(candidate: KeyFormat, keys: Sequence[bytes]) -> bool:
    """Return whether a key format decodes all keys and encodes them to the same bytes.

    Args:
        keys: row keys.
    """
    try:
        key = Design("t", candidate.key, fields=dict(candidate.fields)).key
        return key.is_decodable and all(key.encode(key.decode(one)) == one for one in keys)
    except RowkeyError:
        return False


def _list_sources(base_format: KeyFormat, excluded_name: str) -> list[tuple[str, ...]]:
    """Return each field alone, and all of them together: what a bucket or digest is tried with."""
    names = [name for name in base_format.fields if name != excluded_name]
    return [*((name,) for name in names), *([tuple(names)] if len(names) > 1 else [])]


def _list_bucket_derivations(base_format: KeyFormat, bucket_count: int) -> Iterator[Derivation]:
    """Yield the ways to compute a bucket from other fields."""
    for names in _list_sources(base_format, "bucket"):
        source = ", ".join(names)
        for hash_name in BUCKET_HASHES:
            option = "" if hash_name == "murmur3" else f", hash={hash_name}"
            term = f"bucket({source}, {bucket_count}{option})"
            yield names, term, f"the {hash_name} hash of {source}, modulo {bucket_count}"


def _list_hex_digests(base_format: KeyFormat, width: int) -> Iterator[Derivation]:
    """Return the ways to compute a number of hexadecimal digits from other fields."""
    return _list_digests(base_format, width // 2, is_hex=True) if width % 2 == 0 else iter(())


def _list_digests(base_format: KeyFormat, width: int, *, is_hex: bool) -> Iterator[Derivation]:
    """Yield the ways to compute a number of digest bytes from other fields."""
    option = ", as=hex" if is_hex else ""
    for names in _list_sources(base_format, "hash"):
        source = ", ".join(names)
        for hash_name, max_width in DIGEST_BYTES.items():
            if width <= max_width:
                extent = "all" if width == max_width else f"the first {width}"
                part = f"digest({source}, {width}, hash={hash_name}{option})"
                yield names, part, f"{extent} bytes of {hash_name} of {source}"


def _find_derivation(
    base_format: KeyFormat,
    name: str,
    derivations: Iterable[Derivation],
    bits: float,
    keys: Sequence[bytes],
) -> KeyFormat | None:
    """Return the format with a field replaced by a computed part that fits all keys.

    A wrong derivation fits one value by chance once in 2^bits, so enough different values must
    fit. Keys with equal values count once.

    Args:
        base_format: the format in which the part is a field of its own.
        name: that field.
        derivations: the derivations to try.
        bits: bits of the part.
        keys: distinct row keys.
    """
    fields = {one: words for one, words in base_format.fields.items() if one != name}
    notes = [note for note in base_format.notes if not note.startswith(f"[{name}]")]
    for names, term, description in derivations:
        key_text = base_format.key.replace(f"[{name}]", f"[{term}]", 1)
        candidate = KeyFormat(key_text, fields, ())
        if (
            can_read_keys(candidate, keys)
            and _count_distinct_values(candidate, names, keys) * bits >= MIN_MATCHING_BITS
        ):
            why = f"[{term}]: {description}, in all {len(keys):,} sampled keys."
            return KeyFormat(key_text, fields, (why, *notes))
    return None


def _count_distinct_values(
    candidate: KeyFormat, names: Sequence[str], keys: Sequence[bytes]
) -> int:
    """Return how many distinct values some fields have in the sampled keys."""
    key = Design("t", candidate.key, fields=dict(candidate.fields)).key
    rows = [key.decode(one) for one in keys]
    return len({tuple(row[name] for name in names) for row in rows})
