"""A proof that fails drops its table, or names the table that it leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from rowkey import Design
from rowkey.cli.commands.prove import command
from rowkey.engines import open_engine
from rowkey.engines.backends.memory import MemoryEngine
from rowkey.errors import InvalidArgument, Unavailable
from rowkey.observe import prove_design
from rowkey.observe.proof import prover, temporary_table
from rowkey.table import Table, create_table, drop_table

DESIGN = """
table = "hosts"
key = "[bucket(host, 4)][host]"
splits = "per_bucket"
[fields]
host = "text"
v = { type = "i64", nullable = true }
"""


def write_sample(folder: Path) -> Path:
    """Write a sample file of some hosts."""
    path = folder / "hosts.csv"
    path.write_text("host,v\n" + "".join(f"h{n},{n}\n" for n in range(40)), encoding="utf-8")
    return path


def list_tables(url: str) -> list[str]:
    """Return the tables of an engine."""
    with open_engine(url) as engine:
        return engine.list_tables()


def raise_problem(problem: BaseException) -> Any:
    """Return a function that raises an error for any arguments."""

    def fail(*_: object, **__: object) -> None:
        raise problem

    return fail


def build_outage_error(when: str) -> Unavailable:
    """Return the error of a cluster that is not reachable any more."""
    return Unavailable("hbase://x", f"cannot be reached while {when}")


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), build_outage_error("writing")], ids=repr)
def test_a_proof_that_fails_while_writing_drops_its_table(
    problem: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An interruption or error during the writes drops the table and is raised unchanged."""
    said = str(problem)
    monkeypatch.setattr(Table, "load", raise_problem(problem))
    with pytest.raises(type(problem)) as caught:
        prove_design(Design.loads(DESIGN), "memory:broken", write_sample(tmp_path))
    assert caught.value is problem
    assert (said, []) == (str(problem), getattr(problem, "__notes__", []))
    assert [] == list_tables("memory:broken")


def test_a_proof_interrupted_while_creating_its_table_drops_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A table is dropped if creating it was interrupted after it existed."""
    make = create_table

    def raise_interrupt(*given: Any, **more: Any) -> None:
        make(*given, **more).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(prover, "create_table", raise_interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        prove_design(Design.loads(DESIGN), "memory:making", write_sample(tmp_path))
    assert [] == list_tables("memory:making") == getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    "dropping_fails_by", [build_outage_error("dropping"), KeyboardInterrupt()], ids=repr
)
def test_a_proof_whose_drop_fails_too_raises_the_first_error_with_the_table(
    dropping_fails_by: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If the drop fails too, the first error is raised and names the table."""
    monkeypatch.setattr(Table, "load", raise_problem(build_outage_error("writing")))
    monkeypatch.setattr(temporary_table, "drop_table", raise_problem(dropping_fails_by))
    with pytest.raises((Unavailable, KeyboardInterrupt)) as caught:
        prove_design(Design.loads(DESIGN), "memory:left", write_sample(tmp_path))
    (name,) = list_tables("memory:left")
    told = f"The table {name} is still there. Remove it by rowkey drop {name} --on memory:left"
    if isinstance(dropping_fails_by, KeyboardInterrupt):
        assert [told] == caught.value.__notes__
    else:
        assert f"hbase://x: cannot be reached while writing. {told}" == str(caught.value)
    monkeypatch.undo()
    drop_table(name, "memory:left")


def test_a_proof_whose_close_fails_too_raises_the_first_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If closing the table fails too, the first error is raised, and the table is dropped."""
    close = Table.close

    def raise_on_close(table: Table) -> None:
        close(table)
        raise build_outage_error("closing")

    monkeypatch.setattr(Table, "load", raise_problem(build_outage_error("writing")))
    monkeypatch.setattr(Table, "close", raise_on_close)
    with pytest.raises(Unavailable, match=r"while writing\.$"):
        prove_design(Design.loads(DESIGN), "memory:unclosed", write_sample(tmp_path))
    assert [] == list_tables("memory:unclosed")
    monkeypatch.undo()
    monkeypatch.setattr(Table, "close", raise_on_close)
    with pytest.raises(Unavailable, match=r"while closing\.$"):
        prove_design(Design.loads(DESIGN), "memory:unclosed", write_sample(tmp_path))
    assert [] == list_tables("memory:unclosed")


def test_a_proof_whose_drop_fails_names_the_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If only the drop fails, its error names the table."""
    monkeypatch.setattr(
        temporary_table, "drop_table", raise_problem(build_outage_error("dropping"))
    )
    with pytest.raises(Unavailable, match="while dropping") as caught:
        prove_design(Design.loads(DESIGN), "memory:undropped", write_sample(tmp_path))
    (name,) = list_tables("memory:undropped")
    assert str(caught.value).endswith(f"rowkey drop {name} --on memory:undropped")


def test_a_proof_on_an_unreachable_cluster_says_that_the_table_may_be_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An unreachable cluster may have the table; one that was never reached has none."""
    monkeypatch.setattr(Table, "load", raise_problem(build_outage_error("writing")))
    opened = iter([open_engine])

    def fail_once(*given: Any, **more: Any) -> Any:
        return next(opened, raise_problem(build_outage_error("asking")))(*given, **more)

    monkeypatch.setattr(temporary_table, "open_engine", fail_once)
    with pytest.raises(
        Unavailable,
        match=r"while writing.* may be still there. Remove it by rowkey drop hosts.proof",
    ):
        prove_design(Design.loads(DESIGN), "memory:away", write_sample(tmp_path))
    with pytest.raises(Unavailable, match=r"while asking\.$"):
        prove_design(Design.loads(DESIGN), "memory:never", write_sample(tmp_path))


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize(
    "fails",
    [KeyboardInterrupt, partial(build_outage_error, "making"), partial(InvalidArgument, "t", "no")],
)
def test_a_proof_interrupted_while_creating_names_the_table_unless_refused(
    fails: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    is_shared: bool,
) -> None:
    """A table whose creation was interrupted is named, unless the cluster refused it."""
    problem = fails()
    monkeypatch.setattr(MemoryEngine, "is_shared", is_shared)
    monkeypatch.setattr(prover, "create_table", raise_problem(problem))
    with pytest.raises(type(problem)) as caught:
        prove_design(Design.loads(DESIGN), "memory:coming", write_sample(tmp_path))
    said = " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    may_be = "may be still there. Remove it by rowkey drop hosts.proof." in said
    assert (is_shared and not isinstance(problem, InvalidArgument)) == may_be


def test_an_interrupted_prove_keep_names_the_kept_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --keep, an interruption prints the name of the table to stderr."""
    (tmp_path / "hosts.toml").write_text(DESIGN, encoding="utf-8")
    monkeypatch.setattr(Table, "load", raise_problem(KeyboardInterrupt()))
    url = f"rocks:{tmp_path / 'data'}"
    given = [str(tmp_path / "hosts.toml"), "--on", url, "--keep"]
    with pytest.raises(click.exceptions.Abort):
        command.main([*given, "--sample", str(write_sample(tmp_path))], standalone_mode=False)
    (name,) = list_tables(url)
    told = f"The table {name} is still there. Remove it by rowkey drop {name} --on {url}\n"
    assert told in capsys.readouterr().err


def test_prove_keep_says_that_the_kept_table_never_splits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output says that regions of a kept table do not split."""
    (tmp_path / "hosts.toml").write_text(DESIGN, encoding="utf-8")
    url = f"rocks:{tmp_path / 'data'}"
    given = [str(tmp_path / "hosts.toml"), "--on", url, "--keep"]
    command.main([*given, "--sample", str(write_sample(tmp_path))], standalone_mode=False)
    (name,) = list_tables(url)
    said = " ".join(capsys.readouterr().out.split())
    assert said.endswith(f"written to {name}, which is kept; its regions are never split")
    with open_engine(url) as engine:
        policy = engine.open_table(name).families_and_attributes[1]["SPLIT_POLICY"]
    assert policy.endswith("DisabledRegionSplitPolicy")
