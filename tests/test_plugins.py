"""Plugins are found by name, and looking one up again costs a dictionary lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rowkey import plugins, regions

if TYPE_CHECKING:
    import pytest


def test_a_second_lookup_searches_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Designs look up their split algorithm for each read that is measured."""
    first = regions.SPLIT_ALGORITHMS["sample"]
    monkeypatch.delattr(plugins, "getmembers")
    assert first is regions.SPLIT_ALGORITHMS["sample"]
