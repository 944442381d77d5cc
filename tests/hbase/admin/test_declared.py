"""Declarations that HBase would accept but never complete are refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from hbase.admin.scripted import ScriptedMaster
from rowkey.cells import Family
from rowkey.errors import InvalidArgument, InvalidDesign
from rowkey.hbase.admin import Admin

D = Family("d")


def build_family_table(**attributes: Any) -> dict[str, Any]:
    """Return a table with one family of these attributes."""
    return {"families": [Family("d", **attributes)]}


def build_attribute_table(**attributes: Any) -> dict[str, Any]:
    """Return a table with these attributes."""
    return {"attributes": attributes}


BAD: list[tuple[dict[str, Any], str]] = [
    # attributes that HBase does not store
    (build_attribute_table(OWNER=""), "attributes.OWNER"),
    (build_attribute_table(**{"a.b": ""}), "attributes.a.b"),
    # names of tables
    *(({"name": name}, "name") for name in ("a b", "a/b", "a$b", "a,b", "a:b:c", "a\0b")),
    *(({"name": name}, "name") for name in (".a", "-a", "", "ns:", ":a", "é", None, b"t")),
    ({"name": "a" * 256}, "name"),
    ({"name": "zookeeper"}, "name"),
    # families
    ({"families": []}, "families"),
    *(({"families": those}, "families") for those in (None, "d", b"d", D, 7)),
    ({"families": [D, Family("e"), D]}, "families.d"),
    ({"families": ["d"]}, "families[0]"),
    ({"families": [Family("")]}, "families[0]"),
    *(({"families": [Family(name)]}, f"families.{name}") for name in ("a:b", "a/b", ".a")),
    ({"families": [Family("a\x01")]}, "families.a\\x01"),
    ({"families": [Family("recovered.edits")]}, "families.recovered.edits"),
    ({"families": [Family("a" * 128)]}, f"families.{'a' * 80}"),
    # splits
    ({"splits": [b"m", b"c", b"x"]}, "splits[1]"),
    ({"splits": [b"", b"c"]}, "splits[0]"),
    ({"splits": [b"c", b"c"]}, "splits[1]"),
    ({"splits": [b"k" * 32_718]}, "splits[0]"),
    ({"splits": ["c"]}, "splits[0]"),
    *(({"splits": keys}, "splits") for keys in (b"abc", "abc", None, 7)),
    # attributes of a family
    *(
        (build_family_table(versions=value), "families.d.versions")
        for value in (0, -1, "3", 2.5, 2**31)
    ),
    *(
        (build_family_table(ttl_s=value), "families.d.ttl")
        for value in (0, -1, "FOREVER", "1 DAYS", 2**31)
    ),
    (build_family_table(min_versions=3, versions=2, ttl_s=9), "families.d.min_versions"),
    *(
        (build_family_table(block_size=value), "families.d.block_size")
        for value in (1_023, 16_777_217)
    ),
    *(
        (build_family_table(replication_scope=value), "families.d.replication_scope")
        for value in (7, -1)
    ),
    *(
        (build_family_table(compression=value), "families.d.compression")
        for value in ("gz", "NOPE", "", None)
    ),
    (build_family_table(compression_compact="gz"), "families.d.compression_compact"),
    *((build_family_table(bloom=value), "families.d.bloom") for value in ("NOPE", "row")),
    *(
        (build_family_table(bloom=f"ROWPREFIX_FIXED_LENGTH{n}"), "families.d.bloom")
        for n in ("", "(0)", "(n)")
    ),
    (build_family_table(in_memory_compaction="NOPE"), "families.d.in_memory_compaction"),
    *(
        (build_family_table(encoding=value), "families.d.encoding")
        for value in ("NOPE", "fast_diff")
    ),
    (build_family_table(block_cache="maybe"), "families.d.block_cache"),
    (build_family_table(in_memory="yes"), "families.d.in_memory"),
    (build_family_table(keep_deleted="maybe"), "families.d.keep_deleted"),
    (build_family_table(dfs_replication=513), "families.d.dfs_replication"),
    # attributes_of of a table
    *(
        (build_attribute_table(MAX_FILESIZE=value), "attributes.MAX_FILESIZE")
        for value in ("2097151", "10 GB")
    ),
    *(
        (build_attribute_table(MAX_FILESIZE=value), "attributes.MAX_FILESIZE")
        for value in ("", "1" * 30, 1 << 30)
    ),
    (build_attribute_table(MEMSTORE_FLUSHSIZE="1048575"), "attributes.MEMSTORE_FLUSHSIZE"),
    *(
        (build_attribute_table(DURABILITY=value), "attributes.DURABILITY")
        for value in ("NOPE", "sync_wal")
    ),
    *(
        (build_attribute_table(REGION_REPLICATION=value), "attributes.REGION_REPLICATION")
        for value in ("0", "01", "65536")
    ),
    *(
        (build_attribute_table(READONLY=value), "attributes.READONLY")
        for value in ("yes", "TRUE", True, "")
    ),
    (build_attribute_table(SPLIT_ENABLED="no"), "attributes.SPLIT_ENABLED"),
    (build_attribute_table(MERGE_ENABLED="no"), "attributes.MERGE_ENABLED"),
    (build_attribute_table(SPLIT_POLICY="NoPolicy"), "attributes.SPLIT_POLICY"),
    (build_attribute_table(readonly="true"), "attributes.readonly"),
    (build_attribute_table(MAX_FILESIZ="4194304"), "attributes.MAX_FILESIZ"),
    (build_attribute_table(STORAGE_POLICY="HOT"), "attributes.STORAGE_POLICY"),
    (build_attribute_table(IS_META="true"), "attributes.IS_META"),
    *(({"attributes": those}, "attributes") for those in (["READONLY"], "x", 7, {"": "x"})),
    ({"configuration": "x"}, "configuration"),
    *(({"wait_s": seconds}, "wait_s") for seconds in ("x", -1, True, float("nan"), 86_401)),
    ({"progress": "x"}, "progress"),
    ({"name": "\ud800"}, "name"),
    ({"attributes": {"a.b": "\ud800"}}, "attributes.a.b"),
    ({"configuration": {"hbase.x": 1}}, "configuration.hbase.x"),
    ({"attributes": {"a.b": "1"}, "configuration": {"a.b": "1"}}, "configuration.a.b"),
]


@pytest.mark.parametrize(("spec", "path"), BAD, ids=lambda value: repr(value)[:60])
def test_each_harmful_table_declaration_is_refused_before_anything_is_sent(
    spec: dict[str, Any], path: str
) -> None:
    """Each harmful input is refused with its path, and nothing is sent."""
    caller = ScriptedMaster({})
    given = {"name": "t", "families": [D], **spec}
    with pytest.raises(InvalidDesign) as caught:
        Admin(caller).create_table(**given)
    assert (path, []) == (caught.value.mistakes[0].path, caller.asked)


def test_all_mistakes_of_a_declared_table_are_reported_together() -> None:
    with pytest.raises(InvalidDesign) as caught:
        Admin(ScriptedMaster({})).create_table(
            "a b", [Family("d", versions=0, ttl_s=0)], [b"b", b"a"], {"READONLY": "yes"}
        )
    assert [
        "name", "families.d.versions", "families.d.ttl", "splits[1]", "attributes.READONLY"
    ] == [mistake.path for mistake in caught.value.mistakes]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("max_filesize", "Did you mean MAX_FILESIZE?"),
        ("MAX_FILE_SIZE", "Did you mean MAX_FILESIZE?"),
        ("Readonly", "Did you mean READONLY?"),
        ("QXZ", "Name an attribute of your own with a dot, such as app.qxz."),
    ],
)
def test_a_misspelt_attribute_gets_a_suggestion(word: str, remedy: str) -> None:
    """A misspelt attribute gets a suggestion, and one of your own the form to write it in."""
    with pytest.raises(InvalidDesign, match="is not a table attribute of HBase") as caught:
        Admin(ScriptedMaster({})).create_table("t", [D], attributes={word: "true"})
    assert remedy == caught.value.mistakes[0].remedy


@pytest.mark.parametrize("key", [b"", "a", b"k" * 32_718, None])
def test_splitting_at_an_invalid_key_sends_nothing(key: Any) -> None:
    """A region is not split at an invalid key, and nothing is sent."""
    caller = ScriptedMaster({})
    admin: Any = Admin(caller)
    with pytest.raises(InvalidArgument):
        admin.split_region("t", key) if key != b"" else admin.merge_regions("t", key, 1)
    assert [] == caller.asked


@pytest.mark.parametrize("name", ["a b", "", "a:b", None, ".a"])
def test_an_invalid_snapshot_name_is_refused_before_anything_is_sent(name: Any) -> None:
    caller = ScriptedMaster({})
    with pytest.raises(InvalidArgument):
        Admin(caller).take_snapshot("t", name)
    assert [] == caller.asked


@pytest.mark.parametrize("name", ["a b", "", "a:b", None, "-"])
def test_an_invalid_namespace_is_refused_before_anything_is_sent(name: Any) -> None:
    """A namespace with an invalid name is refused before anything is sent."""
    caller = ScriptedMaster({})
    with pytest.raises(InvalidArgument):
        Admin(caller).create_namespace(name)
    assert [] == caller.asked


@pytest.mark.parametrize("name", ["", None, 7])
@pytest.mark.parametrize(
    "method",
    [
        "get_table_state",
        "has_table",
        "describe_table",
        "enable_table",
        "disable_table",
        "truncate_table",
        "delete_table",
    ],
)
def test_an_invalid_table_name_is_refused_before_anything_is_sent(method: str, name: Any) -> None:
    caller = ScriptedMaster({})
    with pytest.raises(InvalidArgument):
        getattr(Admin(caller), method)(name)
    assert [] == caller.asked


def test_invalid_families_are_refused_before_a_table_is_changed() -> None:
    """Invalid families and attributes are refused before a table is changed."""
    caller = ScriptedMaster({})
    with pytest.raises(InvalidDesign, match="versions"):
        Admin(caller).alter_families("t", [Family("d", versions=0)])
    with pytest.raises(InvalidDesign, match="DURABILITY"):
        Admin(caller).set_attributes("t", {"DURABILITY": "NOPE", "rowkey.n": None})
    assert [] == caller.asked
