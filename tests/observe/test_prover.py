"""The regions of a table count what is predicted of a recording, phase by phase."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rowkey import Design
from rowkey.cells import compute_block_bytes
from rowkey.engines import OpenRegion, open_engine
from rowkey.errors import InvalidArgument, ReadError, SampleError
from rowkey.observe import CounterSnapshot, Proof, RegionProof, compute_interval, prove_design
from rowkey.observe.proof.cell_sizes import CellSizeCounter
from rowkey.observe.proof.proof_result import compare_phase
from rowkey.plan import plan_read
from rowkey.regions import Boundaries
from rowkey.render import build_proof_document
from rowkey.render.running_tables.proof import format_proof
from rowkey.simulate import Replay, open_source
from rowkey.workload import SkippedRows
from table.recordings import RECORDINGS

ROWS = 1_000 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 500
NAMES = ("nab", "shipped flights", "apache", "cdnow")
"""Recordings that come with the repository."""
READS: dict[str, list[dict[str, Any]]] = {
    "nab": [
        {"name": "one sensor", "where": "sensor = ?", "limit": 10},
        {"name": "a day of all", "where": "timestamp >= ? and timestamp < ?", "span": "1d"},
        {"name": "one row", "where": "sensor = ? and timestamp = ?"},
    ],
    "shipped flights": [{"name": "an hour", "where": "time >= ? and time < ?", "span": "1h"}],
    "apache": [{"name": "a client", "where": "client = ?", "order": "time desc", "limit": 5}],
    "cdnow": [{"name": "a day", "where": "date = ?"}],
}


def build_design(name: str, **words: Any) -> Design:
    """Build the design of a recording, with reads."""
    return Design(
        name.replace(" ", "_"), **(RECORDINGS[name].words | {"reads": READS[name]} | words)
    )


def prove_recording(name: str, url: str, folder: Path, rows: int = ROWS, **words: Any) -> Proof:
    """Prove a recording's first rows in five phases."""
    sample = RECORDINGS[name].sample(rows, folder)
    return prove_design(build_design(name, **words), url, sample, phases=5)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("nab", "rocks"),
        ("shipped flights", "memory"),
        ("cdnow", "memory"),
        *(pytest.param(name, "memory", marks=pytest.mark.long) for name in ("nab", "apache")),
    ],
)
def test_a_proof_counts_what_was_predicted_by_region_and_phase(
    name: str, place: str, tmp_path: Path
) -> None:
    """Counts by region, server and phase are as predicted, and reads within one a range."""
    url = f"memory:proof-{name}" if place == "memory" else f"rocks:{tmp_path / 'data'}"
    found = prove_recording(name, url, tmp_path)
    assert found.is_exact
    assert (0, 0) == (found.difference, found.unknown_count)
    assert 5 == len(found.phases)
    assert (
        found.source.replayed_count
        == found.operation_count
        == sum(r.counted_writes or 0 for r in found.sum_by_region())
    )
    assert len(READS[name]) == len(found.reads)
    for read in found.reads:
        assert (10, "", 0) == (read.trial_count, read.reason, read.wrong_regions)
        assert read.predicted_rows <= read.counted_reads <= read.max_reads
        assert 0 < read.counted_regions <= read.predicted_regions
    assert found.size is None
    with open_engine(url) as engine:
        assert [] == [table for table in engine.list_tables() if "proof" in table]


LAYOUTS: dict[str, dict[str, Any]] = {
    "ids of a dictionary": {"key": "[code(sensor)][timestamp]"},
    "slices of time": {"key": "[sensor][time_slice(timestamp, 1d)]"},
    "a digest": {"key": "[digest(sensor, 4)][timestamp]"},
    "remainders of time": {"key": "[mod(timestamp, 7)][timestamp][sensor]", "splits": "per_bucket"},
    "time is the timestamp": {
        "key": "[sensor]",
        "fields": {
            **RECORDINGS["nab"].words["fields"],
            "timestamp": {"type": "timestamp_s", "at": "timestamp"},
        },
    },
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_placement_and_key_part_is_counted_as_predicted(name: str, tmp_path: Path) -> None:
    """Regions count what was predicted for every placement of fields and every kind of part."""
    found = prove_recording("nab", f"memory:layout-{name}", tmp_path, **LAYOUTS[name])
    assert found.operation_count == sum(r.counted_writes or 0 for r in found.sum_by_region()) > 0
    reasons = {read.reason for read in found.reads}
    is_shared = name == "slices of time"
    assert ("partly" if is_shared else "exact") == found.verdict
    assert is_shared == bool(found.omissions) != found.is_exact
    assert reasons == ({SHARED_ROW_REMARK} if name == "slices of time" else {""})


SHARED_ROW_REMARK = "many events share a row, which a region counts once for each part it reads"


@pytest.mark.parametrize(
    "name", [*NAMES[:2], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[2:])]
)
def test_predicted_bytes_are_those_of_the_stored_cells(name: str, tmp_path: Path) -> None:
    """The predicted bytes are those of the stored cells, also where events overwrite others."""
    design = build_design(name)
    source = open_source(
        design, RECORDINGS[name].sample(400, tmp_path), None,
        second_half=False, seed=0, keeps_all_fields=True,
    )  # fmt: skip
    source.first_replayed = 0
    found = CellSizeCounter(design)
    standing: dict[tuple[bytes, str, bytes], int] = {}
    for events in source.read_replayed_events():
        for rows in (events.rows, events.rows.slice(0, 50)):
            found.add(rows, 0)
            for row in rows.to_pylist():
                written = design.layout.encode_event(row)
                for cell in written.cells:
                    if cell.cell_type.name == "PUT":
                        standing[written.row, cell.family, cell.qualifier] = compute_block_bytes(
                            len(written.row), len(cell.family), len(cell.qualifier), len(cell.value)
                        )
    assert sum(standing.values()) == found.sum_bytes() != 0


def test_bytes_of_overwritten_rows_with_several_versions_are_not_predicted(tmp_path: Path) -> None:
    """The bytes of overwritten rows are not predicted where a family keeps several versions."""
    design = build_design("nab", families={"d": {"versions": 3}})
    source = open_source(
        design, RECORDINGS["nab"].sample(40, tmp_path), None,
        second_half=False, seed=0, keeps_all_fields=True,
    )  # fmt: skip
    found = CellSizeCounter(design)
    (events,) = source.read_replayed_events()
    found.add(events.rows, 0)
    assert found.sum_bytes()
    found.add(events.rows, 0)
    assert found.sum_bytes() is None


def test_keep_table_leaves_the_written_table(tmp_path: Path) -> None:
    """With `keep_table` the written table stays under its own name."""
    sample = RECORDINGS["nab"].sample(100, tmp_path)
    found = prove_design(build_design("nab"), "memory:kept", sample, phases=1, keep_table=True)
    with open_engine("memory:kept") as engine:
        assert [found.table] == engine.list_tables()
        counts = engine.open_table(found.table).list_regions()
    assert [one.counted_writes for one in found.sum_by_region()] == [one.writes for one in counts]


def test_a_prediction_for_other_regions_differs_although_the_sum_is_equal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Counts in other regions than predicted differ, although the sum is the same."""
    from rowkey.observe.proof import prover

    def shift_counts(design: Design, boundaries: Boundaries, *more: Any) -> Any:
        wrong = Boundaries([*boundaries.splits[1:], boundaries.splits[-1] + b"\xff"])
        return replay(design, wrong, *more)

    replay = Replay
    monkeypatch.setattr(prover, "Replay", shift_counts)
    found = prove_recording(
        "nab", "memory:wrong", tmp_path, splits={"algorithm": "sample", "regions": 16}
    )
    assert found.difference > 0
    assert ("different", False) == (found.verdict, found.is_exact)


def test_a_region_whose_counter_restarted_makes_the_proof_incomplete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A region whose counter restarted makes the proof incomplete, not wrong."""
    from rowkey.engines.contract import Store

    opening = iter(range(10_000))

    def move_region(store: Store, _: float | None = None) -> list[OpenRegion]:
        number = next(opening)
        return [
            OpenRegion(
                one.start, one.stop, one.writes, one.reads, "rs", (place, number * (place == 3))
            )
            for place, one in enumerate(store.list_regions())
        ]

    monkeypatch.setattr(Store, "list_open_regions", move_region)
    found = prove_recording("nab", "memory:moved", tmp_path)
    assert (0, 5) == (found.difference, found.unknown_count)
    assert ("unknown", False) == (found.verdict, found.is_exact)
    assert {(10, 0)} == {(read.unknown_trials, read.wrong_regions) for read in found.reads}
    assert any("switch balancer, splits and merges off" in said for said in found.remarks)
    assert [None] == [one.counted_writes for one in found.sum_by_region() if one.reason]


def test_regions_changed_during_a_proof_are_unknown() -> None:
    """Changed regions are unknown, and the others keep their place and count."""
    designed = Boundaries([b"a", b"b", b"c"]).regions
    before = [OpenRegion(*bounds, 0, 0, "s", n) for n, bounds in enumerate(designed)]
    after = [
        OpenRegion(b"", b"A", 5, 0, "s", 5), OpenRegion(b"A", b"a", 5, 0, "s", 6),
        OpenRegion(b"a", b"b", 20, 0, "s", 1), OpenRegion(b"b", b"", 70, 0, "s", 7),
    ]  # fmt: skip
    counts = [
        CounterSnapshot.from_regions(float(at), one, ["s"])
        for at, one in enumerate((before, before, after))
    ]
    predicted = ([1, 2, 3, 4], [10, 20, 30, 40])
    phases = tuple(
        compare_phase(number, designed, many, compute_interval(*both))
        for number, (many, both) in enumerate(zip(predicted, pairwise(counts), strict=True), 1)
    )
    phases = (
        replace(phases[0], regions=tuple(map(set_predicted_writes, phases[0].regions))),
        phases[1],
    )
    assert [10, 20, 30, 40] == [one.predicted_writes for one in phases[1].regions]
    assert [None, 20, None, None] == [one.counted_writes for one in phases[1].regions]
    assert (0, 3) == (phases[1].difference, phases[1].unknown_count)
    design = Design("logs", **HOSTS)
    source: Any = SimpleNamespace(left_out=SkippedRows())
    found = Proof(design, source, "t", False, phases, (), None, ())
    assert ("unknown", 0) == (found.verdict, found.difference)
    told = [(one.start, one.predicted_writes, one.counted_writes) for one in found.sum_by_region()]
    assert [(b"", 11, None), (b"a", 22, 22), (b"b", 33, None), (b"c", 44, None)] == told


def set_predicted_writes(region: RegionProof) -> RegionProof:
    """Return a region that counted what was predicted."""
    return replace(region, counted_writes=region.predicted_writes)


def test_a_split_during_a_proof_is_not_counted_as_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Regions that are not the designed ones are not counted as wrong."""
    from rowkey.engines.contract import Store

    opening = iter(range(10_000))

    def replace_regions(store: Store, _: float | None = None) -> list[OpenRegion]:
        first, second, *more = store.openings_as_they_are()  # type: ignore[attr-defined]
        if next(opening) < 2:
            return [first, second, *more]
        return [
            OpenRegion(first.start, b"\x00", 0, 0, "", "new"),
            OpenRegion(b"\x00", second.stop, 0, 0, "", "merged"),
            *more,
        ]

    monkeypatch.setattr(Store, "openings_as_they_are", Store.list_open_regions, raising=False)
    monkeypatch.setattr(Store, "list_open_regions", replace_regions)
    rows = "".join(f"h{n},{1_000 * n},{n}\n" for n in range(60))
    found = prove_design(
        Design("logs", **HOSTS), "memory:others", write_events(tmp_path, rows), phases=2
    )
    assert ("unknown", 0, 2) == (found.verdict, found.difference, found.unknown_count)
    assert [10] == [read.unknown_trials for read in found.reads]
    document = build_proof_document(found)
    starts = [one.start.hex() for one in found.sum_by_region()]
    assert starts == [one["start"] for one in document["regions"]]
    assert {4} == {len(one["regions"]) for one in (document, *document["phases"])}


SALTED_KEY = "[salt(8)][sensor][timestamp]"


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(SALTED_KEY, id="in front", marks=pytest.mark.long),
        pytest.param("[salt(8)][code(sensor)][timestamp]", id="of ids"),
    ],
)
def test_a_prediction_for_salted_rows_agrees_by_region(key: str, tmp_path: Path) -> None:
    """The prediction has the salts of the load, so regions and reads agree."""
    url = f"memory:salt-{key}"
    found = prove_recording("nab", url, tmp_path, key=key, splits="per_bucket")
    assert ("exact", 0, ()) == (found.verdict, found.difference, found.omissions)
    assert 8 == sum(bool(one.counted_writes) for one in found.sum_by_region())
    assert {(10, 0)} == {(read.trial_count, read.wrong_regions) for read in found.reads}
    assert "the prediction uses the salts that were written" in found.remarks[0]


def test_a_salted_row_written_twice_counts_once(tmp_path: Path) -> None:
    """A row that is written twice has the same salt and counts once."""
    rows = "".join(f"h{n % 20},1000,{n}\n" for n in range(200))
    design = Design("logs", **HOSTS | {"key": "[salt(4)][host]"})
    found = prove_design(design, "memory:again", write_events(tmp_path, rows), phases=4)
    assert ("exact", 0, 200) == (found.verdict, found.difference, found.operation_count)
    assert [0] == [phase["difference"] for phase in build_proof_document(found)["phases"][:1]]
    (read,) = found.reads
    assert (10, 10, 40) == (read.trial_count, read.predicted_rows, read.fan_out)


def test_a_prediction_with_other_salts_differs_by_region(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A prediction with other salts than the written ones differs region by region."""
    from rowkey.observe.proof import prover

    monkeypatch.setattr(prover, "compute_load_salts", lambda _, rows: np.zeros(len(rows), np.int64))
    found = prove_recording("nab", "memory:other-salts", tmp_path, 500, key=SALTED_KEY,
                   splits="per_bucket")  # fmt: skip
    assert "different" == found.verdict
    assert found.difference == sum(phase.difference for phase in found.phases) > 0


def write_events(folder: Path, rows: str) -> Path:
    """Write a file of events of some hosts."""
    path = folder / "events.csv"
    path.write_text(f"host,ts,v\n{rows}", encoding="utf-8")
    return path


HOSTS: dict[str, Any] = {
    "key": "[bucket(host, 4)][host]",
    "splits": "per_bucket",
    "fields": {
        "host": "text",
        "ts": {"type": "timestamp_ms", "at": "timestamp"},
        "v": {"type": "i64", "nullable": True},
    },
    "reads": [{"name": "one host", "where": "host = ?"}],
}


@pytest.mark.parametrize(("ttl", "verdict"), [("30d", "partly"), ("20000d", "exact")])
def test_a_proof_is_partial_if_the_cells_of_a_read_have_expired(
    ttl: str, verdict: str, tmp_path: Path
) -> None:
    """A proof is partial, with the reason, if the cells of a read have expired by their ttl."""
    rows = "".join(f"h{n},{1_609_459_200_000 + 1_000 * n},{n}\n" for n in range(60))
    design = Design("logs", **HOSTS, families={"d": {"ttl": ttl}})
    found = prove_design(design, f"memory:ttl-{ttl}", write_events(tmp_path, rows), phases=2)
    assert (verdict, 0, 60) == (found.verdict, found.difference, found.operation_count)
    why = "read one host: cells of family d are older than its ttl and have expired"
    assert ((why,) if verdict == "partly" else ()) == found.omissions


def test_a_read_that_fails_midway_is_listed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A read that fails after three of ten runs is listed with its reason and is not exact."""
    from rowkey.observe.proof import read_prover

    left = iter(range(3))

    def planned(*given: Any) -> Any:
        if next(left, None) is None:
            raise ReadError("read one host", "too many ranges")
        return plan(*given)

    plan = plan_read
    monkeypatch.setattr(read_prover, "plan_read", planned)
    rows = "".join(f"h{n},{1_000 * n},{n}\n" for n in range(60))
    found = prove_design(
        Design("logs", **HOSTS), "memory:half", write_events(tmp_path, rows), phases=2
    )
    (read,) = found.reads
    assert (3, 0) == (read.trial_count, read.wrong_regions)
    why = "stopped after 3 runs; read one host: too many ranges."
    assert (("partly", False), (f"read one host: {why}",)) == (
        (found.verdict, found.is_exact), found.omissions
    )  # fmt: skip
    assert f"  not compared: read one host: {why}" in list(format_proof(found))
    assert [why] == [one["reason"] for one in build_proof_document(found)["reads"]]


def test_a_proof_with_skipped_rows_is_not_called_exact(tmp_path: Path) -> None:
    rows = "".join(
        f"{'' if n % 2 else 'h'},{1_000 * n if n % 2 == 0 else 'x'},1\n" for n in range(38)
    )
    found = prove_design(
        Design("logs", **HOSTS), "memory:left", write_events(tmp_path, rows), phases=2
    )
    assert "partly" == found.verdict
    assert found.omissions[0].startswith("19 rows of the sample left out: ")


def test_a_proof_without_a_recording_is_refused(tmp_path: Path) -> None:
    """A proof without a recording, or with a bad number of phases, is refused."""
    design = build_design("nab", splits=[])
    with pytest.raises(SampleError, match="generated events have no columns to write"):
        prove_design(design, "memory:none")
    with pytest.raises(InvalidArgument, match="phases: 0 is out of range"):
        prove_design(design, "memory:none", RECORDINGS["nab"].sample(9, tmp_path), phases=0)
