"""All figures of one output about one thing are equal, over designs, samples and what is declared.

The texts and the JSON documents of `check`, `simulate`, `compare` and `advise` are read, and each
figure that they name of the load, the servers or the bytes of a design is compared with the others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

from example_counts import cover_each
from rowkey.advise import JudgedDesign, compare_designs, search
from rowkey.design import Design
from rowkey.hotspots import WARM_RATIO
from rowkey.render import (
    build_advice_document,
    build_comparison_document,
    build_findings_document,
    build_simulation_document,
)

EVENTS, START = 2_400, 1_700_000_040
KEYS: dict[str, Any] = {
    "[user][desc(at)][n]": {"algorithm": "sample", "regions": 8},
    "[bucket(user, 8)][user][at][n]": "per_bucket",
    "[bucket(at, 8)][at][user][n]": "per_bucket",
    "[at][user][n]": [],
}
"""Keys, and how their tables are split."""
USERS: dict[str, Callable[[int, random.Random], int]] = {
    "many users": lambda n, chance: chance.randrange(2_000),
    "one heavy user": lambda n, chance: 0 if chance.random() < 0.4 else chance.randrange(2_000),
    "a few users": lambda n, chance: int(12 * chance.random() ** 2),
    "others later": lambda n, chance: int(12 * chance.random()) + 200 * (n > EVENTS // 2),
}
"""Who writes the events of a sample."""
SECONDS: dict[str, Callable[[int], float]] = {
    "steady": lambda n: n / 2,
    "a busy minute": lambda n: n % 60 if n % 3 else n / 2,
    "ten seconds": lambda n: 10 * n / EVENTS,
}
"""When they come."""
WRITES: dict[str, dict[str, Any]] = {
    "no rate": {},
    "few": {"rate": "2/s"},
    "many": {"rate": "24000/s"},
    "more users": {"rate": "24000/s", "grows": "entities"},
    "busier users": {"rate": "24000/s", "grows": "rows"},
}
"""What is declared of the writes."""

pytestmark = [
    pytest.mark.usefixtures("search_once"),
    pytest.mark.xdist_group("one figure"),  # the answers to one case are shared
]
cases = pytest.mark.parametrize(
    ("key", "users", "seconds", "writes"),
    [
        one
        for number, one in enumerate(cover_each([*KEYS], [*USERS], [*SECONDS], [*WRITES]))
        if not one.marks or number % 8 == 0
    ],
)


@cache
def build_events(users: str, seconds: str) -> pa.Table:
    """Return the events of a sample, in the order of time."""
    chance = random.Random(7)
    times = sorted(SECONDS[seconds](n) for n in range(EVENTS))
    return pa.table(
        {
            "at": pa.array([round(1_000 * (START + one)) for one in times], pa.int64()),
            "user": [f"user{USERS[users](n, chance)}" for n in range(EVENTS)],
            "n": pa.array(range(EVENTS), pa.uint32()),
            "text": [f"{'words ' * (n % 9)}" for n in range(EVENTS)],
        }
    )


def build_design(key: str, writes: str, **options: Any) -> Design:
    """Return a design with a key, on four servers."""
    text = {"type": "text", "max_bytes": 60}
    return Design(
        "posts",
        key,
        fields={"at": "timestamp_ms", "user": text, "n": "u32", "text": text},
        splits=KEYS[key],
        cluster={"servers": 4},
        families={"d": {"ttl": "30d", "compression": "ZSTD"}},
        writes={"time": "at", **WRITES[writes]},
        reads=[
            {"name": "user", "where": "user = ?", "limit": 20, "rate": "50/s"},
            {"name": "second", "where": "at >= ? and at < ?", "span": "1s", "rate": "0.1/s"},
        ],
        **options,
    )


@cache
def judge(key: str, users: str, seconds: str, writes: str) -> dict[str, Any]:
    """Return what `check` and `simulate` print of a design, as JSON documents."""
    judged = JudgedDesign(build_design(key, writes), build_events(users, seconds), names_keys=True)
    return {**build_findings_document(judged.lint_result), **build_simulation_document(judged)}


@cache
def compare(key: str, users: str, seconds: str, writes: str) -> dict[str, Any]:
    """Return what `compare` prints of a design next to one with another key."""
    keys = [*KEYS]
    others = key, keys[keys.index(key) - 1]
    designs = [build_design(one, writes) for one in others]
    return build_comparison_document(compare_designs(designs, build_events(users, seconds)))


@cache
def advise(key: str, users: str, seconds: str, writes: str) -> Any:
    """Return the advice on a design."""
    return search(build_design(key, writes), build_events(users, seconds))


def list_texts(document: Any) -> Iterator[str]:
    """Yield all texts of a document."""
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for one in document.values():
            yield from list_texts(one)
    elif isinstance(document, list):
        for one in document:
            yield from list_texts(one)


def find_all(pattern: str, document: Any) -> set[str]:
    """Return what the first group of a pattern matches in any text of a document."""
    return {found for text in list_texts(document) for found in re.findall(pattern, text)}


def list_judged(*case: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the document of each judged design, in all commands, and which events were replayed."""
    advice, compared, judged = advise(*case), compare(*case), judge(*case)
    advised = build_advice_document(advice)
    yield judged, name_replay(judged["source"]["first"])
    for one in compared["designs"]:
        yield one, name_replay(compared["sample"]["first"])
    for one in (advised["declared"], *advised["picks"], *advised["tables"]):
        yield one, name_replay(advice.declared.simulation.source.first_replayed)


def name_replay(first: int) -> str:
    """Return what a remedy calls a replay from an event on."""
    return f"a replay of {'the second half of the' if first else 'all'} events"


@cases
def test_a_remedy_names_the_same_load_as_the_verdict(
    *, key: str, users: str, seconds: str, writes: str
) -> None:
    """What the busiest server takes now is in a remedy what it is in the verdict of a replay."""
    for document, replay in list_judged(key, users, seconds, writes):
        present = f"{max(document['writes']['skew'], 1):.2f}"
        assert find_all(f"{replay} the busiest server .* now ([\\d.]+)×", document) <= {present}
        (assessment,) = (
            one for one in document["verdict"]["assessments"] if one["topic"] == "writes"
        )
        skews = find_all(r"servers takes ([\d.]+)× its fair share \(an", assessment["message"])
        assert skews == {f"{document['writes']['skew']:.2f}"}


@cases
def test_advised_designs_have_the_figures_of_a_simulation(
    *, key: str, users: str, seconds: str, writes: str
) -> None:
    """The declared design and each proposed one are judged as `simulate` judges them."""
    advice = advise(key, users, seconds, writes)
    judged = [advice.declared, *advice.tables, *(pick.judged for pick in advice.picks)]
    is_half = any(one.design.splits.needs_sample for one in judged)
    for one in judged:
        alone = JudgedDesign(one.design, build_events(users, seconds), second_half=is_half)
        assert alone.simulation.verdict == one.simulation.verdict
        assert alone.verdict.grade == one.verdict.grade
        costs = {cost.name: cost for cost in alone.simulation.reads}
        for cost in one.simulation.reads:
            own = costs[cost.name]
            assert (own.fan_out, own.regions) == (cost.fan_out, cost.regions)
            assert (own.read_rows, own.returned_rows) == (cost.read_rows, cost.returned_rows)


@cases
def test_compared_skews_are_those_that_the_verdicts_name(
    *, key: str, users: str, seconds: str, writes: str
) -> None:
    """The skew in the windows of a verdict is the one that the verdict names."""
    compared = compare(key, users, seconds, writes)
    measures = {one["name"]: one["figures"] for one in compared["measures"]}
    for design in compared["designs"]:
        width = design["writes"]["width_s"]
        figure = measures["skew_equal" if width is None else f"skew_{width}s"][design["label"]]
        if "windows" in design["writes"]["basis"]:
            assert pytest.approx(figure["value"]) == design["writes"]["skew"]


@cases
def test_few_events_are_not_called_even(*, key: str, users: str, seconds: str, writes: str) -> None:
    """Where a few events are too few to tell, the verdict says so and not that they are even."""
    for document, _ in list_judged(key, users, seconds, writes):
        skew, even = document["writes"]["skew"], document["writes"]["even_skew"]
        if skew > WARM_RATIO * even:
            assert not find_all("(writes: even|^even, the busiest)", document)


@cases
def test_each_remedy_by_more_servers_names_the_needed_number(
    *, key: str, users: str, seconds: str, writes: str
) -> None:
    """Each remedy by more servers names as many as the design needs by its resources."""
    compared, alone = compare(key, users, seconds, writes), judge(key, users, seconds, writes)
    figures: dict[str, Any] = next(
        (one["figures"] for one in compared["measures"] if one["name"] == "servers"), {}
    )
    needed = {label: figure["value"] for label, figure in figures.items()}
    judged = [(one, needed.get(one["label"])) for one in compared["designs"]]
    if compared["sample"]["first"] == alone["source"]["first"]:
        judged.append((alone, needed.get("A")))
    advised = build_advice_document(advise(key, users, seconds, writes))
    judged += [
        (one, one["resources"]["servers"]["value"])
        for one in (advised["declared"], *advised["picks"])
    ]
    for document, count in judged:
        named = find_all(r"Use ([\d,]+) servers", document)
        assert len(named) <= 1
        if count is not None:
            assert named <= {f"{count:,.0f}"}
