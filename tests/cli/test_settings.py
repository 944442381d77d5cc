"""Defaults of options from the environment and from files, and --quiet."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest

from cli.command import LOGS, run
from rowkey.cli.group import program
from rowkey.cli.settings_file import COMMAND_SETTINGS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a design, below which is a folder `inner`."""
    monkeypatch.delenv("ROWKEY_ON", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs.toml").write_text(LOGS)
    (tmp_path / "inner").mkdir()
    return tmp_path


def test_the_url_option_precedes_the_environment_and_the_settings_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option goes before the environment, and the environment before the file."""
    (folder / "rowkey.toml").write_text('on = "rocks:file"\n')
    assert 0 == run("create", "logs.toml").code
    monkeypatch.setenv("ROWKEY_ON", "rocks:environment")
    assert 0 == run("create", "logs.toml").code
    assert 0 == run("create", "logs.toml", "--on", "rocks:option").code
    assert {"file", "environment", "option", "inner"} == {
        path.name for path in folder.iterdir() if path.is_dir()
    }


def test_a_missing_url_is_explained_by_option_variable_and_file(folder: Path) -> None:
    """Without a URL the error shows the option, the variable and the file."""
    del folder
    found = run("scan", "logs")
    assert (2, "") == (found.code, found.out)
    assert "Give --on URL, such as --on rocks:./data; or set ROWKEY_ON, or write" in found.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rowkey.toml", 'on = "rocks:data"\n'),
        ("pyproject.toml", '[tool.rowkey]\non = "rocks:data"\n'),
        ("pyproject.toml", '[project]\nname = "a"\n\n[tool.rowkey.create]\non = "rocks:data"\n'),
    ],
)
def test_the_nearest_settings_file_of_the_parent_folders_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """A file in a parent folder counts, and its paths are relative to itself."""
    (folder / name).write_text(text)
    (folder / "inner" / "pyproject.toml").write_text('[tool.other]\non = "rocks:other"\n')
    monkeypatch.chdir(folder / "inner")
    assert 0 == run("create", "../logs.toml").code
    assert (folder / "data").is_dir()


def test_the_section_of_a_command_overrides_the_top_of_the_settings(folder: Path) -> None:
    """A command's own table sets its options, and the other commands keep theirs."""
    (folder / "rowkey.toml").write_text('seed = 1\n\n[simulate]\nseed = 2\nformat = "json"\n')
    assert 2 == json.loads(run("simulate", "logs.toml").out)["seed"]
    assert 3 == json.loads(run("simulate", "logs.toml", "--seed", "3").out)["seed"]
    assert run("splits", "logs.toml", "-f", "json").out.startswith("{")
    assert not run("splits", "logs.toml").out.startswith("{")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed = 1\n", "rowkey.toml:1:1: sed: the key is unknown; expected one of on, progress,"),
        ("sed = 1\n", "Did you mean seed?"),
        ('format = "json"\n', "Write format into the table of a command that has it"),
        ("\n[check]\nfail_on = 1\n", "rowkey.toml:3:1: check.fail_on: the key is unknown"),
        ("[check]\nfail_on = 1\n", "Did you mean fail-on?"),
        ("[check]\nseed = 1\n", "check.seed: the key is unknown"),
        ("[chek]\nseed = 1\n", "rowkey.toml:1:1: chek: the key is unknown"),
        ("[check]\nfix = true\n", "check.fix: the key is unknown"),
        ('[check]\nfail-on = "grave"\n', "check.fail-on: 'grave' is not one of 'error'"),
        ('[simulate]\nseed = "a"\n', "simulate.seed: 'a' is not a whole number"),
        ("[simulate]\nseed = -1\n", "simulate.seed: -1 is not in the range"),
        ("quiet = 1\n", "quiet: 1 is not true or false"),
        ("sample = 1\n", "sample: 1 is not text in quotes"),
        ("seed = = 1\n", "rowkey.toml:1:8: "),
        (LOGS, "this is a design, but a file of this name holds the defaults of options"),
    ],
)
def test_a_wrong_setting_is_reported_with_file_and_line(
    folder: Path, text: str, message: str
) -> None:
    """A mistake names the file, the line and what is allowed; help is still printed."""
    (folder / "rowkey.toml").write_text(text)
    found = run("check", "logs.toml")
    assert (2, "") == (found.code, found.out)
    assert message in found.err
    assert 0 == run("check", "--help").code == run("--help").code


def test_a_settings_file_that_is_not_utf_8_is_reported(folder: Path) -> None:
    """A file that is not UTF-8 is an error that names it."""
    (folder / "rowkey.toml").write_bytes(b"\xff\xfe")
    found = run("check", "logs.toml")
    assert (2, 1) == (found.code, found.err.count("\n"))
    assert "rowkey.toml: the file cannot be read: it is not UTF-8." in found.err


@pytest.mark.parametrize("kind", ["broken link", "folder", "pipe"])
def test_an_unreadable_settings_file_is_an_error_and_not_skipped(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Settings that cannot be read are not replaced by those of a parent folder in silence."""
    (folder / "rowkey.toml").write_text('on = "rocks:of_parent"\n')
    path = folder / "inner" / "rowkey.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere")
    monkeypatch.chdir(folder / "inner")
    found = run("create", "../logs.toml")
    assert (2, 1) == (found.code, found.err.count("\n"))
    assert "rowkey.toml: the file cannot be read: " in found.err
    assert not (folder / "of_parent").exists()


def test_every_setting_is_the_name_of_an_option() -> None:
    """Each key that a file may set is the name of an option."""
    ctx = click.Context(program)
    names = set()
    for name in program.list_commands(ctx):
        command = program.get_command(ctx, name)
        assert command is not None
        names |= {opt for option in command.params for opt in option.opts}
    assert {f"--{key}" for key in COMMAND_SETTINGS} <= names


def test_every_setting_is_in_the_reference() -> None:
    """The reference of the command names each key that a file may set."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    section = page.read_text(encoding="utf-8").split("## Defaults of options")[1].split("\n## ")[0]
    assert [] == [key for key in COMMAND_SETTINGS if f"`{key}`" not in section]


# --quiet


@pytest.mark.usefixtures("folder")
def test_the_quiet_option_prints_only_results_and_errors(folder: Path) -> None:
    """With -q a command prints no notes and no progress, but results, errors and lost rows."""
    (folder / "rowkey.toml").write_text('on = "rocks:data"\n')
    assert 0 == run("create", "logs.toml").code
    done = run("put", "logs", "host=a", "ts=1", "-q")
    assert (0, "", "") == (done.code, done.out, done.err)
    (folder / "rows.csv").write_text("host,ts\n" + "a,2\n" * 90 + "b,no\n")
    done = run("load", "logs", "rows.csv", "--quiet", "--progress", "json")
    assert (1, "1 row left out:") == (done.code, done.err.splitlines()[0])
    assert run("put", "logs", "host=a", "-q").err.startswith("rowkey: field ts: ")
    found = run("splits", "logs.toml", "-q")
    assert (15, "") == (found.out.count("\n"), found.err)
    assert "" == run("simulate", "logs.toml", "--progress", "json", "-q").err
    (folder / "rowkey.toml").write_text('on = "rocks:data"\nquiet = true\n')
    assert "" == run("put", "logs", "host=a", "ts=1").err
