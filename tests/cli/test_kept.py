"""What `check` keeps: the same answer as if it judged anew, and none where anything has changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from cli.command import LOGS, Outcome, run
from rowkey.cli import kept
from tidy.tree import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FRONT = LOGS.replace("[bucket(host, 16)][host][ts]", "[ts][host]").replace("per_bucket", "uniform")
BROKEN = LOGS.replace('"text"', '"txet"')
LONG_AGO_S = 1_600_000_000
START = """
import atexit, json, sys
opened = []
sys.addaudithook(lambda event, given: event == "open" and opened.append(str(given[0])))
atexit.register(lambda: open("told.json", "w").write(json.dumps([[*sys.modules], opened])))
sys.argv = ["rowkey", "check", *sys.argv[1:]]
from rowkey.cli import main
main()
"""


@dataclass(frozen=True)
class Place:
    """A folder with designs, the current one of this process, and kept answers."""

    folder: Path
    code: Path

    @property
    def kept(self) -> list[Path]:
        """The answers that are kept."""
        return [*(self.folder / "kept").iterdir()] if (self.folder / "kept").is_dir() else []

    def check(self, *words: str) -> tuple[Outcome, bool]:
        """What `check` prints, and whether that was kept; asked in this process."""
        judged: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rowkey.lint.check", _watched(judged, "rowkey.lint", "check"))
            patch.setattr("rowkey.design.Design.read", _watched(judged, "rowkey.design", "read"))
            return run("check", *words), not judged

    def apart(
        self, *words: str, stdout: int = subprocess.PIPE
    ) -> tuple[Outcome, list[str], list[str]]:
        """What it prints as a process, with the modules that it loaded and the files it opened."""
        environment = {"ROWKEY_CACHE_DIR": str(self.folder / "kept"), "PYTHONPATH": str(self.code)}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # which would make all folders new
        done = subprocess.run(
            [sys.executable, "-c", START, *words],
            cwd=self.folder,
            env={**os.environ, **environment},
            text=True,
            check=False,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        modules, opened = json.loads((self.folder / "told.json").read_text())
        return Outcome(done.returncode, done.stdout, done.stderr), modules, opened


def _watched(calls: list[str], room: str, name: str) -> object:
    """A function of a room, or its design's way to be read, that tells when it is called."""
    import importlib

    module = importlib.import_module(room)
    real = module.Design.read if name == "read" else getattr(module, name)

    def watched(*given: object, **words: object) -> object:
        calls.append(name)
        return real(*given, **words)

    return watched


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Three designs, and code that is one file of a folder, written long ago."""
    for name, text in (("logs", LOGS), ("front", FRONT), ("broken", BROKEN)):
        (tmp_path / f"{name}.toml").write_text(text)
    code = tmp_path / "code"
    code.mkdir()
    (code / "rule.py").write_text("pass")
    for path in (code / "rule.py", code):
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROWKEY_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(kept, "_code", lambda: [str(code), str(code / "rule.py")])
    monkeypatch.setattr(kept, "_SAMPLES", "no module")  # other tests have read samples
    return Place(tmp_path, code)


@pytest.fixture
def copied(place: Place) -> Place:
    """The same with a copy of the package, written long ago, that a process may load."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "rowkey", place.code / "rowkey", ignore=ignored)
    for path in [*place.code.rglob("*"), place.code]:
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    return place


@pytest.mark.parametrize("output", ["text", "json", "sarif", "github", "junit"])
def test_what_was_kept_is_what_judging_anew_says(place: Place, output: str) -> None:
    """The same bytes and the same exit code, for sound designs, findings and mistakes."""
    words = ("logs.toml", "front.toml", "broken.toml", "-f", output)
    first, was_kept = place.check(*words)
    assert not was_kept
    assert (first, True) == place.check(*words)
    assert (first, False) == place.check(*words, "--no-cache")
    assert 1 == first.code
    assert "broken" in first.out


def test_a_process_knows_the_code_that_it_loaded(copied: Place) -> None:
    """It opens nothing else, judges once, and judges again where a rule was changed."""
    first, modules, opened = copied.apart("front.toml")
    assert "click" in modules
    code = (".py", ".pyc", ".so", ".pth", ".zip")
    others = {path for path in opened if not path.endswith(code) and not path.isdigit()}
    # Metadata of packages lie in folders that are named after the release.
    others = {path for path in others if "/kept" not in path and ".dist-info" not in path}
    assert {"front.toml", "told.json"} == others
    again, modules, _ = copied.apart("front.toml")
    assert "click" not in modules
    assert first == again
    rule = copied.code / "rowkey/lint/rules/unbounded_key.py"
    rule.write_text(rule.read_text().replace("Declare max_bytes", "Set max_bytes"))
    changed, modules, _ = copied.apart("front.toml")
    assert "click" in modules
    assert first.out.replace("Declare max_bytes", "Set max_bytes") == changed.out != first.out


def test_a_reader_that_has_gone_is_told_as_ever(copied: Place) -> None:
    """A kept answer into a closed pipe ends with 141, as one that is judged does."""
    copied.apart("logs.toml")
    assert 1 == len(copied.kept)
    reader, writer = os.pipe()
    os.close(reader)
    found, _, opened = copied.apart("logs.toml", stdout=writer)
    os.close(writer)
    assert any("/kept/" in path for path in opened)
    assert (141, "") == (found.code, found.err)


def test_a_sample_that_was_read_leaves_nothing(copied: Place) -> None:
    """A declared one too: what comes of its rows is not in the design's bytes."""
    (copied.folder / "rows.csv").write_text("host,ts\na,1600000000000\nb,1600000000001\n")
    (copied.folder / "logs.toml").write_text(LOGS + '[sample]\npath = "rows.csv"\n')
    found, modules, _ = copied.apart("logs.toml")
    assert ("", []) == (found.err, copied.kept)
    assert "rowkey.workload.sample" in modules


@pytest.mark.parametrize("after", [LOGS.replace("16", "32"), BROKEN, FRONT])
def test_a_design_that_changed_is_judged_anew(place: Place, after: str) -> None:
    """By its bytes: a file of the same size and time is not the same file."""
    path = place.folder / "logs.toml"
    place.check("logs.toml")
    before = path.stat()
    path.write_text(after)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    found, was_kept = place.check("logs.toml")
    assert not was_kept
    assert found == place.check("logs.toml", "--no-cache")[0]
    path.write_text(LOGS)
    assert not place.check("logs.toml")[1], "one answer is kept to one question"


def test_a_design_that_is_gone_is_told(place: Place) -> None:
    """What was kept of it is not."""
    place.check("logs.toml")
    (place.folder / "logs.toml").unlink()
    found, was_kept = place.check("logs.toml")
    assert (1, False) == (found.code, was_kept)
    assert "cannot be read" in found.out


@pytest.mark.parametrize("change", ["changed", "gone", "new", "replaced"])
def test_code_that_changed_is_asked_anew(place: Place, change: str) -> None:
    """A module of another time, one that is not there, and a folder with one more."""
    place.check("front.toml")
    assert place.check("front.toml")[1]
    if change == "changed":
        os.utime(place.code / "rule.py", (LONG_AGO_S + 1, LONG_AGO_S + 1))
    elif change == "gone":
        (place.code / "rule.py").unlink()
    elif change == "replaced":  # by one of its size and time, as copies have that keep them
        shutil.copy2(place.code / "rule.py", place.folder / "other.py")
        (place.folder / "other.py").replace(place.code / "rule.py")
        os.utime(place.code, (LONG_AGO_S, LONG_AGO_S))
    else:
        (place.code / "another.py").touch()
    assert not place.check("front.toml")[1]


def test_code_as_new_as_its_answer_is_not_trusted(place: Place) -> None:
    """It could change once more within the time that it bears."""
    (place.code / "rule.py").touch()
    place.check("front.toml")
    assert [] == place.kept


@pytest.mark.parametrize(
    "words",
    [
        ("logs.toml", "--no-cache"),
        ("logs.toml", "--fix"),
        ("lost.toml",),
        ("none.toml",),
        ("long.toml",),
        ("logs.toml", "--select", "nothing"),
    ],
)
def test_what_comes_from_more_than_designs_is_not_kept(place: Place, words: tuple[str]) -> None:
    """Files that are mended, what was told aside, wrong words, and very long files."""
    (place.folder / "lost.toml").write_text(LOGS + '[sample]\npath = "lost.csv"\n')
    (place.folder / "long.toml").write_text(LOGS + "#" * kept.LARGEST_BYTES)
    first, _ = place.check(*words)
    assert first == place.check(*words)[0]
    assert [] == place.kept


@pytest.mark.parametrize("spoilt", [b"", b"{}", b"\xff" * 100, b"\xe9\x00", b"N"])
def test_an_answer_that_was_spoilt_is_none(place: Place, spoilt: bytes) -> None:
    """It is judged anew, and kept anew."""
    first, _ = place.check("front.toml")
    (path,) = place.kept
    path.write_bytes(spoilt)
    assert (first, False) == place.check("front.toml")
    assert (first, True) == place.check("front.toml")


def test_where_nothing_can_be_kept_it_judges(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file where the folder should be, and a folder that is not named, are no mistakes."""
    (place.folder / "kept").write_text("a file")
    first, was_kept = place.check("front.toml")
    assert not was_kept
    assert (first, False) == place.check("front.toml")
    monkeypatch.setenv("ROWKEY_CACHE_DIR", "")
    assert (first, False) == place.check("front.toml")


def test_answers_are_told_apart_by_all_that_was_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other words, another folder and other code are another question."""
    place.check("front.toml")
    assert not place.check("front.toml", "--exit-zero")[1]
    assert not place.check("./front.toml")[1]
    with monkeypatch.context() as other:
        other.setattr(sys, "path", [*sys.path, "elsewhere"])
        assert not place.check("front.toml")[1]
    assert place.check("front.toml")[1]


@pytest.mark.parametrize(("cache", "folder"), [("xdg", "xdg"), ("", "home/.cache")])
def test_a_home_is_found_as_others_find_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, cache: str, folder: str
) -> None:
    """`XDG_CACHE_HOME`, and without it `.cache` at home."""
    monkeypatch.delenv("ROWKEY_CACHE_DIR")
    monkeypatch.setenv("HOME", str(place.folder / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", cache and str(place.folder / cache))
    place.check("logs.toml")
    assert 1 == len([*(place.folder / folder / "rowkey").iterdir()])


@pytest.mark.parametrize("cache", ["", "relative"])
def test_who_has_no_home_keeps_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    """An account of a container may have none; a relative folder would be another everywhere."""
    monkeypatch.delenv("ROWKEY_CACHE_DIR")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    before = {*place.folder.iterdir()}
    place.check("logs.toml")
    assert before == {*place.folder.iterdir()}


def test_where_others_offer_kinds_nothing_is_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What theirs look at is theirs."""
    monkeypatch.setattr("rowkey.kinds._points", lambda: ("one",))
    monkeypatch.setattr("rowkey.kinds._from_outside", lambda contract: ())
    place.check("front.toml")
    assert [] == place.kept


def test_old_answers_go_where_there_are_many(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older half of them; the new one is kept."""
    monkeypatch.setattr(kept, "MOST", 4)
    (place.folder / "kept").mkdir()
    for number in range(5):
        path = place.folder / "kept" / f"{number}.answer"
        path.write_bytes(b"")
        os.utime(path, (LONG_AGO_S + number,) * 2)
    others = {f"{number}.txt" for number in range(9)}
    for name in others:
        (place.folder / "kept" / name).touch()
    place.check("front.toml")
    left = {path.name for path in place.kept}
    assert others | {"2.answer", "3.answer", "4.answer"} < left
    assert len(others) + 4 == len(left)
