"""How much of a large test `make test` runs: fewer examples of a property, some of many cases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import settings

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def divide_examples(quick: int, long: int = 1) -> settings:
    """Return settings with a part of the examples of the profile.

    Args:
        quick: by which `make test` divides their number.
        long: by which `make test-long` does.
    """
    return settings(max_examples=max(settings().max_examples // (long if IS_LONG else quick), 1))


def thin_out(cases: Iterable[Any], step: int) -> list[Any]:
    """Return cases as parameters: `make test` takes each `step`th, `make test-long` all."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if number % step == 0 else pytest.mark.long,
        )
        for number, case in enumerate(cases)
    ]


def cover_each(*lists: Sequence[Any], rounds: int = 1) -> list[Any]:
    """Return all combinations of values, of which `make test` takes some with each value in them.

    Args:
        lists: the values of each parameter.
        rounds: how often `make test` takes each value of the longest list.
    """
    longest = max(map(len, lists))
    quick = {
        tuple((n + place * (n // len(one))) % len(one) for place, one in enumerate(lists))
        for n in range(rounds * longest)
    }
    return [
        pytest.param(
            *(one[n] for one, n in zip(lists, numbers, strict=True)),
            marks=() if numbers in quick else pytest.mark.long,
        )
        for numbers in product(*(range(len(one)) for one in lists))
    ]
