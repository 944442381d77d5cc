"""A search of the same design and events, with the same options, is done once for all commands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rowkey.advise import key_search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rowkey.advise import Advice
    from rowkey.design import Design
    from rowkey.simulate import EventSource


@pytest.fixture(scope="module", autouse=True)
def _search_once() -> Iterator[None]:
    """Remember what each search of the key search gave; `make test-long` searches every time.

    A command that asks for something else, such as fewer events, still searches for itself.
    """
    if os.environ.get("HYPOTHESIS_PROFILE") == "long":
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_search, "search_on_source", remember(key_search.search_on_source))
        yield


def remember(search: Callable[..., Advice]) -> Callable[..., Advice]:
    """Return a search that looks for an answer to the same question first."""
    answers: dict[tuple[object, ...], Advice] = {}

    def search_once(
        design: Design, source: EventSource, seed: int, *more: Any, **options: Any
    ) -> Advice:
        question = *identify_events(source), design.declaration.model_dump_json(), seed, *options
        if question not in answers:
            answers[question] = search(design, source, seed, *more, **options)
        return answers[question]

    return search_once


def identify_events(source: EventSource) -> tuple[object, ...]:
    """Return all that tells the events of a source from others."""
    events = pa.Table.from_batches([one.rows for one in source.stream()])
    described = source.origin, source.name, source.first_replayed, source.disorder
    return *described, source.has_all_fields, str(events.schema), str(events.to_pydict())
