"""The format of row keys, inferred from a sample of them: believed only where it reads all."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from math import log2
from typing import TYPE_CHECKING, Any

from rowkey.design import Design
from rowkey.errors import RowkeyError
from rowkey.observe.describing.elements import HEX, Known, candidates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rowkey.observe.describing.elements import Element

    Way = tuple[tuple[str, ...], str, str]
    """The fields that a part may be computed from, how that is written, and how it is called."""

LEAST = 20
"""Keys from which something is inferred: of fewer, what they share may be chance."""
HASHES = ("murmur3", "crc32", "md5", "be", "java31")
"""Hashes that a bucket is tried with. Source: the transform `bucket`."""
DIGESTS = {"md5": 16, "sha1": 20, "sha256": 32, "murmur3": 4, "crc32": 4}
"""Digests that a hash is tried with, and their bytes. Source: the transform `digest`."""
UNSURE = (
    "no hash of the other parts is sure to give it: it may be a bucket, a salt or a sort of row"
)
"""What is said of a first byte that is as regions begin, and is not computed."""
BORNE_OUT = 40
"""Bits in which a computed part must agree, over all different values that it is computed from:
of the 4,160 ways that are tried at most, 13 sources by 5 hashes in 64 widths, one agrees by chance
once in 2^28. Where one site has one bucket, 16 of 16 keys agree as little as one."""
PARTS = 12
"""Parts of a key at most."""


@dataclass(frozen=True, slots=True)
class KeyFormat:
    """How keys are taken to be made.

    Args:
        key: in bracket notation.
        fields: the words of its fields.
        notes: what each part is taken from, as sentences.
    """

    key: str
    fields: Mapping[str, dict[str, Any]]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    """Parts found so far."""

    parts: list[str] = field(default_factory=list)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, element: Element) -> None:
        """Add a part."""
        name = self._name(element.stem) if element.stem else ""
        part = element.part.format(name)
        if name:
            self.fields[name] = dict(element.words)
        self.parts.append(part if part.startswith("[") else f"[{part}]")
        self.notes.append(f"{self.parts[-1]}: {element.why}.")

    def _name(self, stem: str) -> str:
        names = (stem if number == 1 else f"{stem}{number}" for number in count(1))
        return next(name for name in names if name not in self.fields)

    @property
    def key(self) -> str:
        """The parts together."""
        return "".join(self.parts)


def key_format(keys: Sequence[bytes], splits: Sequence[bytes], now_ms: int) -> KeyFormat:
    """The format that all sampled keys have; where there is none, or they are few, plain bytes.

    Args:
        keys: distinct row keys.
        splits: where regions begin.
        now_ms: now, milliseconds since 1970: of numbers far beyond it no time is made.
    """
    if len(keys) < LEAST:
        what = f"{len(keys)} rows were found" if keys else "no row was found"
        return _unknown(keys, f"{what}, and below {LEAST} nothing is inferred from them")
    bucket = _bucket(keys, splits)
    first = 1 if bucket else 0
    found = _Found()
    if bucket:
        found.fields["bucket"] = {"type": "u8"}
        found.parts.append("[bucket]")
        found.notes.append(f"[bucket]: {bucket}; {UNSURE}.")
    _read_on(found, [key[first:] for key in keys], now_ms)
    plain = KeyFormat(found.key, found.fields, tuple(found.notes))
    if not reads(plain, keys):
        return _unknown(keys, "no format was found that reads all sampled keys back")
    if bucket:
        if len({key[0] for key in keys}) < 2:
            return plain  # nor does any hash of many values always give one number
        many = len(splits) + 1
        return _computed(plain, "bucket", _buckets(plain, many), log2(many), keys) or plain
    width = plain.fields.get("hash", {}).get("width", 1)
    computed = _computed(plain, "hash", _digests(plain, width), 4 * width, keys)
    return computed or _hashed(keys, now_ms) or plain


def _hashed(keys: Sequence[bytes], now_ms: int) -> KeyFormat | None:
    """A format that begins with a digest of what follows, raw or in hexadecimal, whole or cut."""
    least, most = min(map(len, keys)), max(DIGESTS.values())
    for is_hex in (False, True):
        for width in range(2, most + 1):
            taken = 2 * width if is_hex else width
            heads = {key[:taken] for key in keys}
            if taken >= least or (is_hex and not all(map(HEX.fullmatch, heads))):
                break
            if 8 * width * len(heads) < BORNE_OUT:
                continue
            found = _Found(["[hash]"], {"hash": {"type": "bytes"}})
            _read_on(found, [key[taken:] for key in keys], now_ms)
            plain = KeyFormat(found.key, found.fields, tuple(found.notes))
            ways = _digests_of(plain, width, is_hex=is_hex)
            if (computed := _computed(plain, "hash", ways, 8 * width, keys)) is not None:
                return computed
    return None


def _unknown(keys: Sequence[bytes], why: str) -> KeyFormat:
    """Keys of which nothing is known."""
    most = max(map(len, keys), default=32)
    room = int(1 << (max(2 * most - 1, 1)).bit_length())
    words = {"type": "bytes", "max_bytes": min(room, 32_767)}
    return KeyFormat("[row:tail]", {"row": words}, (f"How keys are made is not known: {why}.",))


def _bucket(keys: Sequence[bytes], splits: Sequence[bytes]) -> str:
    """What shows that a first byte is what regions begin with; an empty string if nothing does."""
    many = len(splits) + 1
    if many < 2 or many > 256 or list(splits) != [bytes([number]) for number in range(1, many)]:
        return ""
    heads = {key[0] for key in keys if key}
    if max(heads) >= many or any(len(key) < 2 for key in keys):
        return ""
    return (
        f"{many} regions begin at 00, 01 and so on to {many - 1:02x}, and the first byte of every "
        f"sampled key is below {many}"
    )


def _read_on(found: _Found, rests: Sequence[bytes], now_ms: int) -> None:
    """Take the keys apart from the left."""
    keys, is_fixed = rests, bool(found.parts)
    while any(rests) and len(found.parts) < PARTS:
        if not all(rests):
            return  # some keys end where others go on: no format
        element = next(candidates(rests, Known(is_fixed, now_ms, keys)))
        found.add(element)
        is_fixed = len(set(element.ends)) == 1 and bool(element.stem)
        rests = [rest[end:] for rest, end in zip(rests, element.ends, strict=True)]


def reads(found: KeyFormat, keys: Sequence[bytes]) -> bool:
    """Whether a format takes all keys apart and makes the same bytes of what it finds.

    Args:
        found: the format.
        keys: row keys.
    """
    try:
        key = Design("t", found.key, fields=dict(found.fields)).key
        return key.is_decodable and all(key.encode(key.decode(one)) == one for one in keys)
    except RowkeyError:
        return False


def _sources(plain: KeyFormat, without: str) -> list[tuple[str, ...]]:
    """What a part may be computed from: each of the other fields, and all of them."""
    names = [name for name in plain.fields if name != without]
    return [*((name,) for name in names), *([tuple(names)] if len(names) > 1 else [])]


def _buckets(plain: KeyFormat, many: int) -> Iterator[Way]:
    """Ways to compute a bucket."""
    for names in _sources(plain, "bucket"):
        source = ", ".join(names)
        for made in HASHES:
            word = "" if made == "murmur3" else f", hash={made}"
            term = f"bucket({source}, {many}{word})"
            yield names, term, f"the {made} hash of {source}, modulo {many}"


def _digests(plain: KeyFormat, width: int) -> Iterator[Way]:
    """Ways to compute so many hexadecimal digits."""
    return _digests_of(plain, width // 2, is_hex=True) if width % 2 == 0 else iter(())


def _digests_of(plain: KeyFormat, width: int, *, is_hex: bool) -> Iterator[Way]:
    """Ways to compute so many bytes."""
    written = ", as=hex" if is_hex else ""
    for names in _sources(plain, "hash"):
        source = ", ".join(names)
        for made, most in DIGESTS.items():
            if width <= most:
                cut = "all" if width == most else f"the first {width}"
                part = f"digest({source}, {width}, hash={made}{written})"
                yield names, part, f"{cut} bytes of {made} of {source}"


def _computed(
    plain: KeyFormat, name: str, ways: Iterable[Way], bits: float, keys: Sequence[bytes]
) -> KeyFormat | None:
    """The same with one part computed from others, if that gives the bytes of all sampled keys.

    Of another way one value in as many as the part has would fit by chance. So it is only believed
    where enough different values fit; many keys of one value bear it out as one does.

    Args:
        plain: the format in which the part is a field of its own.
        name: that field.
        ways: what to try.
        bits: bits of the part, which one value fits by chance once in 2^bits.
        keys: distinct row keys.
    """
    fields = {one: words for one, words in plain.fields.items() if one != name}
    notes = [note for note in plain.notes if not note.startswith(f"[{name}]")]
    for names, term, called in ways:
        tried = plain.key.replace(f"[{name}]", f"[{term}]", 1)
        made = KeyFormat(tried, fields, ())
        if reads(made, keys) and _different(made, names, keys) * bits >= BORNE_OUT:
            why = f"[{term}]: {called}, in all {len(keys):,} sampled keys."
            return KeyFormat(tried, fields, (why, *notes))
    return None


def _different(found: KeyFormat, names: Sequence[str], keys: Sequence[bytes]) -> int:
    """How many different values of some fields are in keys that a format reads."""
    key = Design("t", found.key, fields=dict(found.fields)).key
    rows = [key.decode(one) for one in keys]
    return len({tuple(row[name] for name in names) for row in rows})
