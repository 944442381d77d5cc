"""The plugin that starts the Java oracles, and how many examples each property is tried with."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Tests start the command some hundred times: what Python compiles for it is kept, whatever a shell
# says that is set up for programs which start once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

pytest_plugins = ["oracles.plugin", "cluster.plugin", "catalog.plugin"]

_SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
# `make test` tries the same cases on every machine, so that it fails for what was changed and for
# nothing else; `make test-long` draws new ones each time.
settings.register_profile(
    "test", max_examples=16, derandomize=True, deadline=None, suppress_health_check=_SLOW
)
settings.register_profile("long", max_examples=600, deadline=None, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


def pytest_configure() -> None:
    """Lets tests interrupt what they start, also where a shell runs all this in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says which recordings were not there to be loaded: a skip is easily missed."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = [place[2] for place in skipped if isinstance(place, tuple)]
    left_out = sorted({one.removeprefix("Skipped: ") for one in reasons if "NOT LOADED" in one})
    if left_out:
        terminalreporter.write_sep("!", "RECORDINGS LEFT OUT", red=True, bold=True)
        for reason in left_out:
            terminalreporter.write_line(reason, red=True, bold=True)
