"""How many examples a property is tried with that needs fewer than others."""

from __future__ import annotations

import os

from hypothesis import settings

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def divide_examples(quick: int, long: int = 1) -> settings:
    """Return settings with a part of the examples of the profile.

    Args:
        quick: by which `make test` divides their number.
        long: by which `make test-long` does.
    """
    return settings(max_examples=max(settings().max_examples // (long if IS_LONG else quick), 1))
