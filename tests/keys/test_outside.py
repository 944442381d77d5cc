"""A kind from another package: one file and an entry point, and it is a kind like any other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from docs.blocks import ROOT, blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GUIDE = ROOT / "docs" / "guides" / "writing-a-plugin.md"
FILES = {block.file: block.text for block in blocks_of(GUIDE.read_text("utf-8")) if block.file}
"""The kind and the design of the guide: what it tells readers to write is what is tried here."""
OFFER = "[rowkey.kinds]\nweekday = weekday:Weekday\n"
ROW = '{"ts": "2021-01-01T12:00:00Z", "shop": 7}\n'
FRIDAY = "04" + "00000007" + "000000005fef0ec0"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a distribution as an installer leaves it, and a design that uses its kind."""
    return offered(tmp_path_factory.mktemp("outside"))


def offered(place: Path, offer: str = OFFER, change: Mapping[str, str] | None = None) -> Path:
    """Lay a distribution out in a folder, its one file changed here and there."""
    information = place / "weekday-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: weekday\nVersion: 1\n")
    (information / "entry_points.txt").write_text(offer)
    text = FILES["weekday.py"]
    for truth, lie in (change or {}).items():
        assert truth in text
        text = text.replace(truth, lie)
    (place / "weekday.py").write_text(text)
    (place / "visits.toml").write_text(FILES["visits.toml"])
    return place


def run(place: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python with the distribution on its path, in its folder."""
    path = os.pathsep.join([str(place), str(ROOT / "tests"), str(ROOT / "tests" / "keys")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_is_encoded_and_decoded(place: Path) -> None:
    """The command writes its byte, and reads the row back."""
    done = run(place, "-m", "rowkey", "encode", "visits.toml", stdin=ROW)
    assert (FRIDAY + "\n", "") == (done.stdout, done.stderr)
    back = run(place, "-m", "rowkey", "decode", "visits.toml", stdin=done.stdout)
    assert {"ts": 1_609_502_400, "shop": 7} == json.loads(back.stdout)


def test_it_is_planned_and_split(place: Path) -> None:
    """A read of a shop is a range for each weekday, and each weekday is a region."""
    done = run(place, "-m", "rowkey", "check", "visits.toml", "-f", "json")
    found = json.loads(done.stdout)
    assert [7] == [read["fan_out"] for read in found["reads"]]
    splits = run(place, "-m", "rowkey", "splits", "visits.toml", "--keys", "hex")
    assert [f"{day:02x}" for day in range(1, 7)] == splits.stdout.split()


def test_it_is_simulated(place: Path) -> None:
    """All writes of an hour meet in one weekday: hot, and the cause is the one it is."""
    short = FILES["visits.toml"] + '\n[writes]\nrate = "1000/s"\nfor = "10s"\n'
    (place / "short.toml").write_text(short)
    done = run(place, "-m", "rowkey", "simulate", "short.toml", "-f", "json")
    found = json.loads(done.stdout)
    assert (1, "hot") == (done.returncode, found["verdict"])
    assert 10_000 == found["operations"] == max(region["writes"] for region in found["regions"])
    assert ["time_only_bucket"] == [cause["code"] for cause in found["causes"]]


def test_it_is_documented(place: Path) -> None:
    """The tool that writes our reference writes its section, and producers get it in words."""
    page = run(place, str(ROOT / "tools" / "docs.py"), "--outside").stdout
    assert "\n## weekday\n\n`weekday(x)`\n\nThe day of the week of a time in UTC" in page
    assert "| `[weekday(ts)]` | `ts: timestamp_s` | `ts = 0` | `03` |" in page
    words = run(place, "-m", "rowkey", "vectors", "visits.toml").stdout
    assert "in UTC, in 1 byte, 00 for Monday" in words


def test_it_has_the_properties(place: Path) -> None:
    """Every property of a transform and every check of vectors takes it in, and it passes."""
    # The book is left out: it is written by hand for rowkey's own kinds, and knows no other.
    files = [
        str(ROOT / "tests" / "keys" / name)
        for name in ("test_key_properties.py", "test_vectors.py")
    ]
    asked = ["-q", "-k", "weekday and not test_book", f"--rootdir={ROOT}"]
    done = run(place, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), *asked, *files)
    assert 0 == done.returncode, done.stdout
    assert int(done.stdout.rpartition(" passed")[0].split()[-1]) >= 12


JUDGE = """
import sys, test_key_properties, test_mutants
test = getattr(test_key_properties, sys.argv[1])
sys.exit(test_mutants.catches(test, "weekday", test_mutants.LIED))
"""
LIES = {
    "there is one day": (
        "test_pieces_are_framed_as_said", {"self.cardinality = 7": "self.cardinality = 1"},
    ),
    "reads need no Sunday": (
        "test_images_hold_every_row_within_the_bounds", {"in range(7))": "in range(6))"},
    ),
    "it changes once a week": (
        "test_time_parts_stand_still_within_their_resolution", {"n = DAY_NS": "n = 7 * DAY_NS"},
    ),
    "its bytes hold the time": (
        "test_parts_read_back_what_they_hold",
        {"    def describe_encoding": "    def residue(self, name):\n"
         "        return __import__('rowkey.keys').keys.Residue()\n\n    def describe_encoding"},
    ),
}  # fmt: skip


# One lie each time, all of them in `make test-long`: each takes some seconds.
@pytest.mark.parametrize(
    "lie",
    [
        lie if place == 0 else pytest.param(lie, marks=pytest.mark.long)
        for place, lie in enumerate(LIES)
    ],
)
def test_a_lie_is_caught(lie: str, place: Path, tmp_path: Path) -> None:
    """The properties hold a kind from outside to its word as they do our own."""
    test, change = LIES[lie]
    found = [run(one, "-c", JUDGE, test) for one in (offered(tmp_path, change=change), place)]
    assert [(1, ""), (0, "")] == [(one.returncode, one.stderr) for one in found]


@pytest.mark.parametrize("first", ["weekday", "rowkey.keys", "rowkey.simulate"])
def test_it_may_be_imported_in_any_order(first: str, place: Path) -> None:
    """Whether its module or rowkey comes first, the drawer holds the same class."""
    told = f"import {first}, weekday\nfrom rowkey.keys import TRANSFORMS\n"
    done = run(place, "-c", told + "assert TRANSFORMS['weekday'] is weekday.Weekday")
    assert (0, "") == (done.returncode, done.stderr)


BROKEN = {
    "weekday:Missing": "the plugin cannot be imported: AttributeError: module 'weekday' has no",
    "nowhere:Weekday": "the plugin cannot be imported: ModuleNotFoundError: No module",
    "weekday:DAY_NS": "86400000000000 is not a plugin; expected a class derived from a plugin base",
    "json:JSONDecoder": "<class 'json.decoder.JSONDecoder'> is not a plugin; expected a class",
    "rowkey.keys:Transform": "Transform lacks encode, framing; expected a class without",
    "rowkey.keys.transforms.mod:ModTransform": (
        "the plugin name 'mod' is already used by rowkey.keys.transforms.mod"
    ),
}


@pytest.mark.parametrize("value", BROKEN)
def test_a_broken_offer_is_told(value: str, tmp_path: Path) -> None:
    """What a package offers in vain is one line that names the entry point once."""
    place = offered(tmp_path, OFFER.replace("weekday:Weekday", value))
    done = run(place, "-m", "rowkey", "check", "visits.toml")
    assert (4, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))
    assert f"entry point rowkey.kinds, weekday = {value}: {BROKEN[value]}" in done.stderr
    assert 1 == done.stderr.count("entry point")


def test_a_kind_needs_a_name(tmp_path: Path) -> None:
    """A name that no key can spell is refused when it is offered."""
    place = offered(tmp_path, change={'name = "weekday"': 'name = "Week day"'})
    done = run(place, "-m", "rowkey", "check", "visits.toml")
    assert "Weekday is named 'Week day'; expected lower-case letters" in done.stderr


def test_without_it_nothing_knows_of_it() -> None:
    """Our own drawers hold none of it: the kind came from its package."""
    from rowkey.keys import TRANSFORMS

    assert "weekday" not in TRANSFORMS
