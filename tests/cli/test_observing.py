"""The commands `describe`, `live` and `prove` on tables on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import Outcome, run, run_in_process
from cli.conftest import EVERYTHING
from rowkey.design import Design
from rowkey.observe import LiveLoad, Proof
from rowkey.render.running_tables.proof import VERDICT_TITLES

PLACE_OPTION = ("--on", "rocks:data")


def get_usage_error(outcome: Outcome) -> str:
    """Return the first line of a usage error, which prints nothing else."""
    assert (2, "") == (outcome.code, outcome.out)
    return outcome.err.splitlines()[0]


def test_describe_prints_a_design_that_check_accepts(things_folder: Path) -> None:
    """The printed description is a design that `check` accepts, and files are kept."""
    found = run("describe", "things", *PLACE_OPTION)
    assert 0 == found.code
    assert Design.loads(EVERYTHING) == Design.loads(found.out)
    assert (
        "things: the key is [bucket(host, 4)][host][desc(ts)], as stored by rowkey\n" == found.err
    )
    assert 0 == run("describe", "things", *PLACE_OPTION, "-o", "again.toml").code
    assert found.out == (things_folder / "again.toml").read_text()
    assert run("check", "again.toml", "--fail-on", "error").code in {0, 1}
    assert "again.toml already exists" in get_usage_error(
        run("describe", "things", *PLACE_OPTION, "-o", "again.toml")
    )
    assert "there is no table nothing; expected one of things" in get_usage_error(
        run("describe", "nothing", *PLACE_OPTION)
    )


def test_a_table_created_from_its_description_has_the_same_description(things_folder: Path) -> None:
    first = run("describe", "things", *PLACE_OPTION).out
    (things_folder / "again.toml").write_text(first)
    assert 0 == run("create", "again.toml", "--on", "rocks:other").code
    second = run("describe", "things", "--on", "rocks:other").out
    assert first.splitlines()[1:] == second.splitlines()[1:]


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_watch_reports_an_idle_table_as_idle(things_folder: Path, form: str) -> None:
    """An idle table is observed as idle, with one result at the end or a line per look."""
    del things_folder
    found = run("live", "things", *PLACE_OPTION, "--every", "50ms", "--for", "150ms", "-f", form)
    assert (0, "") == (found.code, found.err)
    if form == "text":
        assert found.out.startswith("things  [bucket(host, 4)][host][desc(ts)]  20")
        assert "writes IDLE: no writes" in found.out
    elif form == "json":
        live = json.loads(found.out)
        assert "idle" == live["writes"]["level"]
        assert 1 <= live["intervals"] <= 3  # a slow machine takes fewer snapshots
    else:
        first, *later = (json.loads(line)["writes"]["level"] for line in found.out.splitlines())
        assert ("unknown", {"idle"}) == (first, set(later))


@pytest.mark.parametrize(("level", "code"), [("hot", 1), ("never", 0)])
def test_live_exits_with_1_for_a_hot_table_unless_fail_on_is_never(
    things_folder: Path, monkeypatch: pytest.MonkeyPatch, level: str, code: int
) -> None:
    """A hot table makes `live` exit with 1, unless --fail-on says never."""
    del things_folder
    monkeypatch.setattr(LiveLoad, "is_hot", property(lambda _: True))
    words = ("live", "things", *PLACE_OPTION, "--every", "10ms", "--for", "20ms")
    assert code == run(*words, "--fail-on", level).code


LENGTHS = "expected a whole number followed by ms, s, m, h or d, above 0 and at most 365d."


def test_watch_refuses_invalid_durations_and_a_wrong_design(things_folder: Path) -> None:
    """Invalid durations and a wrong design are refused at once with a remedy."""
    del things_folder
    wrong = run(
        "live", "things", *PLACE_OPTION, "--every", "x", "--for", "y", "--design", "nothing.toml"
    )
    assert (2, "") == (wrong.code, wrong.out)
    assert [
        f"rowkey: --every: 'x' is not a length of time; {LENGTHS} Write, for example, --every 2s.",
        f"rowkey: --for: 'y' is not a length of time; {LENGTHS} Write, for example, --for 60s.",
        (
            "rowkey: nothing.toml: the file cannot be read: No such file or directory. Check the "
            "path and its permissions."
        ),
    ] == wrong.err.splitlines()
    for text, what in {
        "0": "'0' is not a length of time",
        "0s": "0s is out of range",
        "400d": "400d is out of range",
        f"{'9' * 29}d": f"'{'9' * 29}d' is not a length of time",
    }.items():
        for option in ("--every", "--for"):
            told = get_usage_error(run("live", "things", *PLACE_OPTION, option, text))
            assert told.startswith(f"rowkey: {option}: {what}; {LENGTHS} Write, for example, ")
    short = get_usage_error(run("live", "things", *PLACE_OPTION, "--every", "5s", "--for", "1s"))
    assert short == (
        "rowkey: --for: a watch of 1 s ends before the second reading, after 5 s; expected at "
        "least 5 s, the time between two readings. Watch longer, or read more often."
    )
    assert "nothing.toml: the file" in get_usage_error(
        run("live", "things", *PLACE_OPTION, "--design", "nothing.toml")
    )


@pytest.mark.parametrize("verb", ["live", "describe"])
def test_watching_a_missing_table_names_the_existing_tables(things_folder: Path, verb: str) -> None:
    """A missing table's error names the existing tables, or how to create one."""
    del things_folder
    none = "rowkey: rocks:data: there is no table"
    said = {
        name: get_usage_error(run(verb, name, *PLACE_OPTION))
        for name in ("thing", "b.toml", "./things.toml")
    }
    assert {
        "thing": f"{none} thing; expected one of things. Did you mean things?",
        "b.toml": f"{none} b.toml; expected one of things. Give the table's name, not the file "
        "of its design.",
        "./things.toml": f"{none} ./things.toml; expected one of things. Give the table's name, "
        "not the file of its design: things.",
    } == said


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_observation_prints_its_last_result(
    things_folder: Path, form: str, name: str
) -> None:
    """An interrupted observation prints its last look and says so."""
    words = ("live", "things", *PLACE_OPTION, "--every", "10ms", "--for", "1h", "-f", form)
    done = run_in_process(things_folder, INTERRUPTING_CODE.replace("NAME", name), *words)
    said = {"SIGINT": (130, "interrupted"), "SIGTERM": (143, "ended by SIGTERM")}
    assert said[name] == (done.code, done.err.strip())
    if form == "text":
        assert "writes IDLE: no writes" in done.out
    elif form == "json":
        assert 2 == json.loads(done.out)["intervals"]
    else:
        assert 3 == len([json.loads(line) for line in done.out.splitlines()])


INTERRUPTING_CODE = """
import os, signal
from rowkey.observe import table_reader
from_regions = table_reader.CounterSnapshot.from_regions
looks = 0
def interrupt(*words):
    global looks
    looks += 1
    if looks == 4:
        os.kill(os.getpid(), signal.NAME)
    return from_regions(*words)
table_reader.CounterSnapshot.from_regions = interrupt
from rowkey.cli import main
main()
"""


def test_prove_writes_and_counts_the_sample_and_drops_its_table(things_folder: Path) -> None:
    """A proof writes and counts the sample, and drops the table unless it is to be kept."""
    rows = [f"web-{n % 7},{1_000 * n}" for n in range(300)]
    (things_folder / "rows.csv").write_text("\n".join(["host,ts", *rows, ""]))
    found = run("prove", "things.toml", *PLACE_OPTION, "--sample", "rows.csv", "--phases", "3")
    assert (0, "") == (found.code, found.err)
    lines = found.out.splitlines()
    assert lines[1].startswith(
        "EXACT: 300 writes in 3 phases; predicted and counted writes differ by 0 "
    )
    assert any(line.startswith("read tail: run 10 times, 10 ranges;") for line in lines)
    assert lines[-1].endswith(", which was dropped")
    kept = run(
        "prove", "things.toml", *PLACE_OPTION, "--sample", "rows.csv", "--keep", "-f", "json"
    )
    document = json.loads(kept.out)
    assert (True, True, 0) == (document["exact"], document["is_table_kept"], document["difference"])
    assert "300\n" == run("count", document["proved_on"], *PLACE_OPTION).out
    assert "generated events have no columns to write" in get_usage_error(
        run("prove", "things.toml", *PLACE_OPTION)
    )


@pytest.mark.parametrize(("verdict", "code"), [("different", 3), ("unknown", 1), ("exact", 0)])
def test_prove_exits_by_what_its_counts_show(
    things_folder: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, code: int
) -> None:
    """A difference in a proof is a failed verification, and an unknown is a finding."""
    (things_folder / "rows.csv").write_text("host,ts\nweb-1,1\nweb-2,2\n")
    words = ("prove", "things.toml", *PLACE_OPTION, "--sample", "rows.csv", "--phases", "1")
    monkeypatch.setattr(Proof, "verdict", property(lambda _: verdict))
    found = run(*words)
    assert (code, "") == (found.code, found.err)
    assert found.out.splitlines()[1].startswith(f"{VERDICT_TITLES[verdict]}: 2 writes")
    assert 0 == run(*words, "--fail-on", "never").code
    assert (code if verdict == "different" else 0) == run(*words, "--fail-on", "different").code
