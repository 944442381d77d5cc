from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import rowkey
from cli.command import run_in_process
from rowkey.catalog import open_catalog
from rowkey.engines import open_engine
from rowkey.errors import (
    CatalogMismatch,
    CorruptionError,
    DesignRefused,
    InvalidArgument,
    NotSupported,
    Unavailable,
)
from rowkey.table import build_table_spec, drop_table

FIELDS: dict[str, Any] = {"host": "text", "ts": "timestamp_ms", "size": "u32"}
KEY = "[bucket(host, 16)][host][ts]"
ROWS = [{"host": f"h{n % 9}", "ts": n, "size": n} for n in range(100)]
NOTE = {"note": {"type": "text", "nullable": True}}


def build_design(key: str = KEY, **words: Any) -> rowkey.Design:
    """Build the design of a small log."""
    return rowkey.Design("logs", key, **({"fields": FIELDS, "splits": "per_bucket"} | words))


ON_BOTH_ENGINES = pytest.mark.parametrize("url", ["memory", "rocks"], indirect=True)
"""Marks tests of what depends on the engine; all others run on disk in long runs only."""


@pytest.fixture(params=["memory", pytest.param("rocks", marks=pytest.mark.long)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A URL of a table with a hundred rows, on each embedded engine."""
    name = f"memory:{tmp_path}" if request.param == "memory" else f"rocks:{tmp_path / 'data'}"
    with rowkey.open(build_design(), name) as logs, logs.batch() as batch:
        for row in ROWS:
            batch.put(row)
    return name


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ("[bucket(host, 16)][ts][host]", {}, r"key\[1\]: ts in the design, but host in the table"),
        ("[salt(16)][host][ts]", {}, r"key\[0\]: salt\(16\) in the design"),
        (KEY, {"fields": FIELDS | {"size": "text"}}, r"size.type: text in the design, but u32 in"),
        (
            KEY,
            {"fields": {"host": "text", "ts": "timestamp_ms"}},
            r"size: not declared in the design",
        ),
        (KEY, {"fields": FIELDS | {"must": "u8"}}, "must"),
        (
            KEY,
            {"fields": FIELDS | {"size": {"type": "u32", "pack": "p"}}},
            "size: packed d:p in the design",
        ),
        (KEY, {"families": {"d": {"versions": 2}}}, r"families.d.versions: 2 in the design"),
    ],
)
@pytest.mark.claims(61)
def test_another_design_for_an_existing_table_is_refused(
    url: str, key: str, options: dict[str, Any], message: str
) -> None:
    """Another design is refused with the difference, and its own design still opens the table."""
    with pytest.raises(CatalogMismatch, match=message):
        rowkey.open(build_design(key, **options), url)
    with rowkey.open(build_design(), url) as logs:
        assert len(ROWS) == logs.count()


@ON_BOTH_ENGINES
def test_an_added_nullable_column_is_null_in_old_rows(url: str) -> None:
    """An added nullable column is null in old rows, and is stored in the catalog."""
    changed = build_design(fields=FIELDS | NOTE)
    with rowkey.open(changed, url) as logs:
        logs.put({**ROWS[0], "note": "new"})
        assert {**ROWS[0], "note": "new"} == logs.get(ROWS[0])
        assert {**ROWS[1], "note": None} == logs.get(ROWS[1])
    with rowkey.open("logs", url) as logs:
        assert "note" in logs.design.fields
        assert {**ROWS[0], "note": "new"} == logs.get(ROWS[0])
    with pytest.raises(CatalogMismatch, match=r"note: not declared in the design, but text"):
        rowkey.open(build_design(), url)


def test_a_change_with_an_unsafe_part_changes_nothing_in_the_catalog(url: str) -> None:
    """A change with a safe and an unsafe part changes nothing in the catalog."""
    with pytest.raises(CatalogMismatch, match="size"):
        rowkey.open(build_design(fields=FIELDS | NOTE | {"size": "text"}), url)
    with rowkey.open("logs", url) as logs:
        assert "note" not in logs.design.fields


def test_a_design_with_other_declared_reads_opens_the_table(url: str) -> None:
    """A design with other declared reads opens the table and is stored."""
    reads = [{"name": "tail", "where": "host = ?", "order": "ts desc", "limit": 2}]
    with rowkey.open(build_design(reads=reads), url) as logs:
        assert [94, 85] == [row["ts"] for row in logs.read("tail", "h4")]
    with rowkey.open("logs", url) as logs:
        assert ["tail"] == [read.name for read in logs.design.reads]


@pytest.mark.claims(76)
def test_a_file_that_declares_another_bucket_count_opens_the_table(url: str) -> None:
    """A file that declares 32 buckets opens the table of 16, and finds every row."""
    with rowkey.open(build_design(KEY.replace("16", "32")), url) as logs:
        assert "[bucket(host, 16)][host][ts]" == str(logs.design.key)
        assert ROWS == logs.get_many(ROWS)
        logs.put({"host": "new", "ts": 1, "size": 1})
    with rowkey.open("logs", url) as logs:
        assert len(ROWS) + 1 == logs.count()
        assert 1 == logs.get(host="new", ts=1)["size"]
        assert 16 == len(logs.regions())


def test_a_table_is_opened_by_its_name(url: str) -> None:
    """A table is opened by its name, and the error of an unknown name lists the known ones."""
    with rowkey.open("logs", url) as logs:
        assert ROWS == sorted(logs.scan(), key=lambda row: row["ts"])
    with pytest.raises(InvalidArgument, match=r"there is no table lags; expected one of.*logs"):
        rowkey.open("lags", url)


def test_with_create_false_a_missing_table_is_not_created(tmp_path: Path) -> None:
    """With create=False a missing table is an error and is not created."""
    place = f"rocks:{tmp_path / 'data'}"
    with pytest.raises(InvalidArgument, match="no table"):
        rowkey.open(build_design(), place, create=False)
    with open_engine(place) as engine:
        assert [] == engine.list_tables()


def forget_table(url: str, words: dict[str, str | None] | None = None) -> None:
    """Remove the logs from the catalog, and change attributes of the table; None removes one."""
    with open_engine(url) as engine:
        open_catalog(engine.catalog_url).remove("logs")
        store = engine.open_table("logs")
        kept = {**store.spec.attributes, **(words or {})}
        store.replace_attributes({word: text for word, text in kept.items() if text is not None})


@ON_BOTH_ENGINES
def test_a_lost_catalog_entry_is_rebuilt_on_opening(url: str) -> None:
    """A table without an entry is opened by its attributes, and gets its entry again."""
    for opened in (build_design(), "logs"):
        forget_table(url)
        with rowkey.open(opened, url) as logs:
            assert build_design() == logs.design
            assert ROWS == logs.get_many(ROWS)
        with open_engine(url) as engine:
            entry = open_catalog(engine.catalog_url).read("logs")
            assert entry is not None
            (first,) = entry.generations
            splits = tuple(bytes([n]) for n in range(1, 16))
            assert (1, {0: 16}, splits) == (first.number, first.counts, first.splits)


def test_without_a_catalog_entry_a_design_is_compared_with_the_table_attributes(url: str) -> None:
    """Without an entry, a design is compared with the table's attributes."""
    forget_table(url)
    with pytest.raises(CatalogMismatch, match=r"key\[1\]: ts in the design, but host in the table"):
        rowkey.open(build_design("[bucket(host, 16)][ts][host]"), url)
    with rowkey.open("logs", url) as logs:
        assert build_design() == logs.design


LOST_ATTRIBUTES: list[tuple[dict[str, str | None], str]] = [
    ({"rowkey.design": None}, r"catalog has no entry for logs.*restore its catalog"),
    ({"rowkey.design": 'table = "logs"'}, r"rowkey.design was changed: rowkey.declaration is"),
    (
        {"rowkey.generation": "2"},
        r"with rowkey.generation '2' and rowkey.counts '0=16'\. Run rowkey repair",
    ),
    (
        {"rowkey.generation": None},
        r"table logs, attributes: the catalog has no entry of the table, and none can be built",
    ),
    ({"rowkey.design": "x", "rowkey.declaration": sha256(b"x").hexdigest()}, "is not a design"),
]


@pytest.mark.parametrize(("options", "message"), LOST_ATTRIBUTES)
def test_a_table_whose_attributes_cannot_replace_its_entry_is_not_opened(
    url: str, options: dict[str, str | None], message: str
) -> None:
    """A table whose attributes cannot replace the lost entry is not opened."""
    forget_table(url, options)
    for opened in (build_design(), "logs"):
        with pytest.raises(Unavailable, match=message):
            rowkey.open(opened, url)


def test_a_table_with_coded_rows_is_not_opened_without_its_catalog_entry(tmp_path: Path) -> None:
    """A table with rows that hold ids of `code` is not opened without its entry."""
    place, coded = f"rocks:{tmp_path / 'data'}", build_design("[code(host)][ts]", splits=None)
    rowkey.open(coded, place).close()
    forget_table(place)
    with rowkey.open(coded, place) as logs:
        logs.put(ROWS[0])
    forget_table(place)
    with pytest.raises(
        Unavailable, match="its rows have ids of code\\(…\\) that only its lost catalog entry"
    ):
        rowkey.open("logs", place)


def test_a_table_created_with_the_ddl_text_is_opened(tmp_path: Path) -> None:
    """A table created with the text of `ddl` is opened by design and by name."""
    place = f"rocks:{tmp_path / 'data'}"
    with open_engine(place) as engine:
        for name in ("logs", "more"):
            engine.create_table(replace(build_table_spec(build_design(), [b"\x08"]), name=name))
    with rowkey.open(build_design(), place, create=False) as logs:
        logs.put(ROWS[0])
        assert 2 == len(logs.regions())
    with rowkey.open("logs", place) as logs:
        assert [ROWS[0]] == list(logs.scan())
    with rowkey.open("more", place) as clone:
        assert ("more", "[bucket(host, 16)][host][ts]") == (
            clone.design.table,
            str(clone.design.key),
        )
        clone.put(ROWS[1])
    with rowkey.open("more", place) as clone:
        assert [ROWS[1]] == list(clone.scan())
    drop_table("more", place)


def test_a_design_that_does_not_decode_can_be_created_but_not_opened(tmp_path: Path) -> None:
    """A design that does not decode can be printed and created, and is not opened."""
    place = f"rocks:{tmp_path / 'data'}"
    with open_engine(place) as engine:
        engine.create_table(build_table_spec(build_design("[host:raw][ts]", splits=None), []))
    with pytest.raises(DesignRefused):
        rowkey.open("logs", place)


def test_a_damaged_catalog_document_is_reported_with_its_file(tmp_path: Path) -> None:
    place = f"rocks:{tmp_path / 'data'}"
    rowkey.open(build_design(), place).close()
    (path,) = tmp_path.rglob("logs.json")
    path.write_text("{")
    with pytest.raises(CorruptionError, match=r"logs.json.*not valid JSON"):
        rowkey.open(build_design(), place)


@ON_BOTH_ENGINES
def test_another_design_may_use_the_name_of_a_dropped_table(url: str) -> None:
    """After a drop another design may use the name, and finds no row."""
    drop_table("logs", url)
    with rowkey.open(build_design("[ts][host]", splits=None), url) as logs:
        assert 0 == logs.count()
        logs.put(ROWS[0])
        assert [ROWS[0]] == list(logs.scan())


def test_opening_a_design_whose_rows_do_not_decode_creates_no_table(tmp_path: Path) -> None:
    """A design whose rows do not decode is refused, and no table is created."""
    place = f"rocks:{tmp_path / 'data'}"
    with pytest.raises(DesignRefused, match="host"):
        rowkey.open(build_design("[host:raw][ts:calendar]", splits=None), place)
    with open_engine(place) as engine:
        assert [] == engine.list_tables()


def test_a_table_cannot_be_opened_twice_in_a_process(tmp_path: Path) -> None:
    """A table that is open in the process is not opened again, until it is closed."""
    place = f"rocks:{tmp_path / 'data'}"
    with (
        rowkey.open(build_design(), place),
        pytest.raises(Unavailable, match="table logs: the table is open already"),
    ):
        rowkey.open(build_design(), place)
    rowkey.open(build_design(), place).close()


CODE_WRITER = """
from pathlib import Path
import rowkey
design = rowkey.Design.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
place, first = sys.argv[2], int(sys.argv[3])
with rowkey.open(design, place) as logs:
    for n in range(first, first + 20):
        logs.put({"host": f"h{n}", "ts": n, "size": n})
"""
"""Puts rows of some new and some known hosts."""


def test_processes_that_take_turns_assign_the_next_ids(tmp_path: Path) -> None:
    """Each process assigns the next ids to new values, and knows the ids of others."""
    place = f"rocks:{tmp_path / 'data'}"
    coded = build_design("[code(host)][ts]", fields=FIELDS, splits=None)
    (tmp_path / "logs.toml").write_text(coded.dumps(), encoding="utf-8")
    for first in ("0", "10"):
        done = run_in_process(tmp_path, CODE_WRITER, "logs.toml", place, first)
        assert (0, "") == (done.code, done.err)
    with rowkey.open("logs", place) as logs:
        assert [f"h{n}" for n in range(30)] == [row["host"] for row in logs.scan()]
        assert [{"host": "h23", "ts": 23, "size": 23}] == list(logs.scan("host = ?", "h23"))
        assert [] == list(logs.scan("host = ?", "h99"))


def read_attributes(url: str) -> dict[str, str]:
    """Return the attributes of the table that repeat its entry."""
    with open_engine(url) as engine:
        kept = engine.open_table("logs").spec.attributes
    return {word: text for word, text in kept.items() if word.startswith("rowkey.")}


def test_table_attributes_repeat_the_catalog_entry(url: str) -> None:
    """Generation, counts and hash of the declaration are attributes of the table."""
    entry = open_catalog(get_catalog_url(url)).read("logs")
    assert entry is not None
    assert {"rowkey.generation": "1", "rowkey.counts": "0=16"}.items() <= read_attributes(
        url
    ).items()
    assert entry.table_attributes.items() <= read_attributes(url).items()
    with rowkey.open(build_design(fields=FIELDS | NOTE), url):
        pass
    changed = open_catalog(get_catalog_url(url)).read("logs")
    assert changed is not None
    assert entry.hash != changed.hash == read_attributes(url)["rowkey.declaration"]


@pytest.mark.claims(76)
def test_a_table_with_a_later_generation_than_its_catalog_is_not_opened(url: str) -> None:
    with open_engine(url) as engine:
        store = engine.open_table("logs")
        store.replace_attributes({**store.spec.attributes, "rowkey.generation": "2"})
    with pytest.raises(
        Unavailable, match=r"ends with generation 1, but rowkey.generation of the table is 2"
    ):
        rowkey.open("logs", url)


def get_catalog_url(url: str) -> str:
    """Return the catalog URL of an engine."""
    with open_engine(url) as engine:
        return engine.catalog_url


def test_of_many_clients_that_open_a_new_table_one_creates_it(tmp_path: Path) -> None:
    """Of many clients that open a new table at once, one creates it and all open it."""
    place = f"memory:{tmp_path}"
    failed: list[Exception] = []

    def work(number: int) -> None:
        try:
            with rowkey.open(build_design(), place) as logs:
                logs.put({"host": f"h{number}", "ts": number, "size": number})
        except Exception as error:  # noqa: BLE001 - whatever it is, it is wrong
            failed.append(error)

    threads = [Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failed
    with rowkey.open("logs", place) as logs:
        assert 8 == logs.count()


def test_a_failed_creation_leaves_the_table_name_free(tmp_path: Path) -> None:
    """A failed creation leaves the name free in the declared catalog."""
    place, catalog = f"rocks:{tmp_path / 'data'}", f"file:{tmp_path / 'designs'}"
    bad = build_design(families={"d": {"compression": "LZO"}}, catalog=catalog)
    with pytest.raises(NotSupported):
        rowkey.open(bad, place)
    assert [] == open_catalog(catalog).list_tables()
    with rowkey.open(build_design(catalog=catalog), place) as logs:
        assert 0 == logs.count()


@ON_BOTH_ENGINES
def test_a_family_altered_in_the_engine_is_reported_with_both_versions(url: str) -> None:
    with open_engine(url) as engine:
        store = engine.open_table("logs")
        store.alter_families([replace(family, versions=7) for family in store.spec.families])
    for opened in (build_design(), "logs"):
        with pytest.raises(
            CatalogMismatch, match=r"families.d.versions: 1 in the design, but 7 in the table"
        ):
            rowkey.open(opened, url)


def test_ids_of_an_unfinished_entry_survive_creating_the_table_again(url: str) -> None:
    """An unfinished entry keeps the ids that `code` has assigned."""
    with open_engine(url) as engine:
        catalog = open_catalog(engine.catalog_url)
        entry = catalog.read("logs")
        assert entry is not None
        engine.drop_table("logs")
        catalog.write(
            "logs", replace(entry, codes={"host": ("a", "b")}, is_created=False), entry.version
        )
    with rowkey.open(build_design(), url):
        pass
    kept = open_catalog(get_catalog_url(url)).read("logs")
    assert kept is not None
    assert {"host": ("a", "b")} == kept.codes
