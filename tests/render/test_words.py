from __future__ import annotations

import re
import string
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from render.reports import HIDING, KEYS, LOGS, compare_logs, read_logs
from rowkey.heat import CAUSES, WIDTHS_S
from rowkey.keys import TRANSFORMS, bind_key
from rowkey.lint import RULES
from rowkey.render import (
    LANGUAGES,
    Redaction,
    judged_together,
    report_document,
    report_page,
)
from rowkey.render.page.compared import label_of
from rowkey.render.page.sections import cause_words, finding_item
from rowkey.render.page.words import Words

if TYPE_CHECKING:
    from rowkey.advise import Comparison
    from rowkey.render import Judged

OTHERS = [language for language in LANGUAGES if language != "en"]
SHIPPED = {kind.code for kind in RULES.values() if kind.__module__.startswith("rowkey.")}
"""Codes of the rules that come with the package; one from outside need not be translated."""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    """Three designs for one log."""
    return read_logs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """The same, compared."""
    return compare_logs(tmp_path_factory.mktemp("compared"))


def placeholders(said: str) -> set[str]:
    """The names between the braces of some words."""
    return {name for _, name, _, _ in string.Formatter().parse(said) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_are_complete(language: str) -> None:
    """Each language says all that English says, with the same values in it."""
    english, other = Words("en").all, Words(language).all
    assert english.keys() == other.keys()
    for name, said in english.items():
        assert placeholders(said) == placeholders(other[name]), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cause_is_told(language: str) -> None:
    """Each cause of heat has a title, sentences and remedies in each language."""
    whats = ("title", "said", "general", "remedy", "bare")
    wanted = {f"causes.{name}.{what}" for name in CAUSES for what in whats}
    assert set() == wanted - Words(language).all.keys()


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("table", ["rules", "remedies"])
def test_every_rule_is_told(language: str, table: str) -> None:
    """Each rule of the package has a sentence and a remedy in each language, and no other has."""
    assert {f"{table}.{code}" for code in SHIPPED} == set(Words(language).names(f"{table}."))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_measure_is_told(language: str, compared: Comparison) -> None:
    """Each measure of a comparison has a name and a meaning in each language."""
    words = Words(language)
    told = {name.removeprefix("measure.") for name in words.names("measure.")}
    assert told == {name.removeprefix("means.") for name in words.names("means.")}
    timed = {f"skew_{width}s" for width in WIDTHS_S}
    assert set() == {one.name for one in compared.measures} - told - timed
    assert all("{" not in label_of({"name": one.name}, words) for one in compared.measures)


@pytest.mark.parametrize("language", OTHERS)
def test_what_a_key_loses_is_told(language: str) -> None:
    """What the transforms of the package lose of a field has a phrase in each language."""
    words, told = Words(language), set()
    for kind in TRANSFORMS.values():
        for vector in kind.vectors:
            key = bind_key(vector.key, vector.fields)
            lost = [part.residue(name).what for part in key.parts for name in part.fields]
            told |= {what for what in lost if what and kind.__module__.startswith("rowkey.")}
    assert told
    assert set() == {what for what in told if words.phrase(what) == what}


def test_a_phrase_that_is_not_known_stands_as_it_is() -> None:
    """What another room says, and no language knows, is told in English."""
    assert "the value of x" == Words("zh").phrase("the value of x")


def test_causes_are_told_in_chinese(logs: list[Judged]) -> None:
    """A cause that was found is told in the page's language with its figures put in."""
    causes = [c for one in report_document(logs, HIDING)["designs"] for c in one["causes"]]
    assert causes
    for cause in causes:
        title, said, _ = cause_words(cause, Words("zh"))
        assert "{" not in said
        assert [] == [word for word in (title, said) if word.isascii()]


@pytest.mark.parametrize("code", CAUSES)
def test_a_cause_without_figures_is_told_in_chinese(code: str) -> None:
    """Where an evidence lacks the figures of its sentence, there is one without."""
    cause: dict[str, Any] = {
        "code": code, "bound": 2.0, "figures": {}, "notation": "", "message": "M.", "remedy": "R.",
    }  # fmt: skip
    assert [] == [word for word in cause_words(cause, Words("zh")) if word.isascii()]


def test_a_cause_of_another_package_is_told_as_it_stands() -> None:
    """A cause that no language knows has its own sentences, or its name where they are hidden."""
    cause: dict[str, Any] = {
        "code": "own", "bound": 2.0, "figures": {}, "notation": "",
        "message": "So.", "remedy": "Do.",
    }  # fmt: skip
    assert ("own", "So.", "Do.") == cause_words(cause, Words("zh"))
    title, said, remedy = cause_words({**cause, "message": "", "remedy": ""}, Words("en"))
    assert ("own", "own", "Another key or other splits would help.") == (title, said, remedy)


def test_a_rule_of_another_package_is_told_in_english_and_says_so() -> None:
    """Of a rule that a language does not know the page shows the English, and that it is that."""
    finding: dict[str, Any] = {
        "code": "XX001", "name": "own", "severity": "warning", "line": 3, "path": "key",
        "what": "it is so", "remedy": "Do this.", "verdict": "", "is_general": False,
    }  # fmt: skip
    told = finding_item(finding, Words("zh"))
    assert Words("zh")("findings.untold") in told
    assert '<div lang="en"><p>it is so.</p>' in told


class Shown(HTMLParser):
    """The texts of a page that are told in its own language: no code, no English, no program."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inside = [False]
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Go into an element."""
        if tag not in ("meta", "input", "img"):
            apart = tag in ("code", "script", "style") or ("lang", "en") in attrs
            self.inside.append(apart or self.inside[-1])

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        self.inside.pop()

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if not self.inside[-1]:
            self.said.append(data)


def test_no_english_is_left_in_a_chinese_page(compared: Comparison) -> None:
    """Every sentence of a Chinese page is Chinese, but for what is marked to be English."""
    document = report_document(judged_together(compared), Redaction(), compared)
    own = LOGS + "".join(f"{key}{splits}" for key, splits in KEYS.values())
    words = set(re.findall(r"[a-z_]+", own)) | KEYS.keys()
    words |= {word for kind in RULES.values() for word in kind.name.split("_")}
    words |= {"rowkey", "csv", "corp", "example", "desc", "rk", "none", "row"}
    said = " ".join(Shown(report_page(document, "zh")).said)
    left = re.findall(r"[a-z]{2,}(?: [a-z]{2,})+", said.lower())
    assert [] == [one for one in left if not set(one.split()) <= words]
