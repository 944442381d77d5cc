"""However a proof ends, no table is left behind unnamed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DESIGN = """
table = "hosts"
key = "[bucket(host, 4)][host]"
splits = "per_bucket"
[fields]
host = "text"
v = { type = "i64", nullable = true }
"""


def sample(folder: Path) -> Path:
    """A file of some hosts."""
    path = folder / "hosts.csv"
    path.write_text("host,v\n" + "".join(f"h{n},{n}\n" for n in range(40)), encoding="utf-8")
    return path


def tables(url: str) -> list[str]:
    """The tables of a place."""
    with open_engine(url) as engine:
        return engine.list_tables()


def failing(problem: BaseException) -> Any:
    """Something that raises an error, whatever it is given."""

    def fail(*_: object, **__: object) -> None:
        raise problem

    return fail


def gone(when: str) -> Unavailable:
    """The error of a cluster that cannot be reached any more."""
    return Unavailable("hbase://x", f"cannot be reached while {when}")


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), gone("writing")], ids=repr)
def test_what_breaks_off_leaves_no_table(
    problem: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An interruption or an error while it is written drops the table, and stays as it is."""
    said = str(problem)
    monkeypatch.setattr(Table, "load", failing(problem))
    with pytest.raises(type(problem)) as caught:
        prove_design(Design.loads(DESIGN), "memory:broken", sample(tmp_path))
    assert caught.value is problem
    assert (said, []) == (str(problem), getattr(problem, "__notes__", []))
    assert [] == tables("memory:broken")


def test_an_interruption_of_the_making_leaves_no_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A table that is there, and was not handed over yet, is dropped."""
    make = create_table

    def interrupted(*given: Any, **more: Any) -> None:
        make(*given, **more).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(prover, "create_table", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        prove_design(Design.loads(DESIGN), "memory:making", sample(tmp_path))
    assert [] == tables("memory:making") == getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize("dropping_fails_by", [gone("dropping"), KeyboardInterrupt()], ids=repr)
def test_the_first_error_names_what_is_left(
    dropping_fails_by: BaseException, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where the drop fails too the first error is raised; who interrupts the drop is told."""
    monkeypatch.setattr(Table, "load", failing(gone("writing")))
    monkeypatch.setattr(temporary_table, "drop_table", failing(dropping_fails_by))
    with pytest.raises((Unavailable, KeyboardInterrupt)) as caught:
        prove_design(Design.loads(DESIGN), "memory:left", sample(tmp_path))
    (name,) = tables("memory:left")
    told = f"The table {name} is still there. Remove it by rowkey drop {name} --on memory:left"
    if isinstance(dropping_fails_by, KeyboardInterrupt):
        assert [told] == caught.value.__notes__
    else:
        assert f"hbase://x: cannot be reached while writing. {told}" == str(caught.value)
    monkeypatch.undo()
    drop_table(name, "memory:left")


def test_a_table_that_cannot_be_closed_hides_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of a cluster that went away the first error is raised, and the table is dropped."""
    close = Table.close

    def closed(table: Table) -> None:
        close(table)
        raise gone("closing")

    monkeypatch.setattr(Table, "load", failing(gone("writing")))
    monkeypatch.setattr(Table, "close", closed)
    with pytest.raises(Unavailable, match=r"while writing\.$"):
        prove_design(Design.loads(DESIGN), "memory:unclosed", sample(tmp_path))
    assert [] == tables("memory:unclosed")
    monkeypatch.undo()
    monkeypatch.setattr(Table, "close", closed)
    with pytest.raises(Unavailable, match=r"while closing\.$"):
        prove_design(Design.loads(DESIGN), "memory:unclosed", sample(tmp_path))
    assert [] == tables("memory:unclosed")


def test_a_drop_that_fails_names_what_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where all else went well the drop's own error says so."""
    monkeypatch.setattr(temporary_table, "drop_table", failing(gone("dropping")))
    with pytest.raises(Unavailable, match="while dropping") as caught:
        prove_design(Design.loads(DESIGN), "memory:undropped", sample(tmp_path))
    (name,) = tables("memory:undropped")
    assert str(caught.value).endswith(f"rowkey drop {name} --on memory:undropped")


def test_what_cannot_be_asked_may_be_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a cluster that is away nobody knows; of one that was never reached, that nothing is."""
    monkeypatch.setattr(Table, "load", failing(gone("writing")))
    opened = iter([open_engine])

    def once(*given: Any, **more: Any) -> Any:
        return next(opened, failing(gone("asking")))(*given, **more)

    monkeypatch.setattr(temporary_table, "open_engine", once)
    with pytest.raises(
        Unavailable,
        match=r"while writing.* may be still there. Remove it by rowkey drop hosts.proof",
    ):
        prove_design(Design.loads(DESIGN), "memory:away", sample(tmp_path))
    with pytest.raises(Unavailable, match=r"while asking\.$"):
        prove_design(Design.loads(DESIGN), "memory:never", sample(tmp_path))


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize(
    "fails", [KeyboardInterrupt, partial(gone, "making"), partial(InvalidArgument, "t", "no")]
)
def test_a_cluster_may_go_on_with_a_making_that_was_broken_off(
    fails: Callable[[], BaseException],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    is_shared: bool,
) -> None:
    """The table is not there yet, and may come: so it is named, unless the cluster has refused."""
    problem = fails()
    monkeypatch.setattr(MemoryEngine, "is_shared", is_shared)
    monkeypatch.setattr(prover, "create_table", failing(problem))
    with pytest.raises(type(problem)) as caught:
        prove_design(Design.loads(DESIGN), "memory:coming", sample(tmp_path))
    said = " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    may_be = "may be still there. Remove it by rowkey drop hosts.proof." in said
    assert (is_shared and not isinstance(problem, InvalidArgument)) == may_be


def test_the_command_names_a_kept_table_that_was_broken_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who keeps the table and interrupts finds its name on stderr."""
    (tmp_path / "hosts.toml").write_text(DESIGN, encoding="utf-8")
    monkeypatch.setattr(Table, "load", failing(KeyboardInterrupt()))
    given = [str(tmp_path / "hosts.toml"), "--on", "memory:named", "--keep"]
    with pytest.raises(click.exceptions.Abort):
        command.main([*given, "--sample", str(sample(tmp_path))], standalone_mode=False)
    (name,) = tables("memory:named")
    told = f"The table {name} is still there. Remove it by rowkey drop {name} --on memory:named\n"
    assert told in capsys.readouterr().err


def test_a_kept_table_is_said_never_to_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who goes on with a table that was kept must know that it does not grow into more regions."""
    (tmp_path / "hosts.toml").write_text(DESIGN, encoding="utf-8")
    given = [str(tmp_path / "hosts.toml"), "--on", "memory:unsplit", "--keep"]
    command.main([*given, "--sample", str(sample(tmp_path))], standalone_mode=False)
    (name,) = tables("memory:unsplit")
    said = " ".join(capsys.readouterr().out.split())
    assert said.endswith(f"written to {name}, which is kept; its regions are never split")
    with open_engine("memory:unsplit") as engine:
        policy = engine.open_table(name).families_and_attributes[1]["SPLIT_POLICY"]
    assert policy.endswith("DisabledRegionSplitPolicy")
