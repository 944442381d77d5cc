"""On a terminal no value, name or path moves the cursor or reverses text."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from pathlib import Path

import pytest

from cli.command import run
from rowkey.cli.screen import build_console

pytestmark = pytest.mark.usefixtures("search_once")
HOSTILE = (
    "web\x1b[2J1", "a\nb\tc", "\u202egnp.exe", "c\x9b31mx", "d\x7f\x08", "plain", "\u2028line",
    "\u200bz\ufeff", "\U000e0041tag",
)  # fmt: skip
"""Terminal escapes, line ends, and characters that reverse or hide text."""
DESIGN = """\
table = "t"
key   = "KEY"
splits = SPLITS

[fields]
host = { type = "text", max_bytes = 30, heavy = ["web\\u001b[2J1"] }
ts   = "timestamp_ms"
kind = { type = "choice", of = ["web\\u001b[2J1", "a\\nb\\tc", "\\u202Egnp.exe", "c\\u009b31mx"] }

[[reads]]
name  = "r\\u001b[31m"
where = "host = 'a\\u001b[0m\\u202e' and ts >= ?"

[[reads]]
name  = "q"
where = "kind in (?, ?, ?)"

[sample]
path = "events.csv"
"""
KEYS = {
    "quantiles": ("[host][ts]", "{ algorithm = 'sample', regions = 8 }"),
    "buckets": ("[bucket(host, ts, 16, 2)][host][ts]", "'per_bucket'"),
    "listed": ("[kind][host][ts]", "['01', '02']"),
}
COMMANDS = [
    ("check", "buckets"), ("check", "listed", "-f", "github"), ("simulate", "quantiles"),
    ("simulate", "buckets"), ("simulate", "listed"), ("simulate", "quantiles", "-f", "json"),
    ("explain", "quantiles"), ("explain", "listed"), ("splits", "quantiles"), ("ddl", "quantiles"),
    ("explain", "buckets", "--where", "host=\x1b[2J\u202e"), ("vectors", "buckets"),
    ("compare", "quantiles", "buckets"), ("compare", "listed", "quantiles"),
    ("check", "\x1b[2J"), ("rules", "\x1b[2J"),
]  # fmt: skip

QUICK_COMMANDS = [
    *{(name, words[-1].startswith("\x1b")): (name, *words) for name, *words in COMMANDS}.values()
]
"""Each command once, and those with a hostile argument."""


def find_unsafe_characters(text: str) -> list[str]:
    """Return the characters of a text that may not be printed on a terminal."""
    return [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a hostile sample and designs that name its values."""
    here = tmp_path_factory.mktemp("hostile")
    with (here / "events.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(["host", "ts", "kind"])
        for n in range(900):
            host = HOSTILE[n % len(HOSTILE)] if n % 3 else HOSTILE[0]
            rows.writerow([host, 1_706_659_200_000 + n * 250, HOSTILE[n % 4]])
    for name, (key, splits) in KEYS.items():
        text = DESIGN.replace("KEY", key).replace("SPLITS", splits)
        (here / name).write_text(text, "utf-8")
    return here


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(one, marks=() if one in QUICK_COMMANDS else pytest.mark.long)
        for one in COMMANDS
    ],
    ids=" ".join,
)
def test_no_command_prints_control_characters_of_values(
    arguments: tuple[str, ...], folder: Path
) -> None:
    """No command prints control characters, line ends or direction marks of values."""
    found = run(*(folder / word if word in KEYS else word for word in arguments))
    assert ([], []) == (find_unsafe_characters(found.out), find_unsafe_characters(found.err))
    assert found.code in ((1, 2) if arguments[-1] == "\x1b[2J" else (0, 1))


def test_a_draft_of_hostile_values_is_plain_text(folder: Path) -> None:
    """The file that `init` writes from hostile values is plain text with all values."""
    found = run("init", folder / "events.csv")
    assert (0, []) == (found.code, find_unsafe_characters(found.out))


def test_json_with_escaped_characters_parses_to_the_stored_values(folder: Path) -> None:
    """JSON rows with escaped characters parse to the stored values."""
    row = {"host": HOSTILE[0] + HOSTILE[3] + HOSTILE[8], "ts": 1}
    key = run("encode", folder / "buckets", stdin=json.dumps(row)).out
    told = run("decode", folder / "buckets", stdin=key).out
    assert ([], row["host"]) == (find_unsafe_characters(told), json.loads(told)["host"])


def test_the_console_escapes_any_text_and_keeps_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """The console escapes any text, also of a renderer that does not, and keeps colours."""
    screen = build_console()
    monkeypatch.setattr(screen, "_file", stream := io.StringIO())
    for text in HOSTILE:
        screen.print(text, markup=False)
    assert [] == find_unsafe_characters(stream.getvalue())
    assert "web\\x1b[2J1" in stream.getvalue()
