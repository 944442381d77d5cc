"""A running table and a proof, as JSON documents and as text."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from observe.test_prover import prove_recording
from observe.test_table_watch import Writer, open_table, pick_even_host, pick_skewed_host
from rowkey.observe import LoadBalance, Proof, SizeProof
from rowkey.render import (
    LIVE_FIELDS,
    PROOF_FIELDS,
    build_live_document,
    build_proof_document,
    list_paths,
    print_live,
    print_proof,
)


def print_lines(show: Callable[[Any, Console], None], found: Any, width: int = 100) -> list[str]:
    """Return the lines that a terminal of a width shows, without colours."""
    stream = io.StringIO()
    show(found, Console(file=stream, width=width, force_terminal=False, highlight=False))
    return stream.getvalue().splitlines()


def list_field_paths(document: Any) -> set[str]:
    """Return the paths of a document, with one path for all names below `evidence`."""
    return {re.sub(r"evidence\..*", "evidence.*", path) for path in list_paths(document)}


def test_the_json_of_a_watched_table_has_exactly_the_documented_fields() -> None:
    """The document of a hot table has exactly the fields of the reference."""
    with open_table("memory:told", "[bucket(host, 16)][host][ts]", splits="per_bucket") as table:
        seen = Writer(table, pick_skewed_host).watched(4, "memory:told")
    document = build_live_document(seen[-1])
    assert set(LIVE_FIELDS) - {"remarks[]"} == list_field_paths(document) - {"remarks[]"}
    assert ("hot", 3, "logs") == (
        document["writes"]["level"],
        document["intervals"],
        document["table"],
    )
    assert [] == build_live_document(seen[0])["regions"]
    assert 500.0 == sum(region["writes_per_s"] for region in document["regions"])
    assert 500.0 == sum(server["writes_per_s"] for server in document["servers"])


@pytest.mark.parametrize(
    ("level", "words"), [("idle", "IDLE"), ("thin", "TOO FEW"), ("unknown", "NOT KNOWN")]
)
def test_the_text_names_a_level_without_figures_by_words(level: str, words: str) -> None:
    """The text has the words of the portal in capitals, and not the name in the document."""
    with open_table("memory:named", "[bucket(host, 16)][host][ts]", splits="per_bucket") as table:
        live = Writer(table, pick_skewed_host).watched(2, "memory:named")[-1]
    found = replace(live, writes=LoadBalance(level, 0, 8, reason="why"))
    assert f"writes {words}: why" in print_lines(print_live, found)


def test_the_text_of_a_hot_table_says_how_hot_why_and_where() -> None:
    """The text says how hot, why and where; lines fit, and an unknown rate is a question mark."""
    with open_table("memory:shown", "[bucket(host, 16)][host][ts]", splits="per_bucket") as table:
        writer = Writer(table, pick_skewed_host)
        writer.happens[3] = lambda: table.store.split(b"\x05m")
        seen = writer.watched(5, "memory:shown")
    for width in (60, 100):
        lines = print_lines(print_live, seen[-1], width)
        assert max(map(len, lines)) <= width
    assert lines[0].startswith("logs  [bucket(host, 16)][host][ts]  20")
    assert lines[1].startswith("writes HOT: ")
    text = "\n".join(lines)
    assert "host web-7 takes" in text.replace("\n    ", " ")
    assert "[hot_entity]" in text
    split = print_lines(print_live, seen[2])
    assert any(line.rstrip().endswith("?") for line in split)
    assert any("created by a split" in line for line in split)


def test_regions_of_a_table_without_a_design_are_shown_in_bytes() -> None:
    with open_table(
        "memory:bytes", "[bucket(host, ts, 16)][host][ts]", splits="per_bucket"
    ) as table:
        table.store.replace_attributes({})
        table.catalog.remove("logs")
        seen = Writer(table, pick_even_host).watched(3, "memory:bytes")[-1]
    assert None is build_live_document(seen)["key"]
    lines = print_lines(print_live, seen)
    assert lines[0].startswith("logs  unknown key")
    assert any(r"\x0F" in line for line in lines)


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> Proof:
    """The proof of a design in memory."""
    return prove_recording("nab", "memory:proof", tmp_path_factory.mktemp("proof"), rows=600)


def test_the_json_of_a_proof_has_exactly_the_documented_fields(proof: Proof) -> None:
    """The documents of proofs on a cluster and in memory have the fields of the reference."""
    document = build_proof_document(replace(proof, size=SizeProof(1_000, 900, 50, is_plain=False)))
    told = set(list_paths(document)) | {"size", "remarks[]", "not_compared[]"}
    assert set(PROOF_FIELDS) == told
    assert (True, 0, 0) == (document["exact"], document["difference"], document["unknown"])
    assert ("exact", []) == (document["verdict"], document["not_compared"])
    assert None is build_proof_document(proof)["size"]


def test_the_text_of_a_proof_says_whether_it_is_exact(proof: Proof) -> None:
    """The text says whether the proof is exact, and lists regions and reads."""
    lines = print_lines(print_proof, proof)
    assert lines[1].startswith(
        "EXACT: 300 writes in 5 phases; predicted and counted writes differ by 0"
    )
    assert any(line.startswith("read one sensor: run 10 times, 10 ranges;") for line in lines)
    regions = [line.split(maxsplit=3) for line in lines[4:20]]
    assert 300 == sum(int(predicted) for predicted, *_ in regions)
    assert {"0"} == {apart for _, _, apart, _ in regions}


def test_a_difference_in_bytes_is_shown_if_megabytes_would_hide_it(proof: Proof) -> None:
    """The difference of the bytes is shown where megabytes do not round it away."""
    shown = [
        next(
            line
            for line in print_lines(print_proof, replace(proof, size=size), 200)
            if line.startswith("bytes: ")
        )
        for size in (
            SizeProof(1_000_000, 1_021_000, 0, is_plain=True),
            SizeProof(1_000_000, 500_000, 16_000, is_plain=False),
            SizeProof(1_000_000, 0, 1_048_576, is_plain=True),
        )
    ]
    known = "bytes: 1,000,000 of cells predicted"
    encoded = "encoded or compressed, so fewer are expected"
    assert [
        f"{known}, 1,021,000 on disk, +2.1%",
        f"{known}, 500,000 and up to 16,000 more on disk, -50.0%; {encoded}",
        f"{known}, 0 and up to 1,048,576 more on disk",
    ] == shown


def test_the_text_of_a_salted_proof_says_that_salts_were_predicted(tmp_path: Path) -> None:
    """The text says that salts were predicted, and every read is measured."""
    words: dict[str, Any] = {"key": "[salt(4)][sensor][timestamp]", "splits": "per_bucket"}
    lines = print_lines(
        print_proof, prove_recording("nab", "memory:salty", tmp_path, rows=600, **words)
    )
    assert lines[1].startswith("EXACT: 600 writes in 5 phases; ")
    assert any("the prediction uses the salts that were written" in line for line in lines)
    assert not any("not asked" in line for line in lines)
