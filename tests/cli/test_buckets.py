"""The command `buckets` shows, changes and lists the bucket counts of a table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rowkey
from cli.command import run
from rowkey.table.generations.bucket_change import BucketChange

PLACE_OPTION = ("--on", "rocks:data")
FIRST_OUTPUT = """\
table       things
generation  1 of the bucket counts is active
part        bucket(host, 4): 4 buckets
reads       1 row key per get, 4 ranges per scan of all rows
clients     may work for 60 s without the catalog; a change waits for 1 s
"""
CHANGE_OUTPUT = """\
things: bucket(host, 8) in place of 4; 4 regions split
from now on, to find earlier rows too:
  a get tries 2 row keys in place of 1
  all rows: 8 ranges in place of 4
  tail: 2 ranges in place of 1
"""
LAST_OUTPUT = """\
table       things
generation  2 of the bucket counts is active; rows were written in 2 generations
part        bucket(host, 8): 8 buckets; older rows may use 4
reads       2 row keys per get, 8 ranges per scan of all rows
clients     may work for 7 s without the catalog; a change waits for 1 s
"""


def test_a_table_gets_another_bucket_count_and_keeps_every_row(things_folder: Path) -> None:
    """A changed bucket count is shown and listed, and every row is still found."""
    del things_folder
    assert (0, FIRST_OUTPUT, "") == run_buckets("show")
    rows = run("scan", "things", *PLACE_OPTION, "-f", "jsonl").out
    assert (0, CHANGE_OUTPUT, "") == run_buckets("set", 8, "--max-stale", "7s")
    assert (0, LAST_OUTPUT, "") == run_buckets("show")
    assert rows == run("scan", "things.toml", *PLACE_OPTION, "-f", "jsonl").out
    assert "8\n" == str(len(list_regions())) + "\n"
    head, *lines = run_buckets("history")[1].splitlines()
    assert ["generation", "announced", "regions", "state", "parts"] == head.split()
    assert [["1", "4", "live"], ["2", "8", "active"]] == [
        [line.split()[at] for at in (0, 2, 3)] for line in lines
    ]
    assert ["bucket(host, 4)", "bucket(host, 8)"] == [line[-15:] for line in lines]


def test_a_rebuilt_catalog_shows_no_time_for_a_bucket_count_of_unknown_start(
    things_folder: Path,
) -> None:
    """A rebuilt catalog shows no time for a bucket count whose announcement is unknown."""
    del things_folder
    assert 0 == run_buckets("set", 8)[0]
    with rowkey.open("things", "rocks:data") as table:
        table.catalog.remove("things")
    assert 1 == run("repair", "--on", "rocks:data", "things.toml", "--yes").code
    _, first, second = run_buckets("history")[1].splitlines()
    assert ["1", "lost with the catalog", "?", "live"] == split_columns(first)[:4]
    assert ["2", "lost with the catalog", "?", "active"] == split_columns(second)[:4]
    document = json.loads(run_buckets("history", "-f", "json")[1])
    assert [(None, None)] * 2 == [
        (one["opened_ms"], one["regions"]) for one in document["generations"]
    ]


def split_columns(line: str) -> list[str]:
    """Return the columns of a line, separated by two spaces or more."""
    return [one.strip() for one in line.split("  ") if one.strip()]


def test_an_unfinished_bucket_change_is_shown_with_the_command_that_completes_it(
    things_folder: Path,
) -> None:
    """An unfinished change is shown with the command that completes it, which works."""
    del things_folder
    with rowkey.open("things", "rocks:data") as table:
        BucketChange(table.tracker, 8)._announce_counts()
    assert (
        "announced   2, with 8: run buckets set with the same number to finish"
        in run_buckets("show")[1]
    )
    assert "announced" == run_buckets("history")[1].splitlines()[2].split()[3]
    code, _, err = run_buckets("set", 16)
    assert (2, True) == (
        code,
        "another change of its number of buckets is under way, of key[0] to 8 buckets" in err,
    )
    assert (0, CHANGE_OUTPUT, "") == run_buckets("set", 8)


RETIREMENT_OUTPUT = """\
things: generation 1 retired; 0 rows moved to generation 2
from now on:
  a get tries 1 row key in place of 2
  all rows: 8 ranges in place of 8
  tail: 1 range in place of 2
"""


def test_an_earlier_bucket_count_is_retired_and_listed_as_such(things_folder: Path) -> None:
    """Rows move to the places of the new number, and reads look there alone."""
    del things_folder
    assert "all rows have one number of buckets; nothing to do" in run_buckets("retire")[1]
    rows = run("scan", "things", *PLACE_OPTION, "-f", "jsonl").out
    run_buckets("set", 8)
    assert (0, RETIREMENT_OUTPUT, "") == run_buckets("retire", "--rows", "20000/s")
    assert rows == run("scan", "things", *PLACE_OPTION, "-f", "jsonl").out
    states = [line.split()[3] for line in run_buckets("history")[1].splitlines()[1:]]
    assert ["retired", "active"] == states
    assert "; older rows" not in run_buckets("show")[1]
    run_buckets("set", 16)
    document = json.loads(run_buckets("retire", "-f", "json")[1])
    assert (3, [2], {"before": 2, "after": 1}) == (
        document["generation"], document["retired"], document["gets"]
    )  # fmt: skip


def run_buckets(*words: object) -> tuple[int, str, str]:
    """Return the exit code and the output of `buckets` for the table of things."""
    what, *more = words
    done = run("buckets", what, "things.toml", *more, *PLACE_OPTION)
    return done.code, done.out, done.err


def list_regions() -> list[object]:
    """Return the regions of the table of things."""
    found: list[object] = json.loads(
        run("count", "things", *PLACE_OPTION, "--regions", "-f", "json").out
    )["regions"]
    return found


def test_buckets_prints_json_and_progress_as_json_lines(things_folder: Path) -> None:
    """With -f json the result is JSON, and progress is lines of JSON on standard error."""
    del things_folder
    document = json.loads(run_buckets("show", "-f", "json")[1])
    part = {"place": 0, "part": "bucket(host, 4)", "buckets": 4, "live": [4], "tells_apart": []}
    assert {
        "format": 1, "table": "things", "generation": 1, "announced": None, "parts": [part],
        "max_stale_s": 60.0, "longest_s": 60.0, "patience_s": 1.0, "gets": 1, "scans": 4,
    } == document  # fmt: skip
    code, out, err = run_buckets("set", 16, "-f", "json", "--progress", "json", "--part", "bucket")
    assert 0 == code
    changed = json.loads(out)
    assert ({"before": 4, "after": 16}, 2, 12) == (
        changed["buckets"], changed["generation"], changed["regions_split"]
    )  # fmt: skip
    assert {"before": 4, "after": 16} == changed["scans"]
    assert {"tail": {"before": 1, "after": 2}} == changed["reads"]
    bars = [json.loads(line) for line in err.splitlines()]
    assert {("splitting", 12, 12), ("waiting for clients", 1, 1)} <= {
        (bar["what"], bar["done"], bar["total"]) for bar in bars
    }
    history = json.loads(run_buckets("history", "-f", "json")[1])
    assert [(1, 4, "live"), (2, 16, "active")] == [
        (one["number"], one["regions"], one["state"]) for one in history["generations"]
    ]


WRONG = [
    (("set",), "the new number of buckets is missing"),
    (("show", 8), "buckets show takes no COUNT: that is for buckets set"),
    (
        ("history", "--part", "0", "--rows", "5/s"),
        "buckets history takes no --part and no --rows: that is for buckets set and retire",
    ),
    (("retire", "--rows", "many"), "--rows: 'many' is not a rate"),
    (("set", 4), "the number of buckets of bucket(host, 4) is 4 already"),
    (("set", 0), "0 is not a number of buckets"),
    (("set", 8, "--part", "7"), "part: 7 names no part of the key with a number of buckets"),
    (
        ("set", 8, "--max-stale", "long"),
        (
            "rowkey: --max-stale: 'long' is not a length of time; expected a whole number and one "
            "of ns, us, ms, s, m, h or d, such as 30d. Give a time such as 30s.\n"
        ),
    ),
    *(
        (
            ("set", 8, "--max-stale", given),
            (
                f"rowkey: --max-stale: '{given}' is {said}; expected a time such as 60s, "
                "longer than 0s and at most 24h. "
                "Choose a short time: a change of the number of buckets waits this long.\n"
            ),
        )
        for given, said in (("0s", "not above zero"), ("2d", "too long"))
    ),
    (("set", "many"), "'many' is not a valid integer"),
    (("look",), "'look' is not one of"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=str)
def test_a_wrong_use_of_buckets_exits_with_2_and_changes_nothing(
    things_folder: Path, arguments: tuple[object, ...], message: str
) -> None:
    """A wrong use of `buckets` exits with 2, says why, and changes nothing."""
    del things_folder
    code, out, err = run_buckets(*arguments)
    assert (2, "") == (code, out)
    assert message in err
    assert FIRST_OUTPUT == run_buckets("show")[1]


def test_buckets_reports_a_missing_table_and_lists_the_existing_ones(things_folder: Path) -> None:
    """A missing table is named, with the tables that exist."""
    del things_folder
    done = run("buckets", "show", "thinks", *PLACE_OPTION)
    assert (2, "") == (done.code, done.out)
    assert "there is no table thinks; expected one of things" in done.err
