"""Random designs with every option of a design file, and a valid small one to change."""

from __future__ import annotations

from datetime import date
from typing import Any

import hypothesis.strategies as st
from hypothesis import reject

import strategies
from rowkey import Design
from rowkey.cells import ATTRIBUTES, FOREVER_S
from rowkey.design import list_key_prefixes
from rowkey.errors import InvalidDesign
from rowkey.keys import TYPES, Key
from rowkey.regions import to_string_binary
from rowkey.schema import FieldRef, FunctionCall, Term, format_key
from rowkey.workload import ARRIVAL_MODES, DISTRIBUTIONS, FORMATS
from schema import spellings

SOUND = """\
table  = "logs"
key    = "[bucket(host, 16)][host][desc(ts)]"
splits = "per_bucket"

[fields]
host = { type = "text", max_bytes = 40 }
ts   = "timestamp_ms"
note = { type = "text", family = "d", qualifier = "n" }

[families.d]
ttl = "30d"

[cluster]
servers = 4

[writes]
rate = "5000/s"

[[reads]]
name  = "tail"
where = "host = ?"
order = "ts desc"
"""
"""A valid design file."""

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_LENGTHS = st.builds("{}{}".format, st.integers(1, 90), st.sampled_from(["ms", "s", "m", "h"]))
_RATES = st.sampled_from(["1/s", "5000/s", "2.5/m", "90/h"])
_FAMILIES = st.sampled_from(["d", "meta", "größe", "a b", "x.y", "#1", "[f]"])


def _rename_fields(term: Term, names: dict[str, str]) -> Term:
    match term:
        case FieldRef(name, encoding, arguments):
            return FieldRef(names[name], encoding, arguments)
        case FunctionCall(kind, terms, scalars, options):
            return FunctionCall(
                kind, tuple(_rename_fields(one, names) for one in terms), scalars, options
            )
    return term


@st.composite
def _families(draw: st.DrawFn) -> dict[str, dict[str, Any]]:
    """Draw a few families with random attributes."""
    found: dict[str, dict[str, Any]] = {}
    for name in draw(st.lists(_FAMILIES, max_size=3, unique=True)):
        chosen = draw(st.lists(st.sampled_from(sorted(ATTRIBUTES)), max_size=6, unique=True))
        words = {word: draw(_attribute(word)) for word in chosen if word != "min_versions"}
        if words.get("versions", 1) > 1 and words.get("ttl", FOREVER_S) not in (
            FOREVER_S,
            "FOREVER",
        ):
            words["min_versions"] = draw(st.integers(0, words["versions"]))
        found[name] = words
    return found


def _attribute(word: str) -> st.SearchStrategy[Any]:
    row = ATTRIBUTES[word]
    if isinstance(row.default, bool):
        return st.booleans()
    if row.choices:
        return st.sampled_from([choice.replace("(n)", "(8)") for choice in row.choices])
    numbers = st.integers(row.min_value, row.max_value)
    lengths = st.sampled_from(["30d", "90s", "FOREVER", "1000ms"])
    return st.one_of(numbers, lengths) if row.is_duration else numbers


@st.composite
def _field(draw: st.DrawFn, words: dict[str, Any], families: list[str], number: int) -> Any:
    """Draw the options of a field, with optional ones."""
    more: dict[str, Any] = {
        "from": _TEXTS,
        "family": st.sampled_from(families or ["d"]),
        "qualifier": _TEXTS.map(lambda text: f"{number}{text}"),
        "distinct": st.integers(1, 10**15),
        "mean_bytes": st.floats(0, 2**31 - 1),
        "draw": st.sampled_from(sorted(DISTRIBUTIONS)) | _distributions(),
    }
    for word, values in more.items():
        if draw(st.integers(0, 3)) == 0:
            words[word] = draw(values)
    if draw(st.integers(0, 3)) == 0:
        words["pack" if draw(st.booleans()) else "at"] = "qualifier"
    if words.keys() == {"type"} and draw(st.booleans()):
        return words["type"]
    return words


@st.composite
def _distributions(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(DISTRIBUTIONS)))
    options = {
        one.name: one.default for one in DISTRIBUTIONS[kind].options if one.default is not None
    }
    return {"kind": kind, **options}


@st.composite
def _reads(draw: st.DrawFn, kinds: dict[str, str]) -> list[dict[str, Any]]:
    names = draw(st.lists(_TEXTS.filter(bool), max_size=2, unique=True))
    return [{"name": name, **draw(_read(kinds))} for name in names]


@st.composite
def _read(draw: st.DrawFn, kinds: dict[str, str]) -> dict[str, Any]:
    tests, targets = [], {"keys": False, "age": False, "span": False}
    for name in draw(st.lists(st.sampled_from(sorted(kinds)), max_size=3, unique=True)):
        spelled = f'"{name}"'
        forms = ["{} = ?", "{} >= :low", "{} in (?, ?)", "{} between ? and ?"]
        forms += ["{} starts with ?"] if TYPES[kinds[name]].is_sequence else []
        form = draw(st.sampled_from(forms))
        tests.append(form.format(spelled))
        targets["keys"] |= form in {"{} = ?", "{} in (?, ?)"}
        is_range = form in {"{} >= :low", "{} between ? and ?"}
        targets["age"] |= is_range and TYPES[kinds[name]].unit_ns is not None
        targets["span"] = targets["age"]
    orders = draw(st.lists(st.sampled_from(sorted(kinds)), max_size=2, unique=True))
    words: dict[str, Any] = {
        "where": " and ".join(tests),
        "order": ", ".join(f'"{name}" desc' for name in orders),
        "limit": draw(st.integers(1, 10**9)),
        "rate": draw(_RATES),
        "span": draw(_LENGTHS),
        "keys": draw(st.sampled_from(["sample", "uniform", "zipf", "zipf(1.25)"])),
        "age": draw(st.sampled_from(["latest", "uniform", "exp(90m)"])),
    }
    chosen = {word: value for word, value in words.items() if draw(st.booleans())}
    useless = {word for word, has_use in targets.items() if not has_use or "where" not in chosen}
    return {word: value for word, value in chosen.items() if word not in useless}


@st.composite
def _writes(draw: st.DrawFn, kinds: dict[str, str]) -> dict[str, Any]:
    arrival = draw(st.sampled_from(sorted(ARRIVAL_MODES)))
    words: dict[str, Any] = {
        "rate": draw(_RATES),
        "for": draw(_LENGTHS),
        "sort": draw(st.booleans()),
    }
    if arrival == "per":
        arrival = f"per({FieldRef(draw(st.sampled_from(sorted(kinds))))})"
        words["period"] = draw(_LENGTHS)
    words["arrival"] = arrival
    words["late"] = {"share": draw(st.floats(0.001, 1)), "upto": draw(_LENGTHS)}
    starts = range(draw(st.integers(0, 3)))
    words["bursts"] = [
        {
            "at": f"{2 * start}h",
            "for": draw(st.sampled_from(["1s", "2h"])),
            "times": draw(st.floats(0.5, 99)),
        }
        for start in starts
    ]
    words = {
        word: value for word, value in words.items() if word == "period" or draw(st.booleans())
    }
    if "arrival" not in words:
        words.pop("period", None)
    times = sorted(name for name, kind in kinds.items() if TYPES[kind].unit_ns is not None)
    if times and (len(times) > 1 or draw(st.booleans())):
        words["time"] = draw(st.sampled_from(times))
    return words


@st.composite
def _splits(draw: st.DrawFn, key: Key) -> Any:
    regions = draw(st.integers(2, 40))
    keys = sorted(draw(st.sets(st.binary(min_size=1, max_size=6), min_size=1, max_size=6)))
    listed = [to_string_binary(one) for one in keys]
    forms: list[Any] = ["hex_string", "hex-string", "uniform", "sample", listed]
    forms += [
        {"algorithm": name, "regions": regions} for name in ("hex_string", "uniform", "sample")
    ]
    forms += [{"algorithm": "uniform", "regions": regions, "first": "a", "last": r"z\xFF\x00"}]
    forms += [{"algorithm": "explicit", "listed": listed}]
    forms += ["per_bucket"] if list_key_prefixes(key) else []
    return draw(st.sampled_from(forms))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a valid design as a tree, as a file or Python would give it."""
    words = draw(_words())
    try:
        Design(**words)
    except InvalidDesign as problem:
        # Seldom a heavy value has no bytes in the narrower encoding that the key gives its field.
        if "a heavy value cannot be encoded" not in str(problem):
            raise
        reject()
    return words


@st.composite
def _words(draw: st.DrawFn) -> dict[str, Any]:
    key = draw(strategies.keys())
    given = draw(
        st.lists(spellings.names, min_size=len(key.declared_fields) + 1, max_size=6, unique=True)
    )
    names = dict(zip(key.declared_fields, given, strict=False))
    families = draw(_families())
    declared = {
        names[name]: field.declaration.model_dump(by_alias=True, exclude_defaults=True)
        for name, field in key.declared_fields.items()
    }
    for name, field in key.declared_fields.items():
        heavy = draw(
            st.lists(strategies.values(field).filter(_is_toml_value), max_size=2, unique=True)
        )
        declared[names[name]] |= {"heavy": heavy} if heavy else {}
    for name in given[len(names) :]:
        extra = draw(strategies.declarations("text"))
        declared[name] = extra.model_dump(by_alias=True, exclude_defaults=True)
    kinds = {name: words["type"] for name, words in declared.items()}
    fields = {
        name: draw(_field(words, sorted(families), number))
        for number, (name, words) in enumerate(declared.items())
    }
    optional: dict[str, Any] = {
        "splits": draw(_splits(key)),
        "families": families,
        "cluster": {"servers": draw(st.integers(1, 99)), "capacity": "9/s", "heap": "16GiB"},
        "writes": draw(_writes(kinds)),
        "reads": draw(_reads(kinds)),
        "sample": {"path": draw(_TEXTS.filter(bool)), "format": draw(_formats())},
        "catalog": draw(_TEXTS),
    }
    chosen = {word: value for word, value in optional.items() if draw(st.booleans())}
    _drop_followers(chosen.get("writes", {}), fields)
    if families and "families" not in chosen and any("family" in f for f in declared.values()):
        chosen["families"] = families
    if len([name for name, kind in kinds.items() if TYPES[kind].unit_ns is not None]) > 1:
        chosen["writes"] = optional["writes"]
        _drop_followers(chosen["writes"], fields)
    notation = format_key(tuple(_rename_fields(term, names) for term in key.terms))
    return {"table": "ns:logs", "key": notation, "fields": fields, **chosen}


def _drop_followers(writes: dict[str, Any], fields: dict[str, Any]) -> None:
    """Remove options that may not be combined with arrival per(field)."""
    if "period" in writes:
        writes.pop("rate", None)
    for name, words in fields.items():
        if writes.get("arrival") == f"per({FieldRef(name)})" and isinstance(words, dict):
            words.pop("draw", None)


def _is_toml_value(value: Any) -> bool:
    return isinstance(value, str | int | float | date)


@st.composite
def _formats(draw: st.DrawFn) -> Any:
    names = [name for name, kind in FORMATS.items() if not any(o.required for o in kind.options)]
    kind = draw(st.sampled_from(sorted(names)))
    return draw(st.sampled_from([kind, {"kind": kind}]))


designs = trees().map(lambda words: Design(**words))
"""A strategy of valid designs."""
