"""Differences between a design and its catalog entry: which are refused, allowed or adopted."""

from __future__ import annotations

from typing import Any

import pytest

from rowkey.catalog import (
    CatalogEntry,
    apply_stored_counts,
    find_differences,
    find_drift,
    find_part_counts,
    open_catalog,
    register_design,
)
from rowkey.design import Design
from rowkey.errors import CatalogMismatch

WORDS: dict[str, Any] = {
    "table": "logs",
    "key": "[bucket(host, 16)][host][desc(ts)]",
    "fields": {
        "host": {"type": "text", "max_bytes": 40},
        "ts": "timestamp_ms",
        "kind": {"type": "choice", "of": ["INFO", "WARN"]},
        "message": {"type": "text", "qualifier": "m"},
        "price": {"type": "decimal", "precision": 9, "scale": 2},
    },
    "families": {"d": {"versions": 1, "compression": "ZSTD"}},
}


def build_design(**words: Any) -> Design:
    """Build the design with other top-level options."""
    return Design(**{**WORDS, **words})


def change_field(name: str, **words: Any) -> Design:
    """Build the design with one field changed or added."""
    old = WORDS["fields"].get(name, {})
    declared = {"type": old} if isinstance(old, str) else old
    return build_design(fields={**WORDS["fields"], name: {**declared, **words}})


OLD = build_design()

HARMLESS: list[tuple[str, Design]] = [
    ("nothing", build_design()),
    ("fewer buckets", build_design(key="[bucket(host, 4)][host][desc(ts)]")),
    ("wider buckets", build_design(key="[bucket(host, 300)][host][desc(ts)]")),
    (
        "a default spelled out",
        build_design(key="[bucket(host, 16, hash=murmur3)] [host] [desc(ts)]"),
    ),
    ("splits", build_design(splits="per_bucket")),
    ("the cluster", build_design(cluster={"servers": 3, "heap": "8GiB"})),
    ("writes", build_design(writes={"rate": "5/s"})),
    ("reads", build_design(reads=[{"name": "tail", "where": "host = ?"}])),
    ("a sample", build_design(sample={"path": "a.csv"})),
    ("declared statistics of a field", change_field("host", distinct=500, mean_bytes=7.5)),
    ("the sample column of a field", change_field("message", **{"from": "msg"})),
    ("the default family spelled out", change_field("message", family="d")),
    ("heavy values of a field without bucket", change_field("host", heavy=["a"])),
]


@pytest.mark.parametrize("new", [new for _, new in HARMLESS], ids=[why for why, _ in HARMLESS])
def test_a_difference_that_affects_no_row_does_not_prevent_opening(new: Design) -> None:
    """Other counts, cluster, reads, writes, sample or splits do not prevent opening a table."""
    assert find_drift(new, OLD) is None
    assert {0: 16} == find_part_counts(apply_stored_counts(new, OLD))
    assert new.declaration.reads == apply_stored_counts(new, OLD).declaration.reads


DRIFT: list[tuple[Design, list[str]]] = [
    (build_design(table="log"), ["table: log in the design, but logs in the table."]),
    (build_design(key="[bucket(host, 16)][host][ts]"), [("key[2]: ts in the design, "
                                                  "but desc(ts) in the table.")]),
    (
        build_design(key="[bucket(host, 16, hash=crc32)][host][desc(ts)]"),
        ["key[0]: bucket(host, 16, hash=crc32) in the design, but bucket(host, 16) in the table."],
    ),
    (
        build_design(key="[bucket(host, 8, width=2)][host][desc(ts)]"),
        ["key[0]: bucket(host, 8, width=2) in the design, but bucket(host, 16) in the table."],
    ),
    (
        build_design(key="[host][desc(ts)]"),
        [("key: [host][desc(ts)] in the design, "
         "but [bucket(host, 16)][host][desc(ts)] in the table.")],
    ),
    (change_field("ts", type="timestamp_s"),
     ["fields.ts.type: timestamp_s in the design, but timestamp_ms in the table."]),
    (change_field("ts", nullable=True), [("fields.ts.nullable: true in the design, "
                                       "but false in the table.")]),
    (change_field("host", max_bytes=60), [("fields.host.max_bytes: 60 in the design, "
                                        "but 40 in the table.")]),
    (change_field("kind", of=["WARN", "INFO"]),
     ["fields.kind.of: [WARN, INFO] in the design, but [INFO, WARN] in the table."]),
    (change_field("price", scale=3), ["fields.price.scale: 3 in the design, but 2 in the table."]),
    (change_field("message", normalize="nfc"),
     ["fields.message.normalize: nfc in the design, but not declared in the table."]),
    (change_field("message", qualifier="x"),
     ["fields.message: column d:x in the design, but column d:m in the table."]),
    (change_field("host", family="d"),
     ["fields.host: column d:host in the design, but in the key alone in the table."]),
    (change_field("more", type="u8"), [("fields.more: u8 in the design, "
                                     "but not declared in the table.")]),
    (build_design(families={"d": {"versions": 3, "compression": "LZ4"}}),
     ["families.d.versions: 3 in the design, but 1 in the table.",
      "families.d.compression: LZ4 in the design, but ZSTD in the table."]),
    (build_design(families={**WORDS["families"], "e": {}}),
     ["families.e: a family in the design, but not declared in the table."]),
]  # fmt: skip


@pytest.mark.parametrize(("new", "expected"), DRIFT)
def test_each_difference_that_affects_rows_is_listed_with_both_values(
    new: Design, expected: list[str]
) -> None:
    """Each difference has its path, the declared value and the stored value."""
    found = find_drift(new, OLD)
    assert isinstance(found, CatalogMismatch)
    assert expected == [str(one) for one in found.differences]
    back = find_drift(OLD, new)
    assert isinstance(back, CatalogMismatch)
    assert sorted(one.path for one in found.differences) == sorted(
        one.path for one in back.differences
    )


def test_the_drift_error_names_the_table_and_lists_each_difference() -> None:
    """The error's first line names the table, and each further line is a difference."""
    found = find_drift(change_field("host", max_bytes=None, normalize="nfc"), OLD)
    assert [
        "table logs: the design does not fit the table. It differs in:",
        "  fields.host.max_bytes: not declared in the design, but 40 in the table.",
        "  fields.host.normalize: nfc in the design, but not declared in the table.",
        "Declare in the design what the table has, or move its rows: rowkey move plan.",
    ] == str(found).splitlines()


def test_changed_heavy_values_of_a_bucket_are_drift() -> None:
    """Other heavy values are drift if a bucket spreads them, but their order does not matter."""
    key = "[bucket(host, ts, 8, 3)][host][ts]"
    fields = {**WORDS["fields"], "host": {"type": "text", "heavy": ["a", "b"]}}
    old = build_design(key=key, fields=fields)
    turned = build_design(key=key, fields={**fields, "host": {"type": "text", "heavy": ["b", "a"]}})
    more = build_design(
        key=key, fields={**fields, "host": {"type": "text", "heavy": ["a", "b", "c"]}}
    )
    assert find_drift(turned, old) is None
    (found,) = find_differences(more, old)
    assert ("fields.host.heavy", "[a, b, c]", "[a, b]", False) == (
        found.path, found.declared, found.remembered, found.is_safe
    )  # fmt: skip


def test_a_stored_bucket_count_that_the_declared_key_cannot_have_is_drift() -> None:
    """A stored bucket count that the declared key cannot have is reported as another key."""
    fields = {**WORDS["fields"], "host": {"type": "text", "heavy": ["a"]}}
    old = build_design(key="[bucket(host, ts, 4, 2)][host][ts]", fields=fields)
    new = build_design(key="[bucket(host, ts, 16, 8)][host][ts]", fields=fields)
    found = find_drift(new, old)
    assert found is not None
    assert ["key"] == [one.path for one in found.differences]


def test_only_the_first_client_stores_the_declaration_of_a_table() -> None:
    """The first client stores the declaration, counts, splits and time, and later ones do not."""
    catalog = open_catalog("memory:")
    first = register_design(catalog, OLD, opened_ms=5, splits=[b"\1"])
    again = register_design(catalog, OLD, opened_ms=9, splits=[b"\2"])
    (generation,) = first.generations
    assert (1, {0: 16}, (b"\1",), 5) == (
        generation.number, generation.counts, generation.splits, generation.opened_ms
    )  # fmt: skip
    assert (OLD, first, 1) == (first.design, again, again.version)


SAFE: list[tuple[str, Design]] = [
    ("longer values of a key field", change_field("host", max_bytes=60)),
    ("values of any length", change_field("host", max_bytes=None)),
    ("one more choice", change_field("kind", of=["INFO", "WARN", "ERROR"])),
    ("a new nullable column", change_field("more", type="u8", nullable=True)),
    ("a new read and another bucket count", build_design(
        key="[bucket(host, 4)][host][desc(ts)]", reads=[{"name": "all"}])),
]  # fmt: skip


@pytest.mark.parametrize("new", [new for _, new in SAFE], ids=[why for why, _ in SAFE])
def test_the_catalog_adopts_safe_changes_and_keeps_counts_and_ids(new: Design) -> None:
    """After a safe change the catalog has the new options and keeps the counts and ids."""
    catalog = open_catalog("memory:")
    register_design(catalog, OLD, opened_ms=5)
    taken = register_design(catalog, new, opened_ms=9)
    assert (2, CatalogEntry.from_design(OLD, (), 5).generations) == (
        taken.version,
        taken.generations,
    )
    assert catalog.read("logs") == taken
    assert find_drift(new, taken.design) is None
    assert {0: 16} == find_part_counts(taken.design)
    assert new.declaration.fields == taken.design.declaration.fields
    assert new.declaration.reads == taken.design.declaration.reads


UNSAFE: list[tuple[str, Design, list[str]]] = [
    ("shorter values", change_field("host", max_bytes=20), ["fields.host.max_bytes"]),
    ("an ascending key field", build_design(key="[bucket(host, 16)][host][ts]"), ["key[2]"]),
    ("choices in another order", change_field("kind", of=["WARN", "INFO"]), ["fields.kind.of"]),
    ("another qualifier", change_field("message", qualifier="x"), ["fields.message"]),
    ("a key field made nullable", change_field("ts", nullable=True), ["fields.ts.nullable"]),
    ("families", build_design(families={"d": {"versions": 2}}),
     ["families.d.versions", "families.d.compression"]),
    ("a safe and an unsafe change", build_design(
        key="[bucket(host, 16)][host][ts]",
        fields={**WORDS["fields"], "host": {"type": "text", "max_bytes": 60}}), ["key[2]"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "paths"), [(new, paths) for _, new, paths in UNSAFE], ids=[why for why, *_ in UNSAFE]
)
def test_the_catalog_lists_unsafe_changes_and_does_not_change(
    new: Design, paths: list[str]
) -> None:
    """Unsafe changes are listed without the safe ones, and the catalog does not change."""
    catalog = open_catalog("memory:")
    before = register_design(catalog, OLD, opened_ms=5)
    with pytest.raises(CatalogMismatch) as caught:
        register_design(catalog, new, opened_ms=9)
    assert paths == [one.path for one in caught.value.differences]
    assert before == catalog.read("logs")


def test_a_field_that_the_design_lacks_is_reported_and_refused() -> None:
    """A field that the table has and the design lacks is reported and refused."""
    fields = {name: words for name, words in WORDS["fields"].items() if name != "price"}
    catalog = open_catalog("memory:")
    register_design(catalog, OLD, opened_ms=5)
    with pytest.raises(
        CatalogMismatch, match=r"fields\.price: not declared in the design, but decimal"
    ):
        register_design(catalog, build_design(fields=fields), opened_ms=9)
