"""Fixtures that every folder of tests may take."""

from __future__ import annotations

pytest_plugins = ["oracles.plugin"]
