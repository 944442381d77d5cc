"""Counts and lists of plugins in written pages are those of the plugin folders."""

from __future__ import annotations

import re

import pytest

from docs.blocks import ROOT
from rowkey.lint import RULES
from rowkey.workload import FORMATS

CHINESE_WORDS = {"columns": "空白分隔的列", "log": "日志"}
"""How the Chinese page names formats whose names are English words."""
_FORMAT_LIST = re.compile(r"CSV[,、][^.。):]*JSON[^.。):]*")


def test_the_readme_has_the_number_of_rules() -> None:
    (count,) = re.findall(r"applies (\d+) rules", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(RULES) == int(count)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/guides/samples-and-workloads.md",
        "docs/guides/the-portal.md",
        "docs/reference/cli.md",
        "docs/tutorial.md",
        "docs/zh.md",
    ],
)
def test_each_list_of_sample_formats_names_every_format(page: str) -> None:
    lists = _FORMAT_LIST.findall((ROOT / page).read_text(encoding="utf-8"))
    assert lists, "the page has a list of formats"
    words = CHINESE_WORDS if page == "docs/zh.md" else {}
    for one in lists:
        text = " ".join(one.lower().split())
        names = {name: words.get(name, name.replace("_", " ")) for name in FORMATS}
        assert [] == [name for name, word in names.items() if word not in text]
