"""A truncated or damaged log is refused, and a repair keeps a prefix of the changes."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from engines.rocks.killed_writers import KilledWriters
from engines.rocks.restarts import restart_machine
from engines.rocks.script import SPEC, ExpectedTable, count_writes, list_everything
from rowkey.engines.backends.rocks import RocksEngine
from rowkey.engines.rocksdb_files.high_water_mark import HIGH_WATER_FILE
from rowkey.engines.rocksdb_files.log_format import HEADER_BYTES, LogDamage, find_damage
from rowkey.engines.rocksdb_files.write_ahead_log import list_logs, read_log
from rowkey.errors import CorruptionError

if TYPE_CHECKING:
    from rowkey.cells import RowCells
    from rowkey.engines import RepairResult

OPERATIONS = 250
IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
TRIES = 10 if IS_LONG else 5
LENGTH_BITS = range(8) if IS_LONG else (0, 5)
"""Bits that are flipped in each byte of a length."""


class TornTable:
    """A table that was killed with everything in its log, to be copied and damaged.

    Args:
        killing: its writer, dead, and its model.
    """

    def __init__(self, killing: KilledWriters) -> None:
        self.killing, self.place = killing, killing.place
        (self.log,) = list_logs(self.place / "db" / "t")
        self.content = self.log.read_bytes()
        self.states: dict[int, tuple[list[RowCells], list[tuple[bytes, int]]]] = {}

    def copy_with_log(self, content: bytes) -> Path:
        """Return a copy of the directory with another log."""
        copy = self.place / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.place / "db", copy)
        (copy / "t" / self.log.name).write_bytes(content)
        return copy

    def open_with_log(self, content: bytes) -> int:
        """Open a copy with this log after the machine was restarted, and note what it holds.

        Returns:
            The number of operations that it has.
        """
        copy = self.copy_with_log(content)
        restart_machine(copy / "t")
        with RocksEngine.open(str(copy), clock=self.killing.clock) as engine:
            store = engine.open_table("t")
            number = engine._tables["t"].region_tracker.batch_count
            self.states[number] = list_everything(store), count_writes(store)
        return number

    def check_against_model(self) -> None:
        """Check that each recorded state is the model's state after as many operations."""
        model = ExpectedTable(self.killing.script)
        for number, state in sorted(self.states.items()):
            while model.done < number:
                model.do_next()
            assert (model.list_rows(), model.writes()) == state

    def flip_bit(self, at: int, bit: int) -> bytes:
        """Return the log with one bit flipped."""
        content = bytearray(self.content)
        content[at] ^= 1 << bit
        return bytes(content)

    def list_record_starts(self) -> list[int]:
        """Return the offsets of the log's records."""
        starts, at = [], 0
        while at + HEADER_BYTES <= len(self.content):
            left = 32_768 - at % 32_768
            if left < HEADER_BYTES:
                at += left
                continue
            starts.append(at)
            at += HEADER_BYTES + int.from_bytes(self.content[at + 4 : at + 6], "little")
        return starts


@pytest.fixture(scope="module")
def torn_table(tmp_path_factory: pytest.TempPathFactory) -> TornTable:
    """Return a killed table of some hundred operations."""
    killing = KilledWriters(tmp_path_factory.mktemp("torn"), seed=8)
    writer = killing.start()
    killing.wait_for(OPERATIONS)
    writer.kill()
    writer.communicate()
    return TornTable(killing)


def repair_table(copy: Path) -> RepairResult:
    """Repair the table of a place and return the report."""
    with RocksEngine.open(str(copy)) as engine:
        return engine.repair("t")


def test_a_truncated_log_is_refused_with_the_number_of_lost_changes(torn_table: TornTable) -> None:
    """A truncated log is refused with the number of lost acknowledged changes."""
    random = Random(11)
    # The writer was perhaps killed before it acknowledged the last records.
    acknowledged = torn_table.list_record_starts()[-3]
    for _ in range(TRIES):
        length = random.randrange(acknowledged)
        copy = torn_table.copy_with_log(torn_table.content[:length])
        with (
            RocksEngine.open(str(copy)) as engine,
            pytest.raises(CorruptionError, match=r"the last [\d,]+ acknowledged changes are lost"),
        ):
            engine.open_table("t")
        assert torn_table.content[:length] == (copy / "t" / torn_table.log.name).read_bytes()


def test_a_log_truncated_by_a_loss_of_power_gives_a_prefix_of_the_changes(
    torn_table: TornTable,
) -> None:
    """A log truncated by a loss of power gives a prefix of the operations."""
    random = Random(1)
    lengths = sorted(
        random.randrange(len(torn_table.content) // 9, len(torn_table.content))
        for _ in range(TRIES)
    )
    numbers = [torn_table.open_with_log(torn_table.content[:length]) for length in lengths]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > TRIES // 2
    torn_table.check_against_model()


def test_a_log_truncated_after_the_last_sync_loses_no_synced_change(tmp_path: Path) -> None:
    killing = KilledWriters(tmp_path, seed=12)
    marks: list[tuple[int, int, bytes]] = []
    with RocksEngine.open(str(tmp_path / "db"), clock=killing.clock) as engine:
        store = engine.create_table(SPEC)
        for number in range(1, 202 if IS_LONG else 102):
            killing.clock.operation = number
            store.mutate(killing.script.mutations(number), sync=number % 20 == 0)
            if number % 20 == 0:
                (log,) = list_logs(tmp_path / "db" / "t")
                mark = (tmp_path / "db" / "t" / HIGH_WATER_FILE).read_bytes()
                marks.append((number, log.stat().st_size, mark))
        shutil.copytree(tmp_path / "db", tmp_path / "as it was")
    shutil.rmtree(tmp_path / "db")
    (tmp_path / "as it was").rename(tmp_path / "db")
    torn, random = TornTable(killing), Random(6)
    for (number, synced, mark), (later, end, _) in pairwise(marks):
        (tmp_path / "db" / "t" / HIGH_WATER_FILE).write_bytes(mark)
        assert number <= torn.open_with_log(torn.content[: random.randrange(synced, end)]) <= later
    torn.check_against_model()


def test_a_flipped_bit_of_a_log_is_refused_with_its_byte(torn_table: TornTable) -> None:
    """A flipped bit is refused with the log and the byte of the damaged record."""
    random = Random(2)
    starts = torn_table.list_record_starts()
    for _ in range(TRIES):
        at, bit = random.randrange(len(torn_table.content)), random.randrange(8)
        with pytest.raises(CorruptionError) as refusal:
            torn_table.open_with_log(torn_table.flip_bit(at, bit))
        record = max(start for start in starts if start <= at)
        assert torn_table.log.name in refusal.value.mistake.path
        assert f"damaged at byte {record:,}: " in refusal.value.mistake.problem
        assert "rowkey repair" in refusal.value.mistake.remedy


@pytest.mark.parametrize(
    "record", [-1, -20, *(pytest.param(record, marks=pytest.mark.long) for record in (-2, 3))]
)
def test_a_flipped_bit_in_a_record_header_of_a_log_is_refused(
    torn_table: TornTable, record: int
) -> None:
    """A flipped bit in a record's length or type is refused, which RocksDB would accept."""
    at = torn_table.list_record_starts()[record]
    for byte in (4, 5, 6):
        for bit in LENGTH_BITS if byte < 6 else range(8):
            with pytest.raises(CorruptionError, match="is damaged at byte"):
                torn_table.open_with_log(torn_table.flip_bit(at + byte, bit))


def test_a_repair_of_a_log_keeps_what_precedes_the_damage(torn_table: TornTable) -> None:
    """A repair reports what it kept and cut, copies the rest, and the table can be used."""
    starts = torn_table.list_record_starts()
    at = starts[len(starts) // 2]
    copy = torn_table.copy_with_log(torn_table.flip_bit(at + HEADER_BYTES + 9, 1))
    mended = repair_table(copy)
    assert ("t", torn_table.log.name, at) == (mended.table, mended.log_name, mended.offset)
    assert len(torn_table.content) - at == mended.truncated_bytes
    assert mended.lost_change_count
    assert (
        torn_table.content[at + 20 :]
        == (copy / "t" / "cut" / f"{torn_table.log.name}.{at}").read_bytes()[20:]
    )
    with RocksEngine.open(str(copy), clock=torn_table.killing.clock) as engine:
        store = engine.open_table("t")
        torn_table.states = {mended.batch_count: (list_everything(store), count_writes(store))}
        torn_table.killing.script.apply(store, mended.batch_count + 1)
    torn_table.check_against_model()


def test_a_repair_loses_no_batch_before_the_damage(torn_table: TornTable) -> None:
    """A repair keeps as many batches as a log that ends at the damage."""
    at = torn_table.list_record_starts()[-30]
    whole = torn_table.open_with_log(torn_table.content[:at])
    mended = repair_table(torn_table.copy_with_log(torn_table.flip_bit(at + 6, 2)))
    assert whole == mended.batch_count


def test_a_repair_of_an_undamaged_table_changes_nothing(torn_table: TornTable) -> None:
    """A repair of an undamaged table says so and keeps all operations."""
    number = torn_table.open_with_log(torn_table.content)
    mended = repair_table(torn_table.copy_with_log(torn_table.content))
    assert ("", number, 0) == (mended.log_name, mended.batch_count, mended.lost_change_count)


def test_every_record_of_an_undamaged_log_has_a_valid_checksum(torn_table: TornTable) -> None:
    """Every record and every truncation of an undamaged log is valid."""
    assert find_damage(torn_table.content, verify_checksums=True) is None
    for length in range(len(torn_table.content) - 300, len(torn_table.content), 50):
        assert find_damage(torn_table.content[:length], verify_checksums=True) is None
    assert read_log(torn_table.content).last_sequence > OPERATIONS


def test_a_log_of_only_zeros_counts_as_unwritten() -> None:
    """A log of zeros is unwritten and undamaged, and any other invalid header is damage."""
    assert find_damage(bytes(100)) is None
    assert LogDamage(0, "a record has the unknown type 9") == find_damage(
        bytes(6) + b"\t" + bytes(9)
    )
    assert LogDamage(0, "a record of 65535 bytes crosses the end of its block") == find_damage(
        bytes(4) + b"\xff\xff\1" + bytes(9)
    )
