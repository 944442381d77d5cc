"""Fixtures for the Java oracle: one JVM per session, and a loud notice where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from oracles.build import OracleUnavailable, build_command
from oracles.java import JavaOracle

REQUIRED = "ROWKEY_REQUIRE_HBASE"
LEFT_OUT = "NOT COMPARED WITH THE REAL PROGRAM"


@pytest.fixture(scope="session")
def hbase_oracle() -> Iterator[JavaOracle]:
    """HBase's own classes; the test is skipped where they cannot be built.

    With ROWKEY_REQUIRE_HBASE=1 in the environment their absence fails the test instead.
    """
    try:
        start = build_command()
    except OracleUnavailable as absent:
        give_up(str(absent))
    with JavaOracle(start) as oracle:
        yield oracle


def give_up(why: str) -> NoReturn:
    """Skip the test that needs a program such as Java, or fail it where that is required."""
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(f"{REQUIRED}=1, but {why}", pytrace=False)
    pytest.skip(f"{LEFT_OUT}: {why}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print in capitals how many tests were skipped and why, since a skip is easily missed."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = [place[2].removeprefix("Skipped: ") for place in skipped if isinstance(place, tuple)]
    if reasons:
        terminalreporter.write_sep("!", f"TESTS LEFT OUT: {len(reasons)}", red=True, bold=True)
        for why in sorted(set(reasons)):
            terminalreporter.write_line(why.upper(), red=True, bold=True)
    if any(LEFT_OUT in why for why in reasons):
        terminalreporter.write_line(f"{REQUIRED}=1 makes this a failure.")
