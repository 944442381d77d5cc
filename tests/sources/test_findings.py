"""Findings and verdicts of every design of the sources, each listed after reading."""

from __future__ import annotations

import gzip
import shlex
from collections.abc import Iterable
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from rowkey.cli.group import program
from rowkey.design import Design
from rowkey.errors import InvalidDesign
from sources import recordings
from sources.evaluations import (
    NAMES,
    SOURCES,
    change_design,
    check_example,
    list_causes,
    read_design,
    simulate_example,
)

if TYPE_CHECKING:
    from rowkey.findings import Finding

EXPECTED_FINDINGS: dict[str, list[str]] = {
    "behaviour/better": [],
    "behaviour/event_id": ["RK409 table", "RK601 reads[0].where"],
    "behaviour/md5_hex": ["RK119 key", "RK410 key"],
    "described_orders/better": [],
    "described_orders/described": ["RK106 fields.description", "RK107 key", "RK410 key"],
    "devices/better": [],
    "devices/device": ["RK105 key"],
    "devices/md5": [
        "RK103 fields.device", "RK107 key", "RK111 reads[0]", "RK111 reads[1]", "RK116 key",
        "RK119 key", "RK201 splits",
    ],
    "devices/md5_resplit": ["RK103 fields.device", "RK119 key", "RK410 key"],
    "families/advised": [
        "RK401 families.d.versions", "RK403 families.d.ttl", "RK405 families.d.min_versions",
        "RK406 families.d.block_size", "RK407 families.d.block_cache",
        "RK408 families.d.in_memory", "RK411 families.d.bloom", "RK416 families.d.compression",
    ],
    "families/better": [],
    "families/three": [
        "RK301 families.statistics", "RK302 families.address", "RK302 families.information",
        "RK304 families.statistics", "RK305 families.address", "RK306 reads[0].where",
    ],
    "follows/better": [],
    "follows/pairs": ["RK609 reads[0].where"],
    "follows/tilde": ["RK109 key", "RK115 key"],
    "follows/wide": ["RK103 fields.star", "RK507 key"],
    "ids/as_text": ["RK107 key", "RK113 fields.serial", "RK113 fields.trace"],
    "ids/better": [],
    "imports/better_shuffled": [],
    "imports/sorted": ["RK701 writes.arrival"],
    "leaderboard/as_text": ["RK112 fields.score", "RK603 reads[0].order"],
    "leaderboard/better_max_minus": [],
    "leaderboard/bucketed": [],
    "logs/better_by_host": [],
    "logs/better_by_time": [],
    "logs/few_hosts": ["RK104 key", "RK603 reads[0].order"],
    "logs/host_digest": ["RK108 key", "RK110 key", "RK603 reads[0].order"],
    "logs/host_first": ["RK603 reads[0].order"],
    "logs/mod_100": ["RK102 key", "RK123 key"],
    "logs/time_first": ["RK101 key"],
    "metrics/better": [],
    "metrics/few": ["RK104 key"],
    "metrics/many": [],
    "order_status/better": [],
    "order_status/counted_up": ["RK101 key"],
    "order_status/default_versions": ["RK402 fields.ts"],
    "order_status/reversed": [],
    "order_status/versions": ["RK401 families.d.versions", "RK409 families.d"],
    "orders_by_day/better": [],
    "orders_by_day/reversed_day": ["RK102 key", "RK111 reads[0]"],
    "orders_by_user/better": [],
    "orders_by_user/joined": ["RK109 key", "RK109 key", "RK111 reads[0]", "RK111 reads[1]"],
    "orders_hashed/better": [],
    "orders_hashed/three_partitions": [
        "RK115 key", "RK115 key", "RK124 key", "RK601 reads[0].where",
    ],
    "packed/better": [],
    "packed/columns": ["RK502 fields.temperature"],
    "phones/better_reversed": [],
    "phones/plain": ["RK201 splits"],  # that all numbers begin alike shows when they come
    "phones/reversed_range": ["RK111 reads[0]"],
    "regions/better_large": [],
    "regions/better_small": [],
    "regions/capped": ["RK802 splits"],
    "regions/small": ["RK205 splits"],
    "regions/unsplit": ["RK203 key"],
    "salted/better": [],
    "salted/hashed_letters": ["RK115 key", "RK205 splits"],
    "salted/java_byte": ["RK117 key"],
    "salted/names_first": ["RK101 key"],
    "salted/random_letters": ["RK118 key", "RK205 splits"],
    "slices/better": [],
    "slices/day": ["RK505 key"],
    "slices/rows": [],
    "waybills/better": [],
    "waybills/number_first": ["RK101 key"],
    "waybills/time_first": ["RK101 key", "RK605 reads[0].where"],
}  # fmt: skip
"""What is found in each design, as code and path."""
ALLOWED_FINDINGS = {
    name: ["RK108 key"]
    for name in ("salted/better", "salted/hashed_letters", "salted/java_byte", "salted/names_first")
}
"""Names that are written again are meant to be: under a random salt alone it is a mistake."""
NOT_EVEN: dict[str, tuple[str, list[str]]] = {
    "devices/device": ("hot", ["hot_row"]),
    "devices/md5": ("hot", ["hot_entity", "missed_splits"]),
    "devices/md5_resplit": ("hot", ["hot_entity"]),
    "follows/wide": ("hot", ["hot_entity"]),
    "imports/sorted": ("hot", ["moving_front"]),
    "logs/few_hosts": ("warm", ["few_entities"]),
    "logs/mod_100": ("hot", ["time_only_bucket"]),
    "logs/time_first": ("hot", ["moving_front"]),
    "metrics/few": ("warm", ["few_entities"]),
    "order_status/counted_up": ("hot", ["moving_front"]),
    "orders_by_day/reversed_day": ("hot", ["time_only_bucket"]),
    "orders_hashed/three_partitions": ("hot", ["integer_imbalance"]),
    "phones/plain": ("hot", ["missed_splits"]),
    "regions/small": ("warm", ["integer_imbalance"]),
    "regions/unsplit": ("hot", ["integer_imbalance"]),
    "salted/hashed_letters": ("warm", ["integer_imbalance"]),
    "salted/names_first": ("hot", ["moving_front"]),
    "salted/random_letters": ("warm", ["integer_imbalance"]),
    "waybills/number_first": ("hot", ["moving_front"]),
    "waybills/time_first": ("hot", ["moving_front"]),
}
"""Designs that are not even, and why; all others are even, and nothing is named."""
MAX_RECORDING_BYTES = 200_000


def format_findings(found: Iterable[Finding]) -> list[str]:
    """Return findings as code and path, in order."""
    return sorted(f"{one.code} {one.path}" for one in found)


@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_each_design_has_exactly_the_listed_findings(name: str) -> None:
    """Each design has exactly the listed findings, and what is allowed has a reason."""
    allowed = check_example(name).allowed_findings
    assert EXPECTED_FINDINGS[name] == format_findings(check_example(name).findings)
    assert ALLOWED_FINDINGS.get(name, []) == format_findings(allowed)
    assert all(one.allowed_reason for one in allowed)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in NOT_EVEN or "/better" in name else pytest.mark.long)
        for name in EXPECTED_FINDINGS
    ],
)
def test_each_design_has_the_listed_verdict_and_causes(name: str) -> None:
    word, expected = NOT_EVEN.get(name, ("even", []))
    assert (word, expected) == (simulate_example(name).verdict.level, list_causes(name))


@pytest.mark.parametrize("name", [name for name in EXPECTED_FINDINGS if "/better" in name])
def test_every_better_design_is_even_and_has_no_warning(name: str) -> None:
    """A better design has no error, no warning, and at most 1.25 times the skew of chance."""
    assert () == check_example(name).filter_by_severity("warning")
    verdict = simulate_example(name).verdict
    assert verdict.skew < 1.25 * verdict.even_skew


@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_each_design_file_names_the_document_it_comes_from(name: str) -> None:
    """A design begins with two to four comment lines that name its document."""
    lines = (SOURCES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    comment = [line for line in lines[: lines.index("")] if line.startswith("# ")]
    assert 2 <= len(comment) <= 4
    assert len(lines) <= 45
    assert len(comment) == lines.index("")
    assert "ocument" in "".join(comment) or "oday" in "".join(comment)


def test_findings_of_every_design_are_listed() -> None:
    """The findings of every design are listed, and each subject has a better design."""
    assert NAMES == sorted(EXPECTED_FINDINGS)
    subjects = {name.partition("/")[0] for name in NAMES}
    assert subjects == {name.partition("/")[0] for name in NAMES if "/better" in name}


def test_the_page_of_the_designs_lists_all_of_them() -> None:
    """The page of the designs lists all of them and no other."""
    page = (SOURCES / "README.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    assert NAMES == sorted(cells)


COMMANDS = [
    pytest.param(
        line,
        id=line.split()[1],
        # The tests of these commands run them on designs that are judged faster.
        marks=[pytest.mark.long] * (line.split()[1] != "explain"),
    )
    for line in (SOURCES / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("rowkey ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_of_the_page_of_designs_runs(line: str, tmp_path: Path) -> None:
    """Each command of the page runs in the page's folder, with its output elsewhere."""
    words = [word for part in shlex.split(line, comments=True)[1:] for word in _expand_glob(part)]
    with chdir(SOURCES):
        told = CliRunner().invoke(
            program, [str(tmp_path / word) if word.endswith(".html") else word for word in words]
        )
    assert told.exit_code in {0, 1}
    assert len(told.output) > 60


def _expand_glob(word: str) -> list[str]:
    """Return the files that a shell glob matches."""
    return sorted(str(path.relative_to(SOURCES)) for path in SOURCES.glob(word)) or [word]


@pytest.mark.parametrize("name", recordings.RECORDINGS)
def test_each_recording_is_exactly_what_its_program_writes(name: str) -> None:
    """Each recording is exactly what its program writes, so it has no personal data."""
    written = gzip.decompress((SOURCES / f"{name}.csv.gz").read_bytes()).decode()
    assert recordings.format_recording(name) == written


def test_all_recordings_together_are_small() -> None:
    files = sorted(SOURCES.glob("*/*.csv.gz"))
    names = [path.relative_to(SOURCES).as_posix().removesuffix(".csv.gz") for path in files]
    assert sorted(recordings.RECORDINGS) == names
    assert sum(path.stat().st_size for path in files) < MAX_RECORDING_BYTES


@pytest.mark.claims(1)
def test_a_design_file_without_fields_or_key_is_refused() -> None:
    with pytest.raises(InvalidDesign) as refused:
        Design.loads('table = "t"')
    assert {"key", "fields"} == {mistake.path for mistake in refused.value.mistakes}


@pytest.mark.claims(1)
@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"fields": {"user": {}}}, "fields.user.type"),
        ({"fields": {"user": {"type": "u64", "family": "none"}}}, "fields.user.family"),
        ({"families": {"d": {"versions": 0}}}, "families.d.versions"),
        ({"key": "[account]"}, "key[0]"),
    ],
)
def test_each_part_of_a_design_file_is_validated_with_its_position(
    options: dict[str, Any], path: str
) -> None:
    """A wrong type, family, number of versions or key is reported with its position."""
    with pytest.raises(InvalidDesign) as refused:
        change_design("families/better", **options)
    assert path in {mistake.path for mistake in refused.value.mistakes}


@pytest.mark.claims(1)
@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_each_declared_field_is_in_the_key_or_in_a_cell(name: str) -> None:
    """Each field is in the key or in a cell of a family, with a name and versions."""
    design = read_design(name)
    cells = design.layout.estimate_cells()
    named = [(cell.family, cell.qualifier) for cell in cells]
    assert len(set(named)) == len(named)
    for cell in cells:
        assert 1 <= design.families[cell.family].versions
        assert all(design.fields[field].type.name for field in cell.fields)
    held = {field for cell in cells for field in cell.fields}
    placed = {field for fields in design.layout.placed_fields.values() for field in fields}
    assert set(design.fields) == held | placed | set(design.key.fields)
    assert design.key.parts


@pytest.mark.claims(1)
@pytest.mark.parametrize("name", EXPECTED_FINDINGS)
def test_a_design_survives_writing_and_reading(name: str) -> None:
    """A design that is written and read again is the same."""
    design = read_design(name)
    back = Design.loads(design.dumps())
    assert design.key.terms == back.key.terms
    assert design.families == back.families
    assert {name: one.type.name for name, one in design.fields.items()} == {
        name: one.type.name for name, one in back.fields.items()
    }
