"""Time and memory of a simulation follow from the events, not from possible values."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from design import measurement
from rowkey.design import Design
from rowkey.errors import InvalidArgument
from rowkey.simulate import run
from rowkey.workload import WorkloadGenerator, workload_generator
from rowkey.workload.workload_generator import MAX_BLOCK_BYTES

LIMITS = {"MEASURED_SECONDS": "60", "MEASURED_BYTES": str(3 << 30)}
"""What a process gets: libraries and their threads map a gigabyte that they do not use."""
MAX_MEGABYTES = 950
MOST_YARDS = 200
"""Processor time, in that of reading 256 kB of TOML: 30 to 80 are measured."""


def design_file(key: str, field: str, more: str = "", *, splits: str = "per_bucket") -> str:
    """Return a design file with a field `a` and a time."""
    head = f"table = 't'\nkey = \"{key}\"\n" + (f"splits = {splits!r}\n" if splits else "")
    return f"{head}[fields]\na = {field}\nts = 'timestamp_ms'\n{more}"


def format_writes(rate: str, lasting: str) -> str:
    """Return the table of writes."""
    return f"[writes]\nrate = '{rate}'\nfor = '{lasting}'\n"


def format_reads(where: str, count: int = 1) -> str:
    """Return the tables of reads."""
    return "".join(f"[[reads]]\nname = 'r{n}'\nwhere = \"{where}\"\n" for n in range(count))


NUMBER = "'u64'"
FEW_A_SECOND = format_writes("1/s", "30000s")
MANY = format_writes("20000/s", "3s")
FILES = {
    "windows_by_regions": design_file("[bucket(a, 16000)][a][ts]", NUMBER, FEW_A_SECOND),
}
"""Design files of at most 4 kB, of which each took more than the address space or ten seconds."""
if os.environ.get("HYPOTHESIS_PROFILE") == "long":
    FILES["long_constants"] = design_file(
        f"['{'x' * 3_500}'][a][ts]", NUMBER, format_writes("100000/s", "5s"), splits=""
    )
    FILES["bounded_spread"] = design_file(
        "[bucket(a, ts, 16000, 4)][a][ts]", "{ type = 'text', heavy = ['x'] }", FEW_A_SECOND
    )
    FILES["regions_by_remainders"] = design_file(
        "[bucket(a, 32768)][mod(a, 65536)][a]", NUMBER, FEW_A_SECOND
    )
    FILES["long_values"] = design_file(
        "[a][ts]", "{ type = 'hex', width = 32000 }", format_writes("10000/s", "6s"), splits=""
    )
    FILES["ranges_of_a_read"] = design_file(
        "[bucket(a, 65536, width=2)][mod(a, 65536)][a]", NUMBER,
        MANY + format_reads("a between ? and ?"), splits="",
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The time and memory of `rowkey simulate` by command and file, each in a process."""
    folder = tmp_path_factory.mktemp("small")
    for name, text in FILES.items():
        (folder / f"{name}.toml").write_text(text, "utf-8")
    words = [sys.executable, measurement.__file__, "1", "simulate -f json", str(folder)]
    limits = {**os.environ, **LIMITS}
    done = subprocess.run(words, capture_output=True, check=True, timeout=500, env=limits)
    told: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("name", FILES)
def test_a_small_file_is_simulated_in_bounded_time_and_memory(
    name: str, measured_runs: dict[str, dict[str, Any]]
) -> None:
    """Each file gets a verdict within limits of time and memory."""
    one = measured_runs[f"simulate -f json {name}.toml"]
    assert one["code"] in (0, 1), one["err"]
    assert one["megabytes"] < MAX_MEGABYTES
    assert one["yards"] < MOST_YARDS
    assert json.loads(one["out"])["verdict"]


HOST = "{ type = 'text', distinct = 1000 }"
MANY_TEXTS = "{ type = 'text', distinct = 5000000 }"
BURST = "bursts = [{ at = '10s', for = '5s', times = 40 }]\n"
TOO_MANY = {
    "121 bytes": (NUMBER, format_writes("10000000/s", "90s"), 500_000_000),
    "for days": (NUMBER, format_writes("1000000000/s", "300s"), 500_000_000),
    "of few values": (HOST, format_writes("40000000/s", "1m"), 1_000_000_000),
    "of texts": (MANY_TEXTS, format_writes("100000/s", "1h"), 181_818_181),
    "in bursts": (HOST, format_writes("10000000/s", "90s") + BURST, 1_000_000_000),
    "to be sorted": (
        HOST,
        format_writes("100000/s", "1h") + "arrival = 'bulk_sorted'\n",
        10_000,
    ),
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_too_many_events_are_refused_with_a_duration_that_fits(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Too many events are refused early, with the longest duration that is accepted."""
    assert workload_generator.MAX_SORTED_EVENTS == 1 << 22
    monkeypatch.setattr(workload_generator, "MAX_SORTED_EVENTS", 10_000)
    field, writes, most = TOO_MANY[name]
    text = design_file("[a][ts]", field, writes, splits="")
    with pytest.raises(
        InvalidArgument, match=rf"writes: .* events; expected at most {most:,}\. "
    ) as told:
        run(Design.loads(text))
    lasting = int(re.findall(r'Shorten the workload to for = "(\d+)ms"', str(told.value))[0])
    for more in (0, 1):
        fitted = re.sub(r"(?m)^for = '\w+'", f"for = '{lasting + more}ms'", text)
        made = build_workload(Design.loads(fitted))
        assert (made.event_count <= most) == (not more)
        if not more:
            next(made.generate_events())


@pytest.mark.parametrize(
    ("rate", "duration_ms"),
    [("100/s", 600_000), ("1000/s", 181_000), ("20000/s", 50_000), ("10000000/s", 100)],
)
def test_a_workload_of_undeclared_duration_ends_before_it_is_too_large(
    monkeypatch: pytest.MonkeyPatch, rate: str, duration_ms: int
) -> None:
    """A workload ends after whole seconds, or milliseconds, and says so."""
    # The 800,000 values are listed if there are as many events, which then cost a sixth.
    monkeypatch.setattr(workload_generator, "MAX_GENERATED_VALUES", 2_000_000)
    monkeypatch.setattr(workload_generator, "MAX_LISTED_VALUES", 100)
    text = design_file("[a][ts]", "{ type = 'hex', width = 8, distinct = 800000 }", splits="")
    made = build_workload(Design.loads(f"{text}[writes]\nrate = '{rate}'\n"))
    assert made.event_count <= made.max_events
    next(made.generate_events())
    assert duration_ms == made.writes.duration_ms
    told = [one for one in made.assumptions if "the workload ends after" in one]
    assert (duration_ms < 600_000) == bool(told)


def test_a_large_import_of_undeclared_duration_is_as_uneven_as_all_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fewer rows of it pass each region in the time of all."""
    writes = "[cluster]\nservers = 12\n[writes]\nrate = '2000/s'\narrival = 'bulk_sorted'\n"
    splits = "splits = { algorithm = 'uniform', regions = 48 }\n"
    design = Design.loads(splits + design_file("[a]", "'uuid'", writes, splits=""))
    expected = run(design)
    monkeypatch.setattr(workload_generator, "MAX_SORTED_EVENTS", 200_000)
    thinned = run(design)
    assert 200_000 == thinned.source.total_count
    assert pytest.approx(expected.verdict.skew, rel=0.02) == thinned.verdict.skew
    assert (
        "200,000 rows stand for the 1,200,000 of an import of 600 s; to change that, set "
        "[writes] for"
    ) in thinned.source.assumptions


def test_a_rate_too_high_for_any_duration_is_refused_with_one_that_fits() -> None:
    """A rate that is too high for a millisecond is refused with a rate that fits."""
    text = design_file("[a][ts]", NUMBER, format_writes("1000000000000/s", "1ms"), splits="")
    with pytest.raises(InvalidArgument, match=r"Declare a rate of 500,000,000,000/s or less\."):
        run(Design.loads(text))
    next(
        build_workload(
            Design.loads(text.replace("1000000000000", "500000000000"))
        ).generate_events()
    )


def test_too_many_long_values_are_refused_with_a_number_that_fits() -> None:
    text = design_file("[a][ts]", "{ type = 'hex', width = 32000, distinct = 100000 }", splits="")
    with pytest.raises(InvalidArgument, match=r"fields\.a: 100,000 values of 32,000 bytes") as told:
        run(Design.loads(text))
    fits = int(re.findall(r"Write distinct = (\d+)", str(told.value))[0])
    assert fits * 32_000 <= MAX_BLOCK_BYTES < (fits + 1) * 32_000


def build_workload(design: Design) -> WorkloadGenerator:
    """Return the generated events of a design."""
    return WorkloadGenerator(design.writes, design.collect_needed_fields(), 0, design.key)
