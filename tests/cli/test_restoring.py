"""`repair` with a design restores what the catalog lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import LOGS, run
from rowkey.engines import open_engine
from rowkey.render import REPAIR_FIELDS, list_paths

PLACE = "rocks:data"
WORDS = {"rowkey.generation": "1", "rowkey.counts": "0=16"}


@pytest.fixture
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the document of a table of logs, whose catalog is a folder."""
    monkeypatch.chdir(tmp_path)
    Path("logs.toml").write_text(f'catalog = "file:designs"\n{LOGS}', encoding="utf-8")
    assert 0 == run("create", "logs.toml", "--on", PLACE).code
    return tmp_path / "designs" / "logs.json"


def test_a_lost_catalog_entry_is_restored_only_after_confirmation(entry: Path) -> None:
    """With --yes the lost entry is restored; without it nothing changes."""
    entry.unlink()
    asked = run("repair", "--on", PLACE, "logs.toml")
    assert (1, "nothing was changed; --yes repairs the catalog\n") == (asked.code, asked.err)
    assert asked.out.startswith("logs: the catalog has no entry for logs, but the engine has it")
    assert "The entry would be rebuilt: 16 regions, generation 1, counts 0=16.\n" in asked.out
    assert not entry.exists()
    done = run("repair", "--on", PLACE, "logs.toml", "--yes")
    assert (1, "") == (done.code, done.err)
    told = f"{asked.out}logs: the entry was rebuilt: 16 regions, generation 1, counts 0=16\n"
    assert told == done.out
    assert (0, "0\n") == ((counted := run("count", "logs.toml", "--on", PLACE)).code, counted.out)
    again = run("repair", "--on", PLACE, "logs.toml")
    assert (0, "logs: the catalog entry agrees with the table\n", "") == (
        again.code,
        again.out,
        again.err,
    )


def test_the_json_of_a_repair_says_which_entry_was_restored(entry: Path) -> None:
    """The JSON document has only documented fields, with what was restored."""
    sound = json.loads(run("repair", "--on", PLACE, "logs.toml", "-f", "json").out)
    assert {"format": 1, "url": PLACE, "tables": [], "catalog": None} == sound
    entry.unlink()
    asked = json.loads(run("repair", "--on", PLACE, "logs.toml", "-f", "json").out)
    done = json.loads(run("repair", "--on", PLACE, "logs.toml", "-f", "json", "--yes").out)
    assert (False, True) == (asked["catalog"].pop("repaired"), done["catalog"].pop("repaired"))
    assert asked == done
    assert WORDS.items() <= done["catalog"]["attributes"].items()
    assert {f"catalog.{word}" for word in done["catalog"]} <= REPAIR_FIELDS.keys()
    assert {path for path in list_paths(sound) if path != "tables"} <= REPAIR_FIELDS.keys()


def test_a_table_of_changed_buckets_without_catalog_entry_names_the_repair(entry: Path) -> None:
    """Opening a table with changed buckets and no entry names the repair, which works."""
    entry.unlink()
    with open_engine(PLACE) as engine:
        store = engine.open_table("logs")
        told = {"rowkey.generation": "2", "rowkey.live": "1:0=16 2:0=16"}
        store.replace_attributes({**store.spec.attributes, **told})
    lost = run("count", "logs.toml", "--on", PLACE)
    assert (4, True) == (lost.code, "Run rowkey repair DESIGN --on rocks:data" in lost.err)
    assert not entry.exists()
    done = run("repair", "--on", PLACE, "logs.toml", "--yes")
    assert (1, True) == (
        done.code,
        "the entry was rebuilt: 16 regions, generation 2, counts 0=16" in done.out,
    )
    counted = run("count", "logs.toml", "--on", PLACE)
    assert (0, "0\n") == (counted.code, counted.out)


def test_an_unreachable_zookeeper_exits_with_4_after_its_timeout(entry: Path) -> None:
    """An unreachable ZooKeeper takes its timeout, and the command exits with 4."""
    away = LOGS.replace('"logs"', '"away"')
    where = 'catalog = "zookeeper://127.0.0.1:1?timeout=200ms"'
    Path("away.toml").write_text(f"{where}\n{away}", encoding="utf-8")
    done = run("create", "away.toml", "--on", PLACE)
    assert (4, "") == (done.code, done.out)
    assert (
        "rowkey: zookeeper://127.0.0.1:1/rowkey/tables/away: ZooKeeper does not answer within "
        "0.2 s: the server does not accept connections: Connection refused. "
        "Check that ZooKeeper runs and can be reached, then try again.\n"
    ) == done.err
    assert entry.exists()
