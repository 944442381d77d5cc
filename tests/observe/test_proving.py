"""What is predicted of a recording is what the regions of a table count, phase by phase."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rowkey import Design
from rowkey.cells import block_bytes
from rowkey.engines import OpenRegion, open_engine
from rowkey.errors import ReadError, Refused, SampleError
from rowkey.observe import Counted, Proof, RegionProof, between, prove
from rowkey.observe.proving.proof import phase_of
from rowkey.observe.proving.sizes import Cells
from rowkey.plan import plan_read
from rowkey.regions import Boundaries
from rowkey.render import proof_document
from rowkey.render.observed.proof import proof_lines
from rowkey.simulate import Replay, source_of
from rowkey.workload import LeftOut
from table.recordings import RECORDINGS

if TYPE_CHECKING:
    from pathlib import Path

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


def design_of(name: str, **words: Any) -> Design:
    """The design of a recording, with reads."""
    return Design(
        name.replace(" ", "_"), **(RECORDINGS[name].words | {"reads": READS[name]} | words)
    )


def proved(name: str, url: str, folder: Path, rows: int = 3_000, **words: Any) -> Proof:
    """A recording's first rows, proved in five phases."""
    sample = RECORDINGS[name].sample(rows, folder)
    return prove(design_of(name, **words), url, sample, phases=5)


@pytest.mark.parametrize("place", ["memory", "rocks"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_predicted_is_counted(name: str, place: str, tmp_path: Path) -> None:
    """Per region, server and phase the difference is 0, and reads are within one a range."""
    url = f"memory:proof-{name}" if place == "memory" else f"rocks:{tmp_path / 'data'}"
    found = proved(name, url, tmp_path)
    assert found.is_exact
    assert (0, 0) == (found.difference, found.unknown)
    assert 5 == len(found.phases)
    assert found.source.count == found.operations == sum(r.counted or 0 for r in found.by_region())
    assert len(READS[name]) == len(found.reads)
    for read in found.reads:
        assert (10, "", 0) == (read.asked, read.why, read.wrong)
        assert read.predicted <= read.counted <= read.most
        assert 0 < read.regions_counted <= read.regions_predicted
    assert found.size is None
    with open_engine(url) as engine:
        assert [] == [table for table in engine.tables() if "proof" in table]


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
def test_any_layout_is_counted_as_predicted(name: str, tmp_path: Path) -> None:
    """Wherever fields live, and whatever the parts of the key, regions count what was predicted."""
    found = proved("nab", f"memory:layout-{name}", tmp_path, rows=1_000, **LAYOUTS[name])
    assert found.operations == sum(r.counted or 0 for r in found.by_region()) > 0
    reasons = {read.why for read in found.reads}
    is_shared = name == "slices of time"
    assert ("partly" if is_shared else "exact") == found.verdict
    assert is_shared == bool(found.not_asked) != found.is_exact
    assert reasons == ({SHARED} if name == "slices of time" else {""})


SHARED = "many events share a row, and regions count the pieces in which it is read"


@pytest.mark.parametrize("name", NAMES)
def test_bytes_are_those_of_the_cells_that_stand(name: str, tmp_path: Path) -> None:
    """Of all events, some of them written twice, the bytes are counted cell by cell."""
    design = design_of(name)
    source = source_of(
        design, RECORDINGS[name].sample(400, tmp_path), None,
        second_half=False, seed=0, fields=design.fields,
    )  # fmt: skip
    source.first = 0
    found = Cells(design)
    standing: dict[tuple[bytes, str, bytes], int] = {}
    for events in source.replayed():
        for rows in (events.rows, events.rows.slice(0, 50)):
            found.add(rows, 0)
            for row in rows.to_pylist():
                written = design.layout.write(row)
                for cell in written.cells:
                    if cell.kind.name == "PUT":
                        standing[written.row, cell.family, cell.qualifier] = block_bytes(
                            len(written.row), len(cell.family), len(cell.qualifier), len(cell.value)
                        )
    assert sum(standing.values()) == found.bytes() != 0


def test_versions_hide_how_many_cells_stand(tmp_path: Path) -> None:
    """Where a family keeps several versions, what was written twice is not predicted."""
    design = design_of("nab", families={"d": {"versions": 3}})
    source = source_of(
        design, RECORDINGS["nab"].sample(40, tmp_path), None,
        second_half=False, seed=0, fields=design.fields,
    )  # fmt: skip
    found = Cells(design)
    (events,) = source.replayed()
    found.add(events.rows, 0)
    assert found.bytes()
    found.add(events.rows, 0)
    assert found.bytes() is None


def test_the_table_can_be_kept(tmp_path: Path) -> None:
    """Who asks for it finds the table that was written, under its own name."""
    sample = RECORDINGS["nab"].sample(500, tmp_path)
    found = prove(design_of("nab"), "memory:kept", sample, phases=1, keep=True)
    with open_engine("memory:kept") as engine:
        assert [found.table] == engine.tables()
        counts = engine.table(found.table).regions()
    assert [one.counted for one in found.by_region()] == [one.writes for one in counts]


def test_a_wrong_prediction_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Regions elsewhere than predicted differ, although the sum is the same."""
    from rowkey.observe.proving import running

    def shifted(design: Design, boundaries: Boundaries, *more: Any) -> Any:
        wrong = Boundaries([*boundaries.splits[1:], boundaries.splits[-1] + b"\xff"])
        return replay(design, wrong, *more)

    replay = Replay
    monkeypatch.setattr(running, "Replay", shifted)
    found = proved("nab", "memory:wrong", tmp_path, splits={"algorithm": "sample", "regions": 16})
    assert found.difference > 0
    assert ("different", False) == (found.verdict, found.is_exact)


def test_a_region_opened_anew_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A region that forgot its count makes the proof incomplete, not wrong."""
    from rowkey.engines.contract import Store

    opening = iter(range(10_000))

    def moved(store: Store, _: float | None = None) -> list[OpenRegion]:
        number = next(opening)
        return [
            OpenRegion(
                one.start, one.stop, one.writes, one.reads, "rs", (place, number * (place == 3))
            )
            for place, one in enumerate(store.regions())
        ]

    monkeypatch.setattr(Store, "openings", moved)
    found = proved("nab", "memory:moved", tmp_path)
    assert (0, 5) == (found.difference, found.unknown)
    assert ("unknown", False) == (found.verdict, found.is_exact)
    assert {(10, 0)} == {(read.unknown, read.wrong) for read in found.reads}
    assert any("switch balancer, splits and merges off" in said for said in found.remarks)
    assert [None] == [one.counted for one in found.by_region() if one.why]


def test_regions_split_and_merged_to_the_same_number_are_unknown() -> None:
    """What stands no more between its bounds is not known; the others keep place and count."""
    designed = Boundaries([b"a", b"b", b"c"]).regions
    before = [OpenRegion(*bounds, 0, 0, "s", n) for n, bounds in enumerate(designed)]
    after = [
        OpenRegion(b"", b"A", 5, 0, "s", 5), OpenRegion(b"A", b"a", 5, 0, "s", 6),
        OpenRegion(b"a", b"b", 20, 0, "s", 1), OpenRegion(b"b", b"", 70, 0, "s", 7),
    ]  # fmt: skip
    counts = [Counted.of(float(at), one, ["s"]) for at, one in enumerate((before, before, after))]
    predicted = ([1, 2, 3, 4], [10, 20, 30, 40])
    phases = tuple(
        phase_of(number, designed, many, between(*both))
        for number, (many, both) in enumerate(zip(predicted, pairwise(counts), strict=True), 1)
    )
    phases = (replace(phases[0], regions=tuple(map(as_predicted, phases[0].regions))), phases[1])
    assert [10, 20, 30, 40] == [one.predicted for one in phases[1].regions]
    assert [None, 20, None, None] == [one.counted for one in phases[1].regions]
    assert (0, 3) == (phases[1].difference, phases[1].unknown)
    design = Design("logs", **HOSTS)
    source: Any = SimpleNamespace(left_out=LeftOut())
    found = Proof(design, source, "t", False, phases, (), None, ())
    assert ("unknown", 0) == (found.verdict, found.difference)
    told = [(one.start, one.predicted, one.counted) for one in found.by_region()]
    assert [(b"", 11, None), (b"a", 22, 22), (b"b", 33, None), (b"c", 44, None)] == told


def as_predicted(region: RegionProof) -> RegionProof:
    """A region that counted what was predicted."""
    return replace(region, counted=region.predicted)


def test_a_split_while_it_is_written_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of regions that are as many as designed, and others, nothing is taken for wrong."""
    from rowkey.engines.contract import Store

    opening = iter(range(10_000))

    def others(store: Store, _: float | None = None) -> list[OpenRegion]:
        first, second, *more = store.openings_as_they_are()  # type: ignore[attr-defined]
        if next(opening) < 2:
            return [first, second, *more]
        return [
            OpenRegion(first.start, b"\x00", 0, 0, "", "new"),
            OpenRegion(b"\x00", second.stop, 0, 0, "", "merged"),
            *more,
        ]

    monkeypatch.setattr(Store, "openings_as_they_are", Store.openings, raising=False)
    monkeypatch.setattr(Store, "openings", others)
    rows = "".join(f"h{n},{1_000 * n},{n}\n" for n in range(60))
    found = prove(Design("logs", **HOSTS), "memory:others", events_of(tmp_path, rows), phases=2)
    assert ("unknown", 0, 2) == (found.verdict, found.difference, found.unknown)
    assert [10] == [read.unknown for read in found.reads]
    document = proof_document(found)
    starts = [one.start.hex() for one in found.by_region()]
    assert starts == [one["start"] for one in document["regions"]]
    assert {4} == {len(one["regions"]) for one in (document, *document["phases"])}


SALTED: dict[str, str] = {
    "in front": "[salt(8)][sensor][timestamp]",
    "of ids": "[salt(8)][code(sensor)][timestamp]",
}


@pytest.mark.parametrize("key", SALTED.values(), ids=SALTED)
@pytest.mark.parametrize("place", ["memory", "rocks"])
def test_behind_a_random_salt_regions_are_predicted(key: str, place: str, tmp_path: Path) -> None:
    """The salts that a load writes are those of the prediction: regions and reads are compared."""
    url = f"memory:salt-{key}" if place == "memory" else f"rocks:{tmp_path / 'data'}"
    found = proved("nab", url, tmp_path, 1_000, key=key, splits="per_bucket")
    assert ("exact", 0, ()) == (found.verdict, found.difference, found.not_asked)
    assert 8 == sum(bool(one.counted) for one in found.by_region())
    assert {(10, 0)} == {(read.asked, read.wrong) for read in found.reads}
    assert "predicted with the salts that were written" in found.remarks[0]


def test_rows_written_again_behind_a_salt_are_predicted(tmp_path: Path) -> None:
    """A row that comes twice has the same salt, stands once, and is read once."""
    rows = "".join(f"h{n % 20},1000,{n}\n" for n in range(200))
    design = Design("logs", **HOSTS | {"key": "[salt(4)][host]"})
    found = prove(design, "memory:again", events_of(tmp_path, rows), phases=4)
    assert ("exact", 0, 200) == (found.verdict, found.difference, found.operations)
    assert [0] == [phase["difference"] for phase in proof_document(found)["phases"][:1]]
    (read,) = found.reads
    assert (10, 10, 40) == (read.asked, read.predicted, read.fan_out)


def test_other_salts_than_those_written_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What is predicted with salts of its own is seen to be wrong, region by region."""
    from rowkey.observe.proving import running

    monkeypatch.setattr(running, "load_salts", lambda _, rows: np.zeros(len(rows), np.int64))
    found = proved("nab", "memory:other-salts", tmp_path, 500, key=SALTED["in front"],
                   splits="per_bucket")  # fmt: skip
    assert "different" == found.verdict
    assert found.difference == sum(phase.difference for phase in found.phases) > 0


def events_of(folder: Path, rows: str) -> Path:
    """A file of events of some hosts."""
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
def test_reads_of_cells_that_have_expired_are_not_asked(
    ttl: str, verdict: str, tmp_path: Path
) -> None:
    """Cells that are older than their time to live are counted as written, and never found."""
    rows = "".join(f"h{n},{1_609_459_200_000 + 1_000 * n},{n}\n" for n in range(60))
    design = Design("logs", **HOSTS, families={"d": {"ttl": ttl}})
    found = prove(design, f"memory:ttl-{ttl}", events_of(tmp_path, rows), phases=2)
    assert (verdict, 0, 60) == (found.verdict, found.difference, found.operations)
    why = "read one host: cells of family d are older than its ttl, and live no longer"
    assert ((why,) if verdict == "partly" else ()) == found.not_asked


def test_a_read_that_breaks_half_way_is_not_exact(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was asked three times of ten is listed with its reason, and is told so."""
    from rowkey.observe.proving import reading

    left = iter(range(3))

    def planned(*given: Any) -> Any:
        if next(left, None) is None:
            raise ReadError("read one host", "too many ranges")
        return plan(*given)

    plan = plan_read
    monkeypatch.setattr(reading, "plan_read", planned)
    rows = "".join(f"h{n},{1_000 * n},{n}\n" for n in range(60))
    found = prove(Design("logs", **HOSTS), "memory:half", events_of(tmp_path, rows), phases=2)
    (read,) = found.reads
    assert (3, 0) == (read.asked, read.wrong)
    why = "not asked again after 3 askings; read one host: too many ranges."
    assert (("partly", False), (f"read one host: {why}",)) == (
        (found.verdict, found.is_exact), found.not_asked
    )  # fmt: skip
    assert f"  not compared: read one host: {why}" in list(proof_lines(found))
    assert [why] == [one["why"] for one in proof_document(found)["reads"]]


def test_rows_that_were_left_out_are_not_proved(tmp_path: Path) -> None:
    """What is no event was not written, so that it is not said to be exact."""
    rows = "".join(
        f"{'' if n % 2 else 'h'},{1_000 * n if n % 2 == 0 else 'x'},1\n" for n in range(40)
    )
    found = prove(Design("logs", **HOSTS), "memory:left", events_of(tmp_path, rows), phases=2)
    assert "partly" == found.verdict
    assert found.not_asked[0].startswith("20 rows of the sample left out: ")


def test_what_cannot_be_proved_is_refused(tmp_path: Path) -> None:
    """Without a recording there is nothing to write, and there are bounds to the phases."""
    design = design_of("nab", splits=[])
    with pytest.raises(SampleError, match="have no columns that could be written"):
        prove(design, "memory:none")
    with pytest.raises(Refused, match="phases: 0 is out of range"):
        prove(design, "memory:none", RECORDINGS["nab"].sample(9, tmp_path), phases=0)
