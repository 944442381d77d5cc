"""The verbs of running tables, on disk: described, watched and proved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.command import Outcome, run
from cli.conftest import EVERYTHING
from rowkey.design import Design
from rowkey.observe import Proof
from rowkey.render.observed.proof import WORDS

if TYPE_CHECKING:
    from pathlib import Path

ON = ("--on", "rocks:data")


def error(outcome: Outcome) -> str:
    """The first line of an error of usage, which prints nothing else."""
    assert (2, "") == (outcome.code, outcome.out)
    return outcome.err.splitlines()[0]


def test_a_table_is_described(things: Path) -> None:
    """What is printed is its design, which `check` takes; a file that is there is left alone."""
    found = run("describe", "things", *ON)
    assert 0 == found.code
    assert Design.loads(EVERYTHING) == Design.loads(found.out)
    assert "things: [bucket(host, 4)][host][desc(ts)], its design is known\n" == found.err
    assert 0 == run("describe", "things", *ON, "-o", "again.toml").code
    assert found.out == (things / "again.toml").read_text()
    assert run("check", "again.toml", "--severity", "error").code in {0, 1}
    assert "again.toml is there already" in error(
        run("describe", "things", *ON, "-o", "again.toml")
    )
    assert "there is no table nothing; expected things" in error(run("describe", "nothing", *ON))


def test_a_described_table_is_made_again(things: Path) -> None:
    """Created from its description and described again, it is the same file."""
    first = run("describe", "things", *ON).out
    (things / "again.toml").write_text(first)
    assert 0 == run("create", "again.toml", "--on", "rocks:other").code
    second = run("describe", "things", "--on", "rocks:other").out
    assert first.splitlines()[1:] == second.splitlines()[1:]


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_an_idle_table_is_watched(things: Path, form: str) -> None:
    """Each form is printed as it is asked for: once at the end, or a line for each look."""
    del things
    found = run("live", "things", *ON, "--every", "50ms", "--for", "150ms", "-f", form)
    assert (0, "") == (found.code, found.err)
    if form == "text":
        assert found.out.startswith("things  [bucket(host, 4)][host][desc(ts)]  20")
        assert "writes IDLE: no writes" in found.out
    elif form == "json":
        assert ("idle", 3) == (
            json.loads(found.out)["writes"]["word"],
            json.loads(found.out)["intervals"],
        )
    else:
        words = [json.loads(line)["writes"]["word"] for line in found.out.splitlines()]
        assert ["unknown", "idle", "idle", "idle"] == words


def test_what_cannot_be_watched_is_told(things: Path) -> None:
    """Lengths of time that are none, tables that are not there."""
    del things
    assert "--every: " in error(run("live", "things", *ON, "--every", "soon"))
    assert "every: 0 s is out of range" in error(run("live", "things", *ON, "--every", "0s"))
    assert "there is no table nothing" in error(run("live", "nothing", *ON))


def test_a_design_is_proved(things: Path) -> None:
    """The sample is written, counted and dropped; a design without one says what it needs."""
    rows = [f"web-{n % 7},{1_000 * n}" for n in range(300)]
    (things / "rows.csv").write_text("\n".join(["host,ts", *rows, ""]))
    found = run("prove", "things.toml", *ON, "--sample", "rows.csv", "--phases", "3")
    assert (0, "") == (found.code, found.err)
    lines = found.out.splitlines()
    assert lines[1].startswith("EXACT: 300 writes in 3 phases; predicted and counted differ by 0 ")
    assert any(line.startswith("read tail: asked 10 times, 10 ranges;") for line in lines)
    assert lines[-1].endswith(", which was dropped")
    kept = run("prove", "things.toml", *ON, "--sample", "rows.csv", "--keep", "-f", "json")
    document = json.loads(kept.out)
    assert (True, True, 0) == (document["exact"], document["kept"], document["difference"])
    assert "300\n" == run("count", document["proved_on"], *ON).out
    assert "have no columns that could be written" in error(run("prove", "things.toml", *ON))


@pytest.mark.parametrize(("verdict", "code"), [("different", 3), ("unknown", 1), ("exact", 0)])
def test_a_proof_leaves_with_what_it_comes_to(
    things: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, code: int
) -> None:
    """A difference is a failed verification; what is not known is a finding."""
    (things / "rows.csv").write_text("host,ts\nweb-1,1\nweb-2,2\n")
    words = ("prove", "things.toml", *ON, "--sample", "rows.csv", "--phases", "1")
    monkeypatch.setattr(Proof, "verdict", property(lambda _: verdict))
    found = run(*words)
    assert (code, "") == (found.code, found.err)
    assert found.out.splitlines()[1].startswith(f"{WORDS[verdict]}: 2 writes")
    assert 0 == run(*words, "--exit-zero").code
