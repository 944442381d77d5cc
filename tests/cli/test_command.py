import errno
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import pytest
from pyarrow.csv import read_csv
from pyarrow.parquet import write_table

from cli.command import LOGS, run
from command_server import CODE, MAIN, find_command, start_fork
from rowkey.cli.group import COMMAND_GROUPS, GroupedCommand, program
from table.companion_tables import write_designs

ROWKEY = [sys.executable, "-m", "rowkey"]
ESCAPE = "\x1b"


def _list_commands() -> list[str]:
    return program.list_commands(click.Context(program))


COMMANDS = _list_commands()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the files that the examples of the help use."""
    (tmp_path / "logs.toml").write_text(LOGS)
    (tmp_path / "designs").mkdir()
    (tmp_path / "designs" / "a.toml").write_text(LOGS)
    (tmp_path / "events.csv").write_text("host,ts\nweb-1,1609459200000\nweb-2,1609459201000\n")
    (tmp_path / "rows.csv").write_text("host,ts\nweb-1,1609459200000\n")
    (tmp_path / "rows.jsonl").write_text('{"host": "web-1", "ts": 1609459200000}\n')
    (tmp_path / "wrong.toml").write_text("".join(f"w{number} = 1\n" for number in range(30)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table_folder(verb: str, folder: Path) -> Path:
    """Return the folder, with a filled table for the commands that need one."""
    if verb in ("compare", "report"):
        for name in ("by_time", "by_host"):
            (folder / f"{name}.toml").write_text((folder / "logs.toml").read_text())
    if verb == "ddl":
        write_designs(folder)
    if not _needs_table(verb):
        return folder
    text = "host,ts,message\nweb-1,1609459200000,disk full\nweb-2,1609459201000,\n"
    message = 'message = { type = "text", nullable = true }'
    read = '[[reads]]\nname = "tail"\nwhere = "host = ?"\n'
    text_of_design = LOGS.replace("\n[writes]", f"{message}\n\n[writes]")
    (folder / "logs.toml").write_text(f"{text_of_design}\n{read}")
    (folder / "by_host.toml").write_text(text_of_design.replace("16)", "4)"))
    (folder / "events.csv").write_text(text)
    write_table(read_csv(folder / "events.csv"), folder / "events.parquet")
    if verb != "create":
        for line in ("create logs.toml", "load logs.toml events.csv"):
            assert 0 == run(*line.split(), "--on", "rocks:./data").code
    return folder


def _needs_table(verb: str) -> bool:
    command = program.get_command(click.Context(program), verb)
    assert command is not None
    return any(one.name == "url" for one in command.params)


def spawn(*arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own."""
    kept: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 60}
    return subprocess.run([find_command(), *arguments], check=False, **(kept | more))


LIVE_OUTPUT: dict[str, Any] = {"capture_output": False}
"""Options of a process whose standard output is not captured."""


# Help


def test_each_file_of_the_commands_folder_is_a_command() -> None:
    files = Path(import_module("rowkey.cli.commands").__path__[0]).glob("[a-z]*.py")
    assert {"check", "simulate"} < {file.stem for file in files} == set(COMMANDS)


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_help_of_each_command_has_an_example(verb: str) -> None:
    """The help of each command has a description, its options and an example."""
    found = run(verb, "--help")
    assert (0, "") == (found.code, found.err)
    assert _list_examples(found.out)
    command = program.get_command(click.Context(program), verb)
    assert command is not None
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [] == [one.name for one in options if not one.help]
    assert command.get_short_help_str()[-1] == "."


def _list_examples(text: str) -> list[str]:
    return re.findall(
        r"^  (?=rowkey|echo)(.*(?:\n  {2,}\S.*)?)$",
        text.split("Options:", maxsplit=1)[0],
        re.MULTILINE,
    )


@pytest.mark.parametrize("verb", COMMANDS)
def test_the_examples_in_the_help_run_without_error(
    verb: str, table_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")  # the program that opens no browser
    for example in _list_examples(run(verb, "--help").out):
        if verb == "portal" and "--hash-password" not in example:
            _check_portal_example(example, table_folder)
            continue
        line = example.replace("rowkey ", f"{find_command()} ", 1)
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=table_folder,
            input="open sesame\n" * (verb == "portal"),
            capture_output=True,
            text=True,
            check=False,
        )
        if verb == "create":  # each line makes the table anew
            shutil.rmtree(table_folder / "data")
        assert (example, 0) == (example, done.returncode)
        assert "rowkey:" not in done.stderr


def _check_portal_example(example: str, folder: Path) -> None:
    """Check that a portal starts by an example, prints one line, and ends with 0 by Ctrl-C."""
    words = (*shlex.split(example)[1:], "--port", "0")  # another program may have the usual one
    with start_fork(MAIN, *words, cwd=folder) as (process, number):
        assert process.stdout is not None
        assert process.stdout.readline() != ""
        os.kill(number, signal.SIGINT)
        assert (example, 0) == (example, process.wait(timeout=30))


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["check", "-h"]])
def test_the_option_h_prints_the_same_as_help(arguments: list[str]) -> None:
    assert run(*arguments).out.startswith("Usage: rowkey")


def test_the_printed_version_is_that_of_the_package_metadata() -> None:
    assert f"rowkey, version {version('rowkey')}\n" == run("--version").out


LISTING_CODE = """
import sys
sys.argv = ["rowkey", "--help"]
from rowkey.cli import main
try:
    main()
except SystemExit:
    pass
print(*sorted(sys.modules), file=sys.stderr)
"""


def test_rowkey_help_imports_no_package() -> None:
    """`rowkey --help` imports neither click nor a package of rowkey, so that it starts fast."""
    done = subprocess.run(
        [sys.executable, "-c", LISTING_CODE], capture_output=True, text=True, check=True
    )
    loaded = set(done.stderr.split())
    assert {"rowkey", "rowkey.cli"} == {name for name in loaded if name.startswith("rowkey")}
    assert "click" not in loaded


def test_every_command_is_in_one_group_of_the_help() -> None:
    """The help lists each command once, under the heading that its file declares."""
    sections = run("--help").out.split("Options:")[1].split("\n\n")[1:]
    listed = {
        name: section.split(":")[0].strip()
        for section in sections
        for name in re.findall(r"^  (\w+)  ", section, re.MULTILINE)
    }
    declared = {}
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert isinstance(command, GroupedCommand)
        declared[name] = command.group
    assert declared == listed
    assert set(COMMAND_GROUPS) == set(listed.values())


def test_the_prebuilt_help_page_equals_what_click_prints() -> None:
    """The prebuilt help page is what click prints, also without a command."""
    spoken = run("--help").out
    assert spoken == run().err + run().out == run("--debug", "--help").out


# Errors and exit codes


@pytest.mark.usefixtures("folder")
def test_exit_codes_are_0_for_clean_1_for_findings_and_2_for_wrong_usage() -> None:
    """The exit code is 0 for clean, 1 for findings unless disabled, and 2 for wrong usage."""
    found = {
        "check logs.toml": 0,
        "check wrong.toml": 1,
        "check logs.toml wrong.toml": 1,
        "check wrong.toml --fail-on never": 1,
        "check nothing.toml": 2,
        "check": 2,
        "check --nothing": 2,
        "encode wrong.toml": 2,
        "encode nothing.toml": 2,
        "encode logs.toml nothing.csv": 2,
        "splits": 2,
        "splits logs.toml --algorithm uniform": 2,
        "splits logs.toml -n 4": 2,
        "splits --algorithm uniform -n 0": 2,
        "vectors logs.toml -n 0": 2,
        "simulate logs.toml --sample nothing.csv": 2,
        "simulate logs.toml": 0,
        "nothing": 2,
        "": 2,
    }
    assert found == {line: run(*line.split()).code for line in found}


def test_a_poor_verdict_exits_with_1_unless_findings_are_disabled(folder: Path) -> None:
    """A poor verdict exits with 1, or with 0 if findings are disabled."""
    hot = LOGS.replace("[bucket(host, 16)][host][ts]", "[ts][host]").replace('rate = "500/s"\n', "")
    hot = hot.replace("60s", "4s")
    hot = hot.replace('"per_bucket"', '{ algorithm = "uniform", regions = 16 }')
    (folder / "hot.toml").write_text(hot)
    options: tuple[list[str], ...] = ([], ["--fail-on", "fair"], ["--fail-on", "never"])
    assert [1, 1, 0] == [run("simulate", "hot.toml", *more).code for more in options]


WRONG = [
    ["nothing"], ["check"], ["check", "--nothing"], ["encode", "wrong.toml"],
    ["encode", "nothing.toml"], ["encode", "logs.toml", "nothing.csv"], ["splits"],
    ["simulate", "logs.toml", "--sample", "nothing.csv"], ["splits", "--algorithm", "nothing"],
    ["simulate", "logs.toml", "--sample", "logs.toml"], ["decode", "logs.toml", "rows.csv"],
    ["vectors", "logs.toml", "--rows", "rows.csv"], ["encode", "designs"],
    ["encode", "logs.toml", "designs"], ["schema", "x"], ["encode", "logs.toml", "-f"],
    ["splits", "--algorithm", "uniform"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
@pytest.mark.usefixtures("folder")
def test_an_error_is_at_most_three_lines_on_stderr(arguments: list[str]) -> None:
    """An error is at most three lines on stderr, without a traceback."""
    found = run(*arguments)
    assert (2, "") == (found.code, found.out)
    assert 1 <= found.err.count("\n") <= 3
    assert "Traceback" not in found.err
    assert all(line.startswith(("rowkey", "Try 'rowkey")) for line in found.err.splitlines())


@pytest.mark.usefixtures("folder")
def test_two_mistakes_are_printed_with_the_command_that_prints_all() -> None:
    """A command prints two mistakes of a file and names the command that prints all."""
    lines = run("encode", "wrong.toml").err.splitlines()
    assert "rowkey: and 31 more mistakes; rowkey check wrong.toml prints all" == lines[2]
    assert 33 == len(run("check", "wrong.toml").out.splitlines())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("chek", "check"),
        ("sim", "simulate"),
        ("draft", "init"),
        ("lint", "check"),
        ("exp", "explain"),
    ],
)
def test_a_misspelt_or_foreign_command_gets_a_suggestion(typed: str, meant: str) -> None:
    """A misspelt, shortened or foreign command name gets a suggestion."""
    assert (
        f"rowkey: unknown command '{typed}'. Did you mean {meant}?" == run(typed).err.split("\n")[0]
    )


@pytest.mark.parametrize("verb", COMMANDS)
def test_an_option_without_its_value_does_not_take_the_next_option_as_value(verb: str) -> None:
    """An option that needs a value and is followed by an option says so in one sentence."""
    command = program.get_command(click.Context(program), verb)
    assert isinstance(command, GroupedCommand)
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in options:
        for name in (
            option.opts if not (option.is_flag or isinstance(option.flag_value, str)) else ()
        ):
            with pytest.raises(click.UsageError, match=f"^{name} needs a value, but the option -q"):
                command.make_context(verb, ["x", name, "-q"])


def test_an_unknown_command_that_resembles_none_lists_all_commands() -> None:
    """An unknown name that resembles no command lists all commands."""
    assert f"Commands: {', '.join(COMMANDS)}." in run("frobnicate").err


def test_the_format_option_always_sets_the_output_format(folder: Path) -> None:
    """`--format` and `-f` always set the output, and `--sample-format` sets the input."""
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        for option in command.params:
            assert ("-f" in option.opts) == ("--format" in option.opts), name
            assert not {"--input", "--input-format"} & set(option.opts), name
    assert json.loads(run("check", folder / "logs.toml", "--format", "json").out)["ok"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_documented_line_installs_shell_completion(
    shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The documented line installs a completion of commands in each shell."""
    page = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
    assert f"_ROWKEY_COMPLETE={shell}_source rowkey" in page.read_text(encoding="utf-8")
    monkeypatch.setenv("_ROWKEY_COMPLETE", f"{shell}_source")
    assert f"_ROWKEY_COMPLETE={shell}_complete" in run().out
    monkeypatch.setenv("_ROWKEY_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "rowkey sim" if shell != "fish" else "rowkey")
    monkeypatch.setenv("COMP_CWORD", "1" if shell != "fish" else "sim")
    assert "simulate" in run().out


def test_an_option_has_the_same_spelling_in_all_commands() -> None:
    """An option of several commands is spelled alike in all of them."""
    spellings: dict[str, set[tuple[str | None, ...]]] = {}
    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None
        for option in command.params:
            for long in (opt for opt in option.opts if opt.startswith("--")):
                others = sorted({*option.opts} - {long})
                spellings.setdefault(long, set()).add((*others, option.metavar))
    # `count --regions` is a flag, `move --rows` a rate, `drop --yes` the name of what is lost.
    assert {"--regions", "--rows", "--yes"} == {
        long for long, found in spellings.items() if len(found) > 1
    }


@pytest.mark.parametrize(
    ("arguments", "completed"),
    [
        ("rowkey check --fa", "plain,--fail-on"),
        ("rowkey check lo", "file,lo"),
        ("rowkey load a b", "file,b"),
        ("rowkey scan x --on y -f j", "plain,json"),
        ("rowkey simulate x --sample e", "file,e"),
    ],
)
def test_completion_suggests_options_values_and_files(
    arguments: str, completed: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Completion knows options, values and files, also next to a broken settings file."""
    (folder / "rowkey.toml").write_text("wrong = 1\n")
    monkeypatch.setenv("_ROWKEY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", arguments)
    monkeypatch.setenv("COMP_CWORD", str(len(arguments.split()) - 1))
    found = run()
    assert (completed, "") == (found.out.splitlines()[0], found.err)


def test_the_version_options_print_the_package_version() -> None:
    """`-V` and `--version` print the version of the package."""
    expected = f"rowkey, version {version('rowkey')}\n"
    assert [expected, expected] == [run(option).out for option in ("-V", "--version")]


@pytest.mark.parametrize("line", ["init rows.csv", "report logs.toml"])
def test_a_file_is_overwritten_only_by_force(folder: Path, line: str) -> None:
    """An existing file is overwritten only with `--force`."""
    (folder / "rows.csv").write_text("host,ts\n" + "web-1,1609459200000\n" * 9)
    (folder / "out").write_text("mine")
    kept = run(*line.split(), "-o", "out")
    assert (2, "mine") == (kept.code, (folder / "out").read_text())
    assert "out already exists. Give another name, or --force to overwrite it." in kept.err
    assert 0 == run(*line.split(), "-o", "out", "--force").code
    assert "mine" != (folder / "out").read_text()


def test_the_splits_command_prints_the_recommended_number_first(folder: Path) -> None:
    """The output of `splits` begins with the number of regions, then its sources."""
    lines = run("splits", folder / "logs.toml").err.splitlines()
    assert "Recommended: 16 regions, as the design has." == lines[0]
    assert lines.index("What each source says:") > 1


def test_an_unexpected_error_exits_with_70_and_shows_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unexpected error exits with 70, and only --debug shows the traceback."""
    import rowkey.design

    def fails(_: str) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(rowkey.design.Design, "read", fails)
    found = run("encode", folder / "logs.toml")
    assert (70, 2) == (found.code, found.err.count("\n"))
    assert found.err.startswith("rowkey: ValueError: no such thing\n")
    with pytest.raises(ValueError, match="no such thing"):
        run("--debug", "encode", folder / "logs.toml")


def test_the_debug_option_shows_the_traceback_of_an_error(folder: Path) -> None:
    assert "Traceback" in spawn("--debug", "encode", str(folder / "wrong.toml")).stderr


def test_a_full_disk_is_reported_in_one_line() -> None:
    """A full disk is reported in one line without a traceback."""
    with Path("/dev/full").open("w", encoding="ascii") as full:
        done = spawn("schema", stdout=full, stderr=subprocess.PIPE, **LIVE_OUTPUT)
    said = f"rowkey: standard output: the output cannot be written: {os.strerror(errno.ENOSPC)}. "
    assert 4 == done.returncode
    assert done.stderr == f"{said}Free space on the disk, or write to another place.\n"


def test_a_closed_pipe_ends_the_command_without_a_message(folder: Path) -> None:
    """A closed pipe ends the command without a message and with its own exit code."""
    rows = '{"host": "web-1", "ts": 1609459200000}\n' * 50_000
    command = f"{shlex.join(ROWKEY)} encode logs.toml | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, input=rows, capture_output=True, text=True, check=False
    )
    expected = (128 + signal.SIGPIPE, "097765622d310000000176bb3e7000\n", "")
    assert expected == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("line", ["simulate logs.toml", "schema", "check logs.toml"])
def test_the_exit_code_for_a_closed_pipe_is_not_that_of_a_finding(folder: Path, line: str) -> None:
    """With a closed pipe the exit code is neither 0 nor that of a finding."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:  # noqa: PTH123
        done = spawn(*line.split(), cwd=folder, stdout=pipe, stderr=subprocess.PIPE, **LIVE_OUTPUT)
    assert (128 + signal.SIGPIPE, "") == (done.returncode, done.stderr)


def test_an_interrupted_simulation_exits_with_130(folder: Path) -> None:
    """A simulation that gets Ctrl-C prints one word and exits with 130."""
    (folder / "long.toml").write_text(LOGS.replace("500/s", "1000000/s").replace("60s", "15m"))
    command = [*ROWKEY, "simulate", "long.toml", "--progress", "json"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stderr is not None
        assert json.loads(one.stderr.readline())["total"] == 900_000_000
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=60)
    assert (130, "") == (one.returncode, out)
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err


# Terminals


SIMULATION = ("simulate", "logs.toml", "--fail-on", "never", "--progress", "none")


def _run_on_terminal(folder: Path, words: tuple[str, ...] = SIMULATION, **environment: str) -> str:
    """Return what a command prints on a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    shown = b""
    with subprocess.Popen(
        [find_command(), *words],
        cwd=folder,
        stdout=theirs,
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    ) as one:
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert one.returncode == 0
    return shown.decode()


def test_colours_are_printed_on_a_terminal_unless_no_color_is_set(folder: Path) -> None:
    """A terminal gets colours, and with NO_COLOR no escape codes."""
    assert ESCAPE in _run_on_terminal(folder)
    assert ESCAPE not in _run_on_terminal(folder, NO_COLOR="1")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_check_wraps_findings_to_the_width_of_the_terminal(folder: Path, width: int) -> None:
    """Findings are wrapped to the width of the terminal and coloured, unless NO_COLOR is set."""
    words = ("check", "logs.toml", "--fail-on", "never")
    coloured = _run_on_terminal(folder, words, COLUMNS=str(width))
    plain = _run_on_terminal(folder, words, COLUMNS=str(width), NO_COLOR="1")
    assert ESCAPE not in plain
    assert plain == re.sub(r"\x1b\[[0-9;]*m", "", coloured) != coloured
    lengths = [len(line) for line in plain.splitlines()]
    assert width - 20 < max(lengths) <= width


@pytest.mark.parametrize("verb", COMMANDS)
def test_output_into_a_pipe_has_no_escape_codes_and_no_progress(
    verb: str, table_folder: Path
) -> None:
    command = program.get_command(click.Context(program), verb)
    assert command is not None
    takes = {one.name for one in command.params if isinstance(one, click.Argument)}
    given = ["logs.toml"] * (not takes.isdisjoint({"design", "designs"}))
    if _needs_table(verb) or verb in {
        "compare",
        "init",
    }:  # it needs more: the first line of its help, less where that goes
        given = shlex.split(re.split("[<>]", _list_examples(run(verb, "--help").out)[0])[0])[2:]
    typed = ""
    if verb == "portal":  # else it would serve until it is interrupted
        given, typed = ["--hash-password"], "open sesame\n"
    environment = {**os.environ, "TERM": "xterm-256color"}
    done = spawn(verb, *given, cwd=table_folder, env=environment, input=typed)
    assert (0, "") == (done.returncode, re.sub(r"[^\x1b\r]", "", done.stdout + done.stderr))


def test_an_ascii_terminal_gets_escaped_characters(folder: Path) -> None:
    """An ASCII terminal gets escaped characters, and valid JSON."""
    design = LOGS.replace("host", '"größe"').replace('"größe",', '"größe",')
    (folder / "g.toml").write_text(design.replace('"[', "'''[").replace(']"', "]'''"))
    start = f"import sys; sys.stdout.reconfigure(encoding='ascii'); {MAIN}"
    environment = {**os.environ, CODE: start}
    text = spawn("check", "g.toml", cwd=folder, env=environment)
    document = spawn("check", "g.toml", "-f", "json", cwd=folder, env=environment)
    assert (0, 0) == (text.returncode, document.returncode)
    assert "größe" in json.loads(document.stdout)["recovered"]
