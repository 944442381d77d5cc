"""The examples of the written pages, run: what a page prints is what a reader gets.

Of the fenced blocks of a page, from top to bottom, in one empty folder:

* `console`: lines after `$` are run by the shell, lines after `>` continue them; what follows is
  what must be printed. All commands of a block share one shell.
* `pycon`: Python with its prompts; all blocks of a page share their names.
* a language and a file's name, as in `toml logs.toml`: the file is written.

A line `...` stands for any lines. Every other block is for reading only.

Behind `console` or `pycon` the word `cluster` marks a block that needs a real HBase: it is run
where there is one, whose URL takes the place of `hbase://zk1,zk2:2181/hbase`.

`python tests/docs/blocks.py [--on URL] PAGE...` writes what is printed now into the pages; without
a URL the blocks that need a cluster stay as they are.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))  # where this file is run as a program

from command_server import find_command  # noqa: E402

_FENCE = re.compile(r"^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "-- end of a command --"
PATIENCE_S = 240
"""Seconds for the commands of a block: on a busy cluster each takes 7."""
WIDTH = "100"
CLUSTER = "cluster"
"""The word that marks a block that needs a real HBase."""
EXAMPLE_URL = "hbase://zk1,zk2:2181/hbase"
"""The URL that pages use for a cluster, which is replaced by the real one."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page.

    Args:
        language: the word after the fence.
        file: the name after it, or an empty string.
        text: what stands between the fences.
        start: where the text begins in the page.
        needs_cluster: whether it is run only where there is one.
    """

    language: str
    file: str
    text: str
    start: int
    needs_cluster: bool = False

    def calls(self, programs: frozenset[str]) -> bool:
        """Return whether a command of the block begins with one of some programs."""
        is_console = self.language == "console"
        return is_console and any(f"$ {name} " in self.text for name in programs)


@dataclass(frozen=True)
class Outcome:
    """A block with the output of running it.

    Args:
        block: the block.
        actual: the same text with what was printed now.
    """

    block: Block
    actual: str

    @property
    def is_as_written(self) -> bool:
        """Return whether the page has the actual output."""
        return matches(self.block.text, self.actual)


def parse_blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page from top to bottom."""
    return [
        Block(found[1], "", found[3], found.start(3), needs_cluster=True)
        if found[2] == CLUSTER
        else Block(found[1], found[2] or "", found[3], found.start(3))
        for found in _FENCE.finditer(page)
    ]


def run_page(
    page: str, folder: Path, missing: frozenset[str] = frozenset(), cluster: str | None = None
) -> Iterator[Outcome]:
    """Run the blocks of a page in a folder.

    Args:
        page: its text.
        folder: an empty one.
        missing: programs that are not installed; blocks that call them are not run.
        cluster: the URL of a cluster; None if there is none, and what needs one is not run.
    """
    names: dict[str, Any] = {}
    for block in parse_blocks(page):
        if block.calls(missing) or (block.needs_cluster and cluster is None):
            continue
        text = block.text.replace(EXAMPLE_URL, cluster or EXAMPLE_URL)
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            yield Outcome(block, _replace_cluster_url(_run_console(text, folder), cluster))
        elif block.language == "pycon":
            with chdir(folder):
                yield Outcome(block, _replace_cluster_url(_run_python(text, names), cluster))


def _replace_cluster_url(printed: str, cluster: str | None) -> str:
    """Return output with the URL that pages give a cluster."""
    return printed.replace(cluster, EXAMPLE_URL) if cluster else printed


def matches(expected: str, actual: str) -> bool:
    """Return whether two texts are equal, where `...` in the first is any lines.

    >>> matches("a\\n...\\nd\\n", "a\\nb\\nc\\nd\\n"), matches("a\\n", "b\\n")
    (True, False)
    """
    lines = (line.rstrip() for line in expected.rstrip().split("\n"))
    pattern = "\n".join(r"(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in lines)
    told = "\n".join(line.rstrip() for line in actual.rstrip().split("\n"))
    return re.fullmatch(pattern, told) is not None


def _run_console(text: str, folder: Path) -> str:
    """Return the commands of a block, each followed by its output."""
    commands = _list_commands(text)
    script = "".join(
        f"{strip_prompts(command)}\n_code=$?; printf '\\n{_END}\\n'; (exit $_code)\n"
        for command in commands
    )
    programs = (Path(find_command()).parent, Path(sys.executable).parent)
    path = os.pathsep.join([*map(str, programs), os.environ.get("PATH", "")])
    told = subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": WIDTH, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    ).stdout
    printed = told.split(f"\n{_END}\n")
    pieces = []
    for command, output in zip(commands, printed, strict=False):
        shown = output.strip("\n")
        pieces.append(command + (f"{shown}\n" if shown else ""))
    return "".join(pieces)


def _list_commands(text: str) -> list[str]:
    """Return the commands of a block with their prompts, without output."""
    commands: list[str] = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append(line)
        elif line.startswith("> ") and commands:
            commands[-1] += line
    return commands


def strip_prompts(command: str) -> str:
    """Return a command without its prompts.

    >>> strip_prompts("$ cat \\\\\\n> file\\n")
    'cat \\\\\\nfile'
    """
    return "\n".join(line[2:] for line in command.rstrip("\n").split("\n"))


class _Recorder(doctest.DocTestRunner):
    """Records the output of each example, expected or not."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS)
        self.printed: list[str] = []

    def report_start(self, out: Any, test: Any, example: Any) -> None: ...

    def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.printed.append(example.want)

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        self.printed.append(got)

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        kind, problem, _ = exc_info
        name = (
            kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        )
        shown = str(problem)
        told = f"{name}: {shown}" if shown else name
        self.printed.append(f"Traceback (most recent call last):\n{told}\n")


def _run_python(text: str, names: dict[str, Any]) -> str:
    """Return the examples of a block, each followed by its output."""
    test = doctest.DocTestParser().get_doctest(text, names, "page", None, 0)
    recorder = _Recorder()
    recorder.run(test, out=lambda _: None, clear_globs=False)
    names.update(test.globs)
    pieces = []
    for example, printed in zip(test.examples, recorder.printed, strict=True):
        first, *more = example.source.rstrip("\n").split("\n")
        lines = [f">>> {first}", *(f"... {line}".rstrip() for line in more)]
        pieces.append("\n".join(lines) + "\n" + printed)
    return "".join(pieces)


def rewrite_page(page: str, outcomes: list[Outcome]) -> str:
    """Return the page with the current output of its blocks."""
    for outcome in reversed(outcomes):
        block = outcome.block
        if not outcome.is_as_written:
            text = leave_out_again(block.text, outcome.actual)
            page = page[: block.start] + text + page[block.start + len(block.text) :]
    return page


def leave_out_again(expected: str, actual: str) -> str:
    """Return an output without the lines that the page left out of the last one.

    Each part between two `...` begins and ends with the lines most like its old first and last one.

    >>> leave_out_again("a 1\\n...\\nd 1\\n", "a 2\\nb\\nc\\nd 2\\n")
    'a 2\\n...\\nd 2\\n'
    """
    if "...\n" not in expected:
        return actual
    lines, shown, at = actual.splitlines(), [], 0
    for part in re.split(r"^\.\.\.\n", expected, flags=re.MULTILINE):
        old = part.splitlines()
        if old:
            first = _find_similar(old[0], lines, at)
            at = _find_similar(old[-1], lines, first + (len(old) > 1)) + 1
            shown.append("".join(f"{line}\n" for line in lines[first:at]))
        else:
            shown.append("")
    return "...\n".join(shown)


def _find_similar(wanted: str, lines: list[str], start: int) -> int:
    """Return the place of the line most like another one, from some place on."""
    ratios = [SequenceMatcher(None, wanted, line).ratio() for line in lines[start:]]
    return start + ratios.index(max(ratios)) if ratios else len(lines)


def main() -> None:
    """Write the current output into the named pages."""
    parser = ArgumentParser(description="Write what the examples of pages print now.")
    parser.add_argument("--on", dest="cluster", metavar="URL", help="a cluster for those that need")
    parser.add_argument("pages", nargs="+", type=Path)
    given = parser.parse_args()
    for path in given.pages:
        page = path.read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:
            outcomes = list(run_page(page, Path(folder), cluster=given.cluster))
        stale = sum(not outcome.is_as_written for outcome in outcomes)
        path.write_text(rewrite_page(page, outcomes), encoding="utf-8")
        sys.stdout.write(f"{path}: {len(outcomes)} blocks run, {stale} written anew\n")


if __name__ == "__main__":
    main()
