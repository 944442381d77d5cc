"""Family attributes become options of RocksDB, as its own options file shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rowkey.cells import Family
from rowkey.engines import TableSpec
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.errors import NotSupported

CODECS = {
    "NONE": "kNoCompression",
    "SNAPPY": "kSnappyCompression",
    "LZ4": "kLZ4Compression",
    "ZSTD": "kZSTD",
    "GZ": "kZlibCompression",
    "BZIP2": "kBZip2Compression",
}


def stored_options(directory: Path) -> dict[str, dict[str, str]]:
    """Return the options that RocksDB wrote last, by section."""
    files = sorted(directory.glob("OPTIONS-*"), key=lambda path: int(path.name.split("-")[1]))
    sections: dict[str, dict[str, str]] = {}
    for line in files[-1].read_text("utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]").replace('TableOptions/BlockBasedTable "', 'CFOptions "')
            section = sections.setdefault(name, {})
        elif "=" in line and not line.lstrip().startswith("#"):
            word, _, value = line.strip().partition("=")
            section[word] = value
    return sections


def get_family_options(directory: Path, family: str) -> dict[str, str]:
    """Return the options of one family."""
    return stored_options(directory)[f'CFOptions "f_{family}"']


@pytest.mark.parametrize("codec", CODECS)
def test_the_codec_of_a_family_is_set_for_its_blocks(tmp_path: Path, codec: str) -> None:
    """Each HBase codec that RocksDB has is set for blocks and for the last level."""
    family = Family("d", compression=codec, compression_compact=codec)
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (family,)))
    options = get_family_options(tmp_path / "t", "d")
    assert CODECS[codec] == options["compression"]
    assert CODECS[codec] == options["bottommost_compression"]


@pytest.mark.parametrize("word", ["compression", "compression_compact"])
@pytest.mark.parametrize("codec", ["LZO", "LZMA", "BROTLI"])
def test_a_codec_that_rocksdb_lacks_is_refused_by_name(
    tmp_path: Path, codec: str, word: str
) -> None:
    """A table with a codec that RocksDB lacks is refused, and nothing is created."""
    given: dict[str, Any] = {word: codec}
    family = replace(Family("d"), **given)
    with RocksEngine.open(str(tmp_path)) as engine:
        with pytest.raises(
            NotSupported, match=rf"families\.d\.{word}: RocksDB does not support the codec {codec}"
        ):
            engine.create_table(TableSpec("t", (family,)))
        assert [] == engine.list_tables()


def test_block_size_bloom_filter_and_cache_are_set_for_each_family(tmp_path: Path) -> None:
    plain = Family("a", block_size=8_192, bloom="NONE", block_cache=False)
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (plain, Family("b", bloom="ROWCOL"))))
    first, second = get_family_options(tmp_path / "t", "a"), get_family_options(tmp_path / "t", "b")
    words = ("block_size", "filter_policy", "no_block_cache")
    assert ["8192", "nullptr", "true"] == [first[word] for word in words]
    assert ["65536", "bloomfilter", "false"] == [second[word] for word in words]


def test_a_torn_end_of_the_log_is_accepted_and_damage_is_not(tmp_path: Path) -> None:
    """A torn end of the log is accepted, damage is not, and families flush together."""
    with RocksEngine.open(str(tmp_path)) as engine:
        engine.create_table(TableSpec("t", (Family("d"),)))
    for _ in range(2):
        options = stored_options(tmp_path / "t")["DBOptions"]
        assert "kTolerateCorruptedTailRecords" == options["wal_recovery_mode"]
        assert "true" == options["atomic_flush"]
        with RocksEngine.open(str(tmp_path)) as engine:
            engine.open_table("t")


def test_altered_attributes_apply_to_new_files(tmp_path: Path) -> None:
    """Altered attributes apply to new files, and a new family has its own options."""
    changed = Family("d", compression="ZSTD", block_size=4_096, bloom="NONE", versions=5)
    with RocksEngine.open(str(tmp_path)) as engine:
        store = engine.create_table(TableSpec("t", (Family("d"),)))
        store.alter_families([changed, Family("new", compression="LZ4")])
        assert "kZSTD" == get_family_options(tmp_path / "t", "d")["compression"]
    with RocksEngine.open(str(tmp_path)) as engine:
        assert (changed, Family("new", compression="LZ4")) == engine.open_table("t").spec.families
    options = get_family_options(tmp_path / "t", "d")
    words = ("compression", "block_size", "filter_policy")
    assert ["kZSTD", "4096", "nullptr"] == [options[word] for word in words]
    assert "kLZ4Compression" == get_family_options(tmp_path / "t", "new")["compression"]
