"""The sentences of the portal: each is used, and each action of the audit log has one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rowkey.render import LANGUAGES, Translator

PORTAL = Path(str(files("rowkey.portal")))
SENTENCES = Path(str(files("rowkey.render"))) / "languages" / "en.toml"
ACTION = re.compile(r'note_action\(\s*"([^"]+)"')
KEY = re.compile(r'"(portal\.[\w.]*)')
COMPUTED_KEY = re.compile(r'"(portal\.[\w.]*[._])["{]')
TABLE = re.compile(r'select_table\("(portal\.[\w.]*)"')


def read_sources() -> str:
    """Return the text of all modules and templates of the portal."""
    paths = [*PORTAL.rglob("*.py"), *PORTAL.rglob("*.html")]
    return "\n".join(path.read_text("utf-8") for path in paths)


def list_keys(tree: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the dotted keys of all sentences."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from list_keys(value, f"{path}{name}.")
        else:
            yield f"{path}{name}"


def test_every_portal_sentence_is_used() -> None:
    """A sentence that no module and no template names, not even by its beginning, is left over."""
    sources = read_sources()
    keys = list_keys(tomllib.loads(SENTENCES.read_text("utf-8")))
    own = {key for key in keys if key.startswith("portal.")}
    assert len(own) > 100
    beginnings = (*COMPUTED_KEY.findall(sources), *(f"{one}." for one in TABLE.findall(sources)))
    unused = own - set(KEY.findall(sources))
    assert [] == sorted(one for one in unused if not one.startswith(beginnings))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_audited_action_has_a_label_in_each_language(language: str) -> None:
    """The page of the audit log names what users do in their language."""
    actions = {one.replace(" ", "_") for one in ACTION.findall(read_sources())}
    assert {"log_in", "save_design"} < actions
    sentences = Translator(language)
    kinds = {one: (f"portal.action.{one}", f"portal.step.{one}") for one in sorted(actions)}
    assert [] == [one for one, keys in kinds.items() if not any(key in sentences for key in keys)]
