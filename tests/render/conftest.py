"""The comparison of the log designs, which the tests of this folder share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from render.reports import compare_logs
from rowkey.advise import judge_comparison

if TYPE_CHECKING:
    from rowkey.advise import Comparison, JudgedDesign

SHARING_FILES = {
    "test_compared.py",
    "test_fragments.py",
    "test_languages.py",
    "test_report.py",
    "test_report_browser.py",
}
"""Files whose tests run in one process, so that the designs are compared once."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests that share the comparison."""
    for item in items:
        if item.path.name in SHARING_FILES and item.path.parent.name == "render":
            item.add_marker(pytest.mark.xdist_group("render"))


@pytest.fixture(scope="session")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Three designs for one log, compared."""
    return compare_logs(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="session")
def logs(comparison: Comparison) -> list[JudgedDesign]:
    """The three designs, judged."""
    return judge_comparison(comparison)
