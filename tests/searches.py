"""A fixture by which the same search for a key is done once in the tests of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rowkey.advise import Advice
    from rowkey.design import Design
    from rowkey.simulate import EventSource


@pytest.fixture(scope="module")
def search_once() -> Iterator[None]:
    """Remember what each search for a key gave; `make test-long` searches every time.

    Searches by other events, of another design or with other options are made, as without this.
    """
    if os.environ.get("HYPOTHESIS_PROFILE") == "long":
        yield
        return
    from rowkey.advise import key_search

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_search, "search_on_source", remember(key_search.search_on_source))
        yield


def remember(search: Callable[..., Advice]) -> Callable[..., Advice]:
    """Return a search that looks for an answer to the same question first."""
    answers: dict[tuple[object, ...], Advice] = {}

    def search_once(
        design: Design, source: EventSource, seed: int, *more: Any, **options: Any
    ) -> Advice:
        asked = design.declaration.model_dump_json(), seed, *sorted(options.items())
        question = *identify_events(source), *asked
        if question not in answers:
            answers[question] = search(design, source, seed, *more, **options)
        return answers[question]

    return search_once


def identify_events(source: EventSource) -> tuple[object, ...]:
    """Return all that tells the events of a source from others."""
    import pyarrow as pa

    events = pa.Table.from_batches([one.rows for one in source.stream()])
    described = source.origin, source.name, source.first_replayed, source.disorder
    return *described, source.has_all_fields, str(events.schema), str(events.to_pydict())
