"""The page of proofs agrees with the designs and with the measurements."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tools import proof

from rowkey import Design
from rowkey.regions import Boundaries

RESULTS: dict[str, Any] = json.loads(proof.MEASURED.read_text(encoding="utf-8"))
LARGE = 400_000
"""Bytes from which a file's overhead is less than 3 %."""
ALLOWED_BYTES = 8_192
"""Bytes of index, Bloom filter and trailer that a smaller file may have."""


def test_the_proof_page_equals_what_make_proof_generates() -> None:
    """The page is what `make proof` generates from its results."""
    assert proof.build_page(RESULTS) == proof.PAGE.read_text(encoding="utf-8")


DESIGNS = list(proof.iter_designs())
SHORT = DESIGNS[:: 3 * (len(proof.KINDS) + 1)]
"""Proofs of two recordings, with two types of design."""


@pytest.mark.parametrize(
    ("name", "path"),
    [
        pytest.param(*one, marks=[pytest.mark.long] * (one not in SHORT), id=one[0])
        for one in DESIGNS
    ],
)
def test_each_proof_has_the_fingerprint_of_the_current_files(name: str, path: Path) -> None:
    """Each proof has the fingerprint of the current file, sample, encoder and HBase."""
    measured = RESULTS["proofs"][name]
    stands_for = proof.compute_fingerprint(path)
    assert stands_for == {word: measured.get(word) for word in stands_for}


@pytest.mark.parametrize(("name", "path"), DESIGNS, ids=lambda one: str(one)[-30:])
def test_each_proof_measured_the_current_design(name: str, path: Path) -> None:
    """Each proof has the current design and sample, and measured what was predicted."""
    measured = RESULTS["proofs"][name]
    data = Design.read(path).sample_path
    assert data is not None
    files = (measured["design"], measured["data"])
    assert files == (proof.hash_bytes(path.read_bytes()), proof.hash_bytes(data.read_bytes()))
    assert str(Design.read(path).key) == measured["key"]
    assert (0, 0, 0) == tuple(
        measured[word] for word in ("regions_apart", "regions_unknown", "servers_apart")
    )
    assert 20 * 16 == measured["regions"]
    for read in measured["reads"]:
        assert (10, 0, "") == (read["runs"], read["wrong"], read["reason"])
        assert read["predicted"] <= read["counted"] <= read["most"]
        assert read["regions_predicted"] == read["regions_counted"]


def test_a_proof_is_outdated_after_a_change_of_design_sample_or_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = next(one for one in proof.iter_designs() if one[0] == "apache/advised")
    design = Design.read(path)
    assert design.sample_path is not None
    data = tmp_path / design.sample_path.name
    lines = gzip.decompress(design.sample_path.read_bytes()).splitlines(keepends=True)
    data.write_bytes(gzip.compress(b"".join(lines[:2_000])))
    copy = tmp_path / path.name
    said = path.read_text(encoding="utf-8")
    declared = design.declaration.sample
    assert declared is not None
    assert declared.path is not None
    copy.write_text(said.replace(declared.path, data.name), encoding="utf-8")
    measured = {**RESULTS["proofs"][name], **proof.compute_fingerprint(copy)}
    assert proof.is_current(measured, proof.compute_fingerprint(copy))
    assert not proof.is_current(None, proof.compute_fingerprint(copy))
    with monkeypatch.context() as patched:
        patched.setattr(proof, "_iter_first_rows", lambda *_: iter([(b"otherwise", [])]))
        assert not proof.is_current(measured, proof.compute_fingerprint(copy))
    cut = SimpleNamespace(boundaries=Boundaries([b"elsewhere"]))
    with monkeypatch.context() as patched:
        patched.setattr(proof, "choose_source_splits", lambda *_, **__: cut)
        assert not proof.is_current(measured, proof.compute_fingerprint(copy))
    data.write_bytes(data.read_bytes() + gzip.compress(b""))
    assert not proof.is_current(measured, proof.compute_fingerprint(copy))
    assert not proof.is_current(measured, proof.compute_fingerprint(path))


def test_bytes_on_disk_are_within_3_percent_of_the_prediction() -> None:
    """Bytes of large files are within 3 % of the prediction, small ones are on the page."""
    page = " ".join(proof.PAGE.read_text(encoding="utf-8").split())
    sizes = {name: measured["bytes"] for name, measured in RESULTS["proofs"].items()}
    plain = {name: one for name, one in sizes.items() if "NONE, NONE" == one["encoding"]}
    assert 12 == len(plain)
    small = {name for name, one in plain.items() if one["on_disk"] < LARGE * one["files"]}
    missed = {name: one["on_disk"] / one["predicted"] - 1 for name, one in plain.items()}
    missed = {name: apart for name, apart in missed.items() if abs(apart) > 0.03}
    assert small == set(missed)
    assert f"Missed by {len(missed)} of 12: " in page
    for name, apart in missed.items():
        one = plain[name]
        assert 0 < apart * one["predicted"] < 0.03 * one["predicted"] + ALLOWED_BYTES * one["files"]
        recording, kind = name.split("/")
        assert f"{recording}, {proof.KINDS[kind]}: {100 * apart:+.1f} %" in page
    assert len(missed) == page.count(" %, missed |")


def test_the_proof_page_has_the_number_of_nonzero_counts() -> None:
    """The page has the number of nonzero counts of each proof: 20 of a time-first key."""
    lines = proof.PAGE.read_text(encoding="utf-8").splitlines()
    told = {}
    for line in lines[: lines.index("## Reads")]:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 9 and cells[0] in proof.RECORDINGS:
            told[cells[0], cells[1]] = int(cells[4])
    assert 16 == len(told)
    assert {20} == {many for (_, kind), many in told.items() if "time first" == kind}
    assert (20, 160) == tuple(told[one, "key of the guides"] for one in ("flights", "nab"))
    assert {320} == {many for (_, kind), many in told.items() if kind in ("ours", "hashed bucket")}
    for _, path in proof.iter_designs():
        assert 1 == len(Design.read(path).families), "a file is a region"
