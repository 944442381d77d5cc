"""Figures of long tests for the page on reliability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).parents[2] / "build" / "reliability"
"""`tools/reliability.py` makes `docs/reliability.md` of them."""


def record(name: str, figures: Any) -> None:
    """Store the figures of one test, in place of those of its previous run."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    path = FIGURES / f"{name.replace(' ', '-')}.json"
    path.write_text(json.dumps({"name": name, "figures": figures}, indent=1) + "\n", "utf-8")
