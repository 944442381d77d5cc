from __future__ import annotations

import ast
import pickle
import re
import string
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rowkey
from render.reports import KEYS, LOGS, REDACTION
from rowkey.advise import judge_comparison
from rowkey.hotspots import CAUSES, WINDOW_WIDTHS_S
from rowkey.keys import TRANSFORMS, bind_key
from rowkey.lint import RULES
from rowkey.messages import Message
from rowkey.render import (
    LANGUAGES,
    Redaction,
    build_report_document,
    build_report_page,
)
from rowkey.render.languages import Translator
from rowkey.render.page.comparison_text import format_label
from rowkey.render.page.design_text import translate_cause
from rowkey.render.page.markup import render_macro

if TYPE_CHECKING:
    from rowkey.advise import Comparison, JudgedDesign

OTHER_LANGUAGES = [language for language in LANGUAGES if language != "en"]
SHIPPED_RULES = {rule.code for rule in RULES.values() if rule.__module__.startswith("rowkey.")}
"""Codes of the rules that come with the package; one from outside need not be translated."""


def find_placeholders(sentence: str) -> set[str]:
    """Return the names of the arguments that a sentence needs."""
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def find_messages() -> dict[str, str]:
    """Return the English sentence of every message of the package by its key."""
    sentences: dict[str, str] = {}
    for path in Path(rowkey.__path__[0]).rglob("*.py"):
        if path.name == "stored_messages.py":  # it has only messages of others, which were stored
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Message(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Message":
                key, sentence = (ast.literal_eval(argument) for argument in node.args)
                assert find_placeholders(sentence) == {one.arg for one in node.keywords}, key
                assert sentence == sentences.setdefault(key, sentence), f"{key} has two sentences"
    return sentences


def select_pages(language: str) -> dict[str, str]:
    """Return the sentences of reports by key, without those of rules and messages."""
    translator = Translator(language)
    others = ("messages.", "rules.", "remedies.")
    return {
        key: translator.translate(key)
        for key in translator.list_keys()
        if not key.startswith(others)
    }


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_all_languages_have_the_same_report_sentences(language: str) -> None:
    """Each language has every sentence of reports, with the same arguments as in English."""
    english, other = select_pages("en"), select_pages(language)
    assert english.keys() == other.keys()
    for key, sentence in english.items():
        assert find_placeholders(sentence) == find_placeholders(other[key]), key


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_every_message_is_translated_with_the_same_arguments(language: str) -> None:
    """Each message has a sentence in each language, with the same arguments, and no other has."""
    english, translator = find_messages(), Translator(language)
    other = translator.select_table("messages")
    assert english.keys() == other.keys()
    for key, sentence in english.items():
        assert find_placeholders(sentence) == find_placeholders(other[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_cause_of_hot_spots_is_translated(language: str) -> None:
    """Each cause of hot spots has a title, sentences and fixes in each language."""
    names = ("title", "message", "general", "remedy")
    expected = {f"causes.{cause}.{name}" for cause in CAUSES for name in names}
    assert set() == expected - select_pages(language).keys()


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
@pytest.mark.parametrize("table", ["rules", "remedies"])
def test_every_rule_is_translated(language: str, table: str) -> None:
    """Each rule of the package has a reason and a fix in each language, and no other has."""
    assert SHIPPED_RULES == Translator(language).select_table(table).keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_measure_of_a_comparison_is_translated(language: str, comparison: Comparison) -> None:
    """Each measure of a comparison has a name and a meaning in each language."""
    translator = Translator(language)
    names = translator.select_table("measure").keys()
    assert names == translator.select_table("means").keys()
    skews = {f"skew_{width}s" for width in WINDOW_WIDTHS_S}
    assert set() == {one.name for one in comparison.measures} - names - skews
    assert all(
        "{" not in format_label({"name": one.name}, translator) for one in comparison.measures
    )


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_what_a_transform_loses_of_a_field_is_translated(language: str) -> None:
    """The message on what a transform loses of a field exists in each language."""
    translator, losses = Translator(language), set()
    for plugin in TRANSFORMS.values():
        for vector in plugin.vectors:
            key = bind_key(vector.key, vector.fields)
            lost = [part.residue(name).description for part in key.parts for name in part.fields]
            losses |= {what for what in lost if what and plugin.__module__.startswith("rowkey.")}
    assert losses
    assert set() == {what for what in losses if translator.translate_message(what) == what}


def test_a_message_inside_a_message_is_translated() -> None:
    """An argument that is a message itself is translated with its sentence."""
    ends = Message("range.from", "from {low}", low="3")
    message = Message("range.within", "{shared}, {ends}", shared="host web-1", ends=ends)
    assert "host web-1, from 3" == message
    assert "host web-1，从 3 起" == Translator("zh").translate_message(message)


def test_text_that_is_no_message_is_shown_unchanged() -> None:
    """Plain text, and a message of another package, are shown as they are."""
    translate = Translator("zh").translate_message
    assert "the value" == translate("the value")
    assert "so it is" == translate(Message("other.package", "so it {verb}", verb="is"))


def test_a_pickled_message_is_translated() -> None:
    """A message from another process is translated as well."""
    message = Message("range.from", "from {low}", low="{3}")
    restored = pickle.loads(pickle.dumps(message))
    assert ("from {3}", "range.from", {"low": "{3}"}) == (
        restored,
        restored.key,
        restored.arguments,
    )


def test_a_cause_is_printed_in_chinese_with_its_figures(logs: list[JudgedDesign]) -> None:
    """A cause is described in Chinese with its figures."""
    causes = [c for one in build_report_document(logs, REDACTION)["designs"] for c in one["causes"]]
    assert causes
    for cause in causes:
        title, said, _ = translate_cause(cause, Translator("zh"))
        assert "{" not in said
        assert [] == [word for word in (title, said) if word.isascii()]


@pytest.mark.parametrize("code", CAUSES)
def test_a_cause_without_figures_is_printed_in_chinese_without_figures(code: str) -> None:
    """A cause without figures has a Chinese sentence without figures."""
    cause: dict[str, Any] = {
        "code": code, "bound": 2.0, "evidence": {},
        "message": "M.", "remedy": "R.",
    }  # fmt: skip
    assert [] == [word for word in translate_cause(cause, Translator("zh")) if word.isascii()]


def test_a_cause_of_a_plugin_package_keeps_its_own_sentences() -> None:
    """A cause without translation has its own sentences, or its name in redacted reports."""
    cause: dict[str, Any] = {
        "code": "own", "bound": 2.0, "evidence": {},
        "message": "So.", "remedy": "Do.",
    }  # fmt: skip
    assert ("own", "So.", "Do.") == translate_cause(cause, Translator("zh"))
    title, said, remedy = translate_cause(
        {**cause, "message": None, "remedy": None}, Translator("en")
    )
    assert ("own", "own", "Another key or other splits would help.") == (title, said, remedy)


def test_a_rule_of_a_plugin_package_is_marked_as_english() -> None:
    """A rule without translation is shown in English and marked as English."""
    finding: dict[str, Any] = {
        "code": "XX001", "name": "own", "severity": "warning", "line": 3, "path": "key",
        "message": "it is so", "remedy": "Do this.", "verdict": None,
    }  # fmt: skip
    told = render_macro("zh", "design.html", "finding_item", finding)
    assert Translator("zh")("findings.untold") in told
    assert '<div lang="en"><p>it is so.</p>' in told


class TranslatedText(HTMLParser):
    """Collects the texts of a page except code, scripts and texts marked as English."""

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
        """Leave an element."""
        self.inside.pop()

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if not self.inside[-1]:
            self.said.append(data)


def test_every_sentence_of_a_chinese_page_is_chinese(comparison: Comparison) -> None:
    """Every sentence of a Chinese page is Chinese, except those marked as English."""
    document = build_report_document(judge_comparison(comparison), Redaction(), comparison)
    own = LOGS + "".join(f"{key}{splits}" for key, splits in KEYS.values())
    words = set(re.findall(r"[a-z_]+", own)) | KEYS.keys()
    words |= {word for kind in RULES.values() for word in kind.name.split("_")}
    words |= {"rowkey", "csv", "corp", "example", "desc", "rk", "none", "row"}
    said = " ".join(TranslatedText(build_report_page(document, "zh")).said)
    left = re.findall(r"[a-z]{2,}(?: [a-z]{2,})+", said.lower())
    assert [] == [one for one in left if not set(one.split()) <= words]
