"""What is found and measured in every design of the sources, read by hand and held here."""

from __future__ import annotations

import gzip
import shlex
from contextlib import chdir
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rowkey.cli.group import program
from rowkey.design import Design
from rowkey.errors import DeclarationError
from sources import recordings
from sources.judged import NAMES, SOURCES, causes, findings, rules, simulated

if TYPE_CHECKING:
    from pathlib import Path

FOUND: dict[str, list[str]] = {
    "behaviour/better": [],
    "behaviour/event_id": ["full-scan-read"],
    "behaviour/md5_hex": ["long-digest", "unencoded-keys"],
    "described_orders/better": [],
    "described_orders/described": ["long-key", "unbounded-key", "unencoded-keys"],
    "devices/better": [],
    "devices/device": ["one-hot-row"],
    "devices/md5": [
        "hot-entity", "long-digest", "long-key", "measured-value-in-key", "missed-splits",
        "reversed-under-range", "reversed-under-range",
    ],
    "devices/md5_resplit": ["hot-entity", "long-digest", "unencoded-keys"],
    "families/advised": [
        "blocks-unlike-reads", "bloom-unlike-reads", "dated-codec", "in-memory-family",
        "many-versions", "min-versions-keep-files", "ttl-in-milliseconds", "uncached-gets",
    ],
    "families/better": [],
    "families/three": [
        "equal-families", "flushed-together", "long-family-name", "long-family-name",
        "long-family-name", "many-families", "read-across-families",
    ],
    "follows/better": [],
    "follows/pairs": ["hand-made-prefix"],
    "follows/tilde": ["ambiguous-key", "separator-in-key"],
    "follows/wide": ["hot-entity", "uneven-rows"],
    "ids/as_text": ["long-key", "spelled-out-value", "spelled-out-value"],
    "ids/better": [],
    "imports/better_shuffled": [],
    "imports/sorted": ["sorted-import"],
    "leaderboard/as_text": ["latest-read-backwards", "unpadded-digits"],
    "leaderboard/better_max_minus": [],
    "leaderboard/bucketed": [],
    "logs/better_by_host": [],
    "logs/better_by_time": [],
    "logs/few_hosts": ["few-leading-values", "latest-read-backwards"],
    "logs/host_digest": ["colliding-keys", "latest-read-backwards", "overwritten-rows"],
    "logs/host_first": ["latest-read-backwards"],
    "logs/mod_100": ["time-only-bucket", "too-many-buckets"],
    "logs/time_first": ["monotone-lead"],
    "metrics/better": [],
    "metrics/few": ["few-leading-values"],
    "metrics/many": [],
    "order_status/better": [],
    "order_status/counted_up": ["monotone-lead"],
    "order_status/default_versions": ["single-version-history"],
    "order_status/reversed": [],
    "order_status/versions": ["many-versions"],
    "orders_by_day/better": [],
    "orders_by_day/reversed_day": ["reversed-under-range", "time-only-bucket"],
    "orders_by_user/better": [],
    "orders_by_user/joined": [
        "ambiguous-key", "ambiguous-key", "reversed-under-range", "reversed-under-range",
    ],
    "orders_hashed/better": [],
    "orders_hashed/three_partitions": [
        "fewer-regions-than-servers", "full-scan-read", "separator-in-key", "separator-in-key",
        "too-few-buckets",
    ],
    "packed/better": [],
    "packed/columns": ["unpacked-columns"],
    "phones/better_reversed": [],
    "phones/plain": [],  # that all numbers begin alike shows when they come
    "phones/reversed_range": ["reversed-under-range"],
    "regions/better_large": [],
    "regions/better_small": [],
    "regions/capped": ["outgrown-regions"],
    "regions/small": ["fewer-regions-than-servers"],
    "regions/unsplit": ["one-region-at-first"],
    "salted/better": [],
    "salted/hashed_letters": ["fewer-regions-than-servers", "separator-in-key"],
    "salted/java_byte": ["java-hash"],
    "salted/names_first": ["monotone-lead"],
    "salted/random_letters": ["fewer-regions-than-servers", "random-salt"],
    "slices/better": [],
    "slices/day": ["slice-length"],
    "slices/rows": [],
    "waybills/better": [],
    "waybills/number_first": ["monotone-lead"],
    "waybills/time_first": ["monotone-lead", "value-behind-range"],
}  # fmt: skip
ALLOWED = {
    name: ["overwritten-rows"]
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
KEPT_BYTES = 200_000


@pytest.mark.parametrize("name", FOUND)
def test_a_design_has_the_findings_it_is_an_example_of(name: str) -> None:
    """Each finding was read by hand; what is allowed has a reason."""
    allowed = findings(name).allowed
    assert FOUND[name] == rules(name)
    assert ALLOWED.get(name, []) == [one.finding.name for one in allowed]
    assert all(one.why for one in allowed)


@pytest.mark.parametrize("name", FOUND)
def test_a_design_is_as_even_as_it_is_said_to_be(name: str) -> None:
    """The word of the verdict and the causes are those that were read; most are even."""
    word, expected = NOT_EVEN.get(name, ("even", []))
    assert (word, expected) == (simulated(name).verdict.word, causes(name))


@pytest.mark.parametrize("name", [name for name in FOUND if "/better" in name])
def test_a_better_design_is_clean_and_even(name: str) -> None:
    """No error, no warning, and no more skew than chance makes of an even design, and a quarter."""
    assert () == findings(name).at_least("warning")
    verdict = simulated(name).verdict
    assert verdict.skew < 1.25 * verdict.even


@pytest.mark.parametrize("name", FOUND)
def test_a_design_is_small_and_says_whose_advice_it_is(name: str) -> None:
    """It opens with two to four lines of comment, one of which names a document or today."""
    lines = (SOURCES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    comment = [line for line in lines[: lines.index("")] if line.startswith("# ")]
    assert 2 <= len(comment) <= 4
    assert len(lines) <= 45
    assert len(comment) == lines.index("")
    assert "ocument" in "".join(comment) or "oday" in "".join(comment)


def test_every_design_is_read() -> None:
    """None lies there without its findings having been read, and each subject has a better one."""
    assert NAMES == sorted(FOUND)
    subjects = {name.partition("/")[0] for name in NAMES}
    assert subjects == {name.partition("/")[0] for name in NAMES if "/better" in name}


def test_every_design_is_in_the_list() -> None:
    """The page that lists them names each of them, and no other."""
    page = (SOURCES / "README.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    assert NAMES == sorted(cells)


COMMANDS = [
    line
    for line in (SOURCES / "README.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("rowkey ")
]


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line.split()[1])
def test_a_command_of_the_page_runs(line: str, tmp_path: Path) -> None:
    """As it is written, in the folder of the page; only what it writes goes elsewhere."""
    words = [word for part in shlex.split(line, comments=True)[1:] for word in _expanded(part)]
    with chdir(SOURCES):
        told = CliRunner().invoke(
            program, [str(tmp_path / word) if word.endswith(".html") else word for word in words]
        )
    assert told.exit_code in {0, 1}
    assert len(told.output) > 60


def _expanded(word: str) -> list[str]:
    """What a shell makes of a word."""
    return sorted(str(path.relative_to(SOURCES)) for path in SOURCES.glob(word)) or [word]


@pytest.mark.parametrize("name", recordings.RECORDINGS)
def test_a_recording_is_what_its_program_writes(name: str) -> None:
    """The rows are those that the program makes, so nobody's data is among them."""
    written = gzip.decompress((SOURCES / f"{name}.csv.gz").read_bytes()).decode()
    assert recordings.text_of(name) == written


def test_recordings_are_small() -> None:
    """All of them together are a few pages of text."""
    files = sorted(SOURCES.glob("*/*.csv.gz"))
    names = [path.relative_to(SOURCES).as_posix().removesuffix(".csv.gz") for path in files]
    assert sorted(recordings.RECORDINGS) == names
    assert sum(path.stat().st_size for path in files) < KEPT_BYTES


@pytest.mark.claims(1)
def test_a_declaration_lacks_neither_fields_nor_key() -> None:
    """What a schema must say is asked for: without key and fields a file is none."""
    with pytest.raises(DeclarationError) as refused:
        Design.loads('table = "t"')
    assert {"key", "fields"} == {mistake.path for mistake in refused.value.mistakes}


@pytest.mark.claims(1)
@pytest.mark.parametrize("name", FOUND)
def test_families_columns_contents_versions_and_key_follow_from_the_file(name: str) -> None:
    """Each cell an event writes has a declared family, a name and a content, and versions."""
    design = simulated(name).design
    for cell in design.layout.cells():
        assert design.families[cell.family].versions >= 1
        assert set(cell.fields) <= set(design.fields)
    assert design.key.parts
