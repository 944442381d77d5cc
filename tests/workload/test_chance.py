"""Values of random types are spread evenly, so a good design is even without a sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rowkey.design import Design
from rowkey.hotspots import predict_causes
from rowkey.keys import TYPES, bind_key
from rowkey.simulate import run
from rowkey.workload import WorkloadGenerator, workload_generator

MANY = 4_096
STRETCHES = 16
UNLIKELY = 45.0
"""Of 15 degrees of freedom chance exceeds this once in 10,000 times."""
WORDS: dict[str, dict[str, Any]] = {"width": {"width": 8}, "of": {"of": ["a", "b"]}}


def build_field_options(name: str) -> Any:
    """Return the options of a field of a type, with those that the type requires."""
    words = {"type": name, "precision": 9} if name == "decimal" else {"type": name}
    for word in TYPES[name].required_options:
        words |= WORDS.get(word, {})
    return words


def list_random_types() -> list[str]:
    """Return the types whose values are generated at random, not in order."""
    found = []
    for name in TYPES:
        domain = bind_key("[id]", {"id": build_field_options(name)}).fields["id"].type.domain
        if domain.draw_value(min(domain.size, 4) - 1) != domain.generate_value(
            min(domain.size, 4) - 1
        ):
            found.append(name)
    return found


def locate_keys(name: str) -> Any:
    """Return the positions of the row keys of generated values, as numbers from 0 to 1."""
    key = bind_key("[id]", {"id": build_field_options(name)})
    domain = key.find_domain("id")
    drawn = domain.draw_values(np.arange(MANY))
    values = drawn if isinstance(drawn, list) else drawn.to_pylist()
    assert len(set(values)) == MANY
    held = [key.fields["id"].type.to_internal(value) for value in values]
    if isinstance(held[0], str):
        return np.array([int(text[:8], 16) for text in held]) / 2**32
    return np.array([int.from_bytes(piece[:4], "big") for piece in held]) / 2**32


def test_uuids_bytes_and_digests_are_random_types() -> None:
    """UUIDs, bytes and digests are random types; numbers and times are not."""
    assert {"uuid", "bytes", "hex"} <= set(list_random_types())
    assert not {"u64", "timestamp_ms", "digits", "text"} & set(list_random_types())


@pytest.mark.parametrize("name", list_random_types())
def test_generated_values_are_as_evenly_spread_as_random_bytes(name: str) -> None:
    """Generated values are spread over their range as evenly as random bytes."""
    found = locate_keys(name)
    low, high = (0.125, 0.25) if name == "ipv6" else (0.0, 1.0)
    counts, _ = np.histogram(found, bins=STRETCHES, range=(low, high))
    assert MANY == counts.sum()
    expected = MANY / STRETCHES
    assert 1 < ((counts - expected) ** 2 / expected).sum() < UNLIKELY


GOOD_DESIGNS: dict[str, tuple[str, Any, Any]] = {
    "uuid": ("[id][ts]", "uuid", "uniform"),
    "hex": ("[id][ts]", {"type": "hex", "width": 16}, "hex_string"),
    "digest": ("[id:bytes][ts]", {"type": "hex", "width": 32, "distinct": 100_000}, "uniform"),
    "bytes": ("[id:fixed(16)][ts]", {"type": "bytes", "distinct": 50_000}, "uniform"),
    "short": ("[id:fixed(3)][ts]", "bytes", "uniform"),
    "address": ("[id][ts]", "ipv4", "uniform"),
    "mirrored": ("[desc(id)][ts]", "uuid", "uniform"),
    "number": ("[reverse(id)][ts]", "u64", "uniform"),
    "bucket": ("[bucket(id, 16)][id][ts]", "u64", "uniform"),
}


def build_design(key: str, field: Any, algorithm: str, **writes: Any) -> Design:
    """Build a design with 8 servers and 16 regions."""
    return Design(
        "t",
        key,
        fields={"id": field, "ts": "timestamp_ms", "value": "u32"},
        splits="per_bucket" if "bucket" in key else {"algorithm": algorithm, "regions": 16},
        writes={"rate": "2000/s", "for": "12s", **writes},
    )


LONG_NAMES = {"hex", "bytes", "short", "mirrored", "number"}
"""Designs that only `make test-long` tries: their types and splits resemble those of others."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG_NAMES else ())
        for name in GOOD_DESIGNS
    ],
)
def test_check_and_simulate_find_no_cause_in_good_designs(name: str) -> None:
    """No cause is predicted for a good design, and none is found in its generated events."""
    made = build_design(*GOOD_DESIGNS[name])
    assert [] == predict_causes(made)
    found = run(made)
    assert ("even", []) == (found.verdict.level, list(found.causes))


def test_rising_uuids_are_a_front_in_check_and_simulate() -> None:
    """Rising UUIDs are reported as a front by check and by simulate."""
    made = build_design("[id][ts]", "uuid", "uniform", arrival="sequential")
    assert ["moving_front"] == [cause.code for cause in predict_causes(made)]
    drawn = [v for events in _make_events(made) for v in events.rows.column("id").to_pylist()]
    assert drawn == sorted(drawn)


@pytest.mark.parametrize(("rate", "is_front"), [("2000/s", False), ("5/s", True)])
def test_rising_numbers_that_wrap_within_seconds_are_no_front(rate: str, is_front: bool) -> None:
    """Rising numbers of a byte are a front unless all of them occur within ten seconds."""
    made = build_design("[id][ts]", "u8", "uniform", arrival="sequential", rate=rate)
    assert is_front == ("moving_front" in [cause.code for cause in predict_causes(made)])
    if not is_front:
        found = run(made)
        assert "even" == found.verdict.level
        assert "moving_front" not in [cause.code for cause in found.causes]


def _make_events(made: Design) -> Any:
    return WorkloadGenerator(
        made.writes, made.collect_needed_fields(), 0, made.key
    ).generate_events()


@pytest.mark.parametrize("distinct", [1, 7, 1_000, 2_500])
def test_only_the_declared_number_of_values_is_generated(
    monkeypatch: pytest.MonkeyPatch, distinct: int
) -> None:
    """Only declared values are generated, and all of them where there are at most 1,000."""
    monkeypatch.setattr(workload_generator, "MAX_LISTED_VALUES", 2_000)
    field = {"type": "uuid", "distinct": distinct}
    made = build_design("[id][ts]", field, "uniform", rate="100000/s", **{"for": "200ms"})
    drawn = {v for events in _make_events(made) for v in events.rows.column("id").to_pylist()}
    every = set(made.find_domain("id").draw_values(np.arange(distinct)).to_pylist())
    assert drawn <= every
    assert len(every) == distinct
    assert len(drawn) == distinct or distinct > 1_000


@pytest.mark.parametrize("type_", ["ipv4", "uuid", "text", "float64"])
def test_events_do_not_depend_on_whether_values_are_listed(
    monkeypatch: pytest.MonkeyPatch, type_: str
) -> None:
    """What is made once for all events is what each block of events would make for itself."""
    monkeypatch.setattr(workload_generator, "MAX_LISTED_VALUES", 100)
    field = {"type": type_, "distinct": 3_000}
    made = build_design("[id][ts]", field, "uniform", rate="20000/s", **{"for": "1s"})

    def list_drawn() -> list[Any]:
        return [v for events in _make_events(made) for v in events.rows.column("id").to_pylist()]

    listed = list_drawn()
    monkeypatch.setattr(workload_generator, "MAX_LONG_LIST", 100)
    assert listed == list_drawn()
