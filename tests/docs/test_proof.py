"""The page of proofs is of the designs that are there, and says what was measured."""

from __future__ import annotations

import gzip
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tools import proof

from rowkey import Design
from rowkey.regions import Boundaries

if TYPE_CHECKING:
    from pathlib import Path

FOUND: dict[str, Any] = json.loads(proof.MEASURED.read_text(encoding="utf-8"))
ENOUGH = 10_000_000
"""Bytes from which indexes, filters and trailers of sixteen files are a small part of them."""


def test_the_page_is_drawn_from_what_was_measured() -> None:
    """`make proof` wrote both, and nobody has edited either since."""
    assert proof.page(FOUND) == proof.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "path"), proof.designs(), ids=lambda one: str(one)[-30:])
def test_each_design_is_proved_as_it_is(name: str, path: Path) -> None:
    """What was measured is of this very file, recording, encoder and HBase, and as predicted."""
    measured = FOUND["proofs"][name]
    stands_for = proof.fingerprint(path)
    assert stands_for == {word: measured.get(word) for word in stands_for}
    assert str(Design.read(path).key) == measured["key"]
    assert (0, 0, 0) == tuple(
        measured[word] for word in ("regions_apart", "regions_unknown", "servers_apart")
    )
    assert 20 * 16 == measured["regions"]
    for read in measured["reads"]:
        assert (10, 0, "") == (read["asked"], read["wrong"], read["why"])
        assert read["predicted"] <= read["counted"] <= read["most"]
        assert read["regions_predicted"] == read["regions_counted"]


def test_another_recording_or_another_encoder_is_another_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof is stale once the design, the data, or what is written of them has changed."""
    name, path = next(one for one in proof.designs() if one[0] == "apache/advised")
    design = Design.read(path)
    assert design.sample_path is not None
    data = tmp_path / design.sample_path.name
    data.write_bytes(design.sample_path.read_bytes())
    copy = tmp_path / path.name
    said = path.read_text(encoding="utf-8")
    declared = design.declaration.sample
    assert declared is not None
    copy.write_text(said.replace(declared.path, data.name), encoding="utf-8")
    measured = {**FOUND["proofs"][name], **proof.fingerprint(copy)}
    assert proof._stands(measured, copy)
    assert not proof._stands(None, copy)
    with monkeypatch.context() as patched:
        patched.setattr(proof, "_written", lambda *_: iter([(b"otherwise", [])]))
        assert not proof._stands(measured, copy)
    cut = SimpleNamespace(boundaries=Boundaries([b"elsewhere"]))
    with monkeypatch.context() as patched:
        patched.setattr(proof, "cut_by_source", lambda *_, **__: cut)
        assert not proof._stands(measured, copy)
    data.write_bytes(data.read_bytes() + gzip.compress(b""))
    assert not proof._stands(measured, copy)
    assert not proof._stands(measured, path)


def test_bytes_on_disk_are_as_predicted() -> None:
    """Within 3 %, where nothing is encoded and files are large enough not to be all index."""
    sizes = [measured["bytes"] for measured in FOUND["proofs"].values()]
    plain = [one for one in sizes if "NONE, NONE" == one["made"] and one["predicted"] > ENOUGH]
    assert len(plain) > 5
    apart = [one["on_disk"] / one["predicted"] - 1 for one in plain]
    assert [] == [one for one in apart if abs(one) > 0.03]
