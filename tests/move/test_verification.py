"""Two tables of different designs are compared row by row, while both are in use."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowkey
from example_counts import IS_LONG
from move.twins import (
    DESIGNS,
    IDENTITY,
    MADE_EARLIER_MS,
    Twins,
    build_row,
    get_identity,
    open_twins,
    write_row,
)
from rowkey.cells import RowCells
from rowkey.errors import InvalidArgument
from rowkey.move import VerificationResult, verify_move
from rowkey.move.comparison_rules import build_comparison_rules
from rowkey.move.difference_search import MAX_ROUNDS
from rowkey.move.row_hashes import BinDigest, RowHasher
from rowkey.move.table_digest import hash_table
from rowkey.progress import Progress
from table.clients import ManualClock, open_client, set_buckets

AT = MADE_EARLIER_MS
engines = pytest.mark.parametrize("engine", ["memory", "rocks"])


def skip_pause(_seconds: float) -> None:
    """Wait for nothing."""


def build_url(engine: str, folder: Path) -> str:
    """Return the URL of an engine in a folder."""
    return "memory:" if engine == "memory" else f"rocks:{folder / 'tables'}"


def find_kinds(result: VerificationResult) -> dict[tuple[Any, ...], str]:
    """Return the kind of difference of each listed row."""
    return {get_identity(one.identity): one.kind for one in result.differences}


identities = st.fixed_dictionaries(
    {
        "user": st.sampled_from(["", "a", "ab"]),
        "at": st.sampled_from([0, 5, 7_200]),
        "number": st.sampled_from([0, 1, 2**62]),
    }
)
field_values = st.fixed_dictionaries(
    {},
    optional={"note": st.sampled_from([None, "", "x"]), "amount": st.none() | st.integers(-1, 1)},
)
puts = st.builds(lambda one, two: one | two, identities, field_values)
changes = st.tuples(puts, st.sampled_from(["st", "st", "st", "s", "t"]), st.booleans())


@given(
    st.sampled_from([*DESIGNS]),
    st.sampled_from([*DESIGNS]),
    st.lists(changes, max_size=12),
)
@settings(max_examples=30 if IS_LONG else 12)
def test_differences_of_two_tables_equal_those_of_two_dictionaries(
    source: str, target: str, written: list[tuple[dict[str, Any], str, bool]]
) -> None:
    """The differences are those of two dictionaries that got the same changes."""
    models, differing_rows = apply_to_models(written)
    with open_twins(source, target) as twins:
        for number, (given_row, sides, is_delete) in enumerate(written):
            # A packed cell is written whole, so its rows give both fields.
            row = {"note": None, "amount": None} | given_row
            (twins.delete if is_delete else twins.write)(row, AT + number, sides)
        result = verify_move(*twins.states, pause=skip_pause)
        rules = build_comparison_rules(*twins.states)
    if rules.skips_empty_rows:
        for model in models.values():
            for identity in [identity for identity, stored in model.items() if not stored]:
                del model[identity]
    if rules.fields_without_timestamp:
        for model in models.values():
            for stored in model.values():
                stored.update({name: (None, pair[1]) for name, pair in stored.items()})
    expected = compare_models(models["s"], models["t"])
    found = find_kinds(result)
    # Versions before the newest are compared as well, and may be all that differs.
    assert expected == {i: kind for i, kind in found.items() if i in expected}
    assert found.keys() <= differing_rows
    assert result.has_passed == (not found)


Model = dict[tuple[Any, ...], dict[str, tuple[int | None, Any]]]
"""By identity, the timestamp and the value of each field that a row has."""


def apply_to_models(
    written: list[tuple[dict[str, Any], str, bool]],
) -> tuple[dict[str, Model], set[tuple[Any, ...]]]:
    """Return dictionaries of both tables after some changes, and the rows that may differ."""
    models: dict[str, Model] = {"s": {}, "t": {}}
    for number, (row, sides, is_delete) in enumerate(written):
        for side in sides:
            models[side].pop(get_identity(row), None)
            if not is_delete:
                models[side][get_identity(row)] = {
                    name: (AT + number, row[name])
                    for name in ("note", "amount")
                    if row.get(name) is not None
                }
    return models, {get_identity(row) for row, sides, _ in written if sides != "st"}


def compare_models(old: Model, new: Model) -> dict[tuple[Any, ...], str]:
    """Return the kind of difference of each row that differs between two dictionaries."""
    different = {one for one in old.keys() & new.keys() if old[one] != new[one]}
    return (
        dict.fromkeys(old.keys() - new.keys(), "missing")
        | dict.fromkeys(new.keys() - old.keys(), "extra")
        | dict.fromkeys(different, "different")
    )


@pytest.mark.parametrize("design", [*DESIGNS])
@pytest.mark.parametrize("is_source", [True, False])
def test_a_row_that_only_one_table_has_is_found_in_every_design(
    design: str, is_source: bool
) -> None:
    """A row that only one table has is a difference, whichever design either table has."""
    names = (design, "by_user") if is_source else ("by_user", design)
    with open_twins(*names) as twins:
        twins.write(build_row(1), AT)
        twins.write(build_row(2), AT, "s")
        twins.write(build_row(3), AT, "t")
        found = find_kinds(verify_move(*twins.states, pause=skip_pause))
    expected = {get_identity(build_row(2)): "missing", get_identity(build_row(3)): "extra"}
    assert expected == found


@engines
def test_six_planted_faults_are_found_with_their_rows(engine: str, tmp_path: Path) -> None:
    """Six faults among many rows are found, each with its row."""
    plant_and_find_faults(3_000, build_url(engine, tmp_path))


@pytest.mark.long
def test_planted_faults_are_found_among_a_million_rows(tmp_path: Path) -> None:
    """The same six faults are found in large tables."""
    plant_and_find_faults(1_000_000, build_url("rocks", tmp_path))


def plant_and_find_faults(count: int, url: str) -> None:
    """Plant six faults in one of two tables with some rows, and require that each is named."""
    rows = {number: build_row(number) for number in range(count)}
    with open_twins("by_user", "by_number", url) as twins:
        for number, row in rows.items():
            values = {
                100: {"note": "note 100 "},
                400: {"note": "note 401"},
                401: {"note": "note 400"},
            }.get(number, {})
            twins.write(row, AT + number, "s")
            if number != 200:
                at = AT + number + (number == 300)
                twins.write(row | values, at, "t")
        twins.write(build_row(count + 9_000), AT, "t")
        key = DESIGNS["by_user"].key.encode(rows[500])
        wrong_key = bytes([(key[0] + 1) % 4]) + key[1:]
        (found,) = twins.source.store.get([key])
        twins.source.store.mutate([RowCells(wrong_key, found.cells)])
        result = verify_move(*twins.states, pause=skip_pause)
    different = dict.fromkeys((100, 300, 400, 401), "different")
    expected = {200: "missing", count + 9_000: "extra"} | different
    assert expected == {i["number"]: one.kind for one in result.differences for i in [one.identity]}
    assert [wrong_key] == [one.row_key for one in result.source.skipped]
    fields = {one.identity["number"]: one.fields for one in result.differences}
    (changed,) = fields[100]
    assert ("note", ((AT + 100, "note 100"),)) == (changed.name, changed.source)
    assert ((AT + 100, "note 100 "),) == changed.target
    assert ["note", "amount"] == [one.name for one in fields[300]]
    assert ((AT + 300, -300),) == fields[300][1].source
    assert ((AT + 301, -300),) == fields[300][1].target
    assert not result.has_passed
    assert (count, count) == (result.source.rows, result.target.rows)
    assert 1 == result.source.skipped_count


def test_a_row_key_that_does_not_match_its_fields_is_reported() -> None:
    """A row key that the fields of its row do not give is named, though it can be decoded."""
    with open_twins("by_digest", "by_user") as twins:
        twins.write(build_row(1), AT)
        (found,) = twins.source.store.get([DESIGNS["by_digest"].key.encode(build_row(1))])
        wrong_key = bytes([found.row[0] ^ 1]) + found.row[1:]
        twins.source.store.mutate([RowCells(wrong_key, found.cells)])
        result = verify_move(*twins.states, pause=skip_pause)
    assert [wrong_key] == [one.row_key for one in result.source.skipped]
    assert not result.has_passed


@engines
def test_a_wrong_older_version_is_found(engine: str, tmp_path: Path) -> None:
    """A wrong version behind the newest one is found."""
    with open_twins("by_user", "wide", build_url(engine, tmp_path)) as twins:
        twins.write(build_row(1, amount=7), AT, "s")
        twins.write(build_row(1, amount=8), AT, "t")
        twins.write(build_row(1, amount=9), AT + 1)
        result = verify_move(*twins.states, pause=skip_pause)
        ((difference,),) = [one.fields for one in result.differences]
    assert ((AT + 1, 9), (AT, 7)) == difference.source
    assert ((AT + 1, 9), (AT, 8)) == difference.target


@engines
def test_concurrent_writes_to_both_tables_are_no_difference(engine: str, tmp_path: Path) -> None:
    """Clients that write both tables meanwhile are no difference, however far apart the writes."""
    is_done = Event()
    with open_twins("by_user", "by_number", build_url(engine, tmp_path)) as twins:
        for number in range(300):
            twins.write(build_row(number), AT)

        def write_rows() -> None:
            at = AT
            while not is_done.is_set():
                at += 1
                row = build_row(at * 7 % 300, note=f"changed {at}")
                write_row(twins.source, row, at)
                is_done.wait(0.001)
                write_row(twins.target, row, at)

        writers = [Thread(target=write_rows)]
        for writer in writers:
            writer.start()
        try:
            results = [verify_move(*twins.states) for _ in range(5)]
        finally:
            is_done.set()
            for writer in writers:
                writer.join()
    assert [True] * 5 == [one.has_passed for one in results]
    assert any(one.unequal_bins for one in results)


def test_a_row_that_changes_in_every_comparison_is_reported_as_unsettled() -> None:
    """A row that changes in every attempt to compare it is reported, and is not said to differ."""
    rounds = 0
    with open_twins("by_user", "by_number") as twins:
        twins.write(build_row(1), AT, "s")

        def change_row(_seconds: float) -> None:
            nonlocal rounds
            rounds += 1
            twins.write(build_row(1, amount=rounds), AT + rounds, "s")

        result = verify_move(*twins.states, pause=change_row)
    assert MAX_ROUNDS == rounds
    assert [1] == [one["number"] for one in result.unsettled]
    assert (0, False) == (result.difference_count, result.has_passed)


def test_the_newest_copy_of_a_row_under_two_bucket_counts_is_compared() -> None:
    """While rows are stored under two numbers of buckets, the newest copy of each row counts."""
    with (
        open_client(DESIGNS["by_user"], "memory:", ManualClock()) as source,
        rowkey.open(DESIGNS["by_number"], "memory:") as target,
    ):
        twins = Twins(source, target)
        for number in range(50):
            twins.write(build_row(number), AT)
        set_buckets(source, 8)
        for number in range(25, 60):
            twins.write(build_row(number, amount=7), AT + 1)
        assert source.get_state().has_row_copies
        assert verify_move(*twins.states, pause=skip_pause).has_passed
        twins.delete(build_row(59), AT + 2, "t")
        result = verify_move(*twins.states, pause=skip_pause)
    assert ["missing"] == [one.kind for one in result.differences]


def test_tables_with_different_packing_are_compared_by_values_only() -> None:
    """Fields that only one table packs have no timestamps in common, and the result says so."""
    with open_twins("by_user", "packed") as twins:
        twins.write(build_row(1), AT, "s")
        twins.write(build_row(1), AT + 5, "t")
        result = verify_move(*twins.states)
    assert ("amount", "note") == result.fields_without_timestamp
    assert result.has_passed


def test_sampled_comparisons_of_all_seeds_find_each_fault() -> None:
    """Samples of all seeds together find each fault about as often as their share says."""
    with open_twins("by_user", "by_number") as twins:
        for number in range(100):
            twins.write(build_row(number), AT, "s")
        results = [
            verify_move(*twins.states, sample_share=0.25, seed=seed, pause=skip_pause)
            for seed in range(4)
        ]
    found = sum(one.difference_count for one in results)
    assert 50 < found < 150
    assert found == sum(one.source.rows for one in results)
    with pytest.raises(InvalidArgument, match="above 0, at most 1"):
        verify_move(*twins.states, sample_share=0)


def test_differences_beyond_the_limit_are_counted_and_not_read() -> None:
    """Beyond a limit, rows are counted and not read one by one."""
    with open_twins("by_user", "by_number") as twins:
        for number in range(100):
            twins.write(build_row(number), AT, "s")
        result = verify_move(*twins.states, max_examined=30, listed=5, pause=skip_pause)
    assert (5, 30, 70) == (
        len(result.differences),
        result.difference_count,
        result.unexamined_count,
    )
    assert not result.has_passed


def test_a_comparison_ends_when_enough_rows_were_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are not read again for each group of bins once so many rows were examined."""
    monkeypatch.setattr("rowkey.move.difference_search.MAX_GROUP_BYTES", 1)
    scans = []

    def count_scan(*arguments: Any) -> Any:
        scans.append(arguments)
        return hash_table(*arguments)

    monkeypatch.setattr("rowkey.move.difference_search.hash_table", count_scan)
    with open_twins("by_user", "by_number") as twins:
        for number in range(100):
            twins.write(build_row(number), AT, "s")
        result = verify_move(*twins.states, max_examined=10, pause=skip_pause)
    assert (10, 90) == (result.difference_count, result.unexamined_count)
    assert 2 * 10 >= len(scans)


def test_the_smallest_sample_of_a_comparison_is_one_bin() -> None:
    """The smallest sample is one bin of 4,096, whatever share was asked for."""
    with open_twins("by_user", "by_number") as twins:
        for number in range(100):
            twins.write(build_row(number), AT)
        result = verify_move(*twins.states, sample_share=1e-9, pause=skip_pause)
    assert 1 / 4_096 == result.sample_share


def _check_that_a_row_twice_is_seen(twins: Twins) -> None:
    """Check that a digest differs if each of some rows is added twice."""
    rules = build_comparison_rules(*twins.states)
    (block,) = twins.source.store.scan([_everything()])[0].read_blocks()
    rows = RowHasher(twins.states[0], rules).hash_block(block)
    once, thrice = BinDigest(), BinDigest()
    once.add_rows(rows)
    for _ in range(3):
        thrice.add_rows(rows)
    assert once.compute_sums() != thrice.compute_sums()


def _everything() -> Any:
    """Return the range of all rows."""
    from rowkey.engines import ScanRange

    return ScanRange()


def test_a_digest_by_exclusive_or_misses_rows_that_occur_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test of rows that are there twice fails if the digest is an exclusive or."""
    with open_twins("by_user", "by_number") as twins:
        twins.write(build_row(1), AT)
        _check_that_a_row_twice_is_seen(twins)
        monkeypatch.setattr("rowkey.array_libraries.np.add", np.bitwise_xor)
        with pytest.raises(AssertionError):
            _check_that_a_row_twice_is_seen(twins)


def test_a_digest_without_timestamps_misses_planted_faults(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The test of planted faults fails if hashes leave the timestamps out."""
    from rowkey.move.row_hashes import _RowSums

    hash_cells = _RowSums._hash_cells
    monkeypatch.setattr(
        _RowSums,
        "_hash_cells",
        lambda one, number, rows, values, _: hash_cells(one, number, rows, values, None),
    )
    with pytest.raises(AssertionError):
        test_six_planted_faults_are_found_with_their_rows("memory", tmp_path)


def test_an_exception_in_the_progress_callback_ends_the_comparison() -> None:
    """What the progress callback raises ends the comparison."""

    def stop(now: Progress) -> None:
        if now.done:
            raise KeyboardInterrupt

    with open_twins("by_user", "by_number") as twins:
        twins.write(build_row(1), AT)
        with pytest.raises(KeyboardInterrupt):
            verify_move(*twins.states, progress=stop)
    assert ("user", "at", "number") == IDENTITY
