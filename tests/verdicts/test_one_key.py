"""Every command that names another key for a design names the one that `advise` recommends."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rowkey
from cli.command import run
from example_counts import thin_out
from rowkey.advise import GRADES, JudgedDesign, draft_design
from rowkey.design import Design
from rowkey.observe import watch_table
from rowkey.portal.designs.check import CheckedDesign
from rowkey.render import build_live_document
from rowkey.workload import open_sample

pytestmark = pytest.mark.usefixtures("search_once")

READ_OF_A_CLIENT = """
[[reads]]
name  = "of a client"
where = "client = ?"
order = "time desc"
limit = 20
"""
FIELDS = """
[fields]
time   = "timestamp_s"
client = { type = "text", max_bytes = 12 }
path   = { type = "text", max_bytes = 30 }
size   = "u32"
"""
DESIGNS = {
    "time first": f"""\
table = "log"
key   = "[time][client][path]"
{FIELDS}{READ_OF_A_CLIENT}""",
    "one heavy client": f"""\
table  = "log"
key    = "[bucket(client, 16)][client][time][path]"
splits = "per_bucket"
{FIELDS}{READ_OF_A_CLIENT}""",
    "a bucket of more than a read gives": f"""\
table  = "log"
key    = "[bucket(client, path, 16)][client][path][time]"
splits = "per_bucket"
{FIELDS}{READ_OF_A_CLIENT}""",
    "few values in front": f"""\
table  = "log"
key    = "[bucket(path, 16)][path][time][client]"
splits = "per_bucket"
{FIELDS}""",
    "a declared rate": f"""\
table = "log"
key   = "[time][client][path]"
{FIELDS}
[families.d]
ttl = "30d"

[writes]
rate = "4000/s"
{READ_OF_A_CLIENT}rate = "20/s"
""",
}
HEAVY_SHARES = {"one heavy client": 0.4}
"""The share of the events that one client has in the sample of a design."""


@pytest.fixture(params=thin_out(DESIGNS, len(DESIGNS)))
def answers(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Return what each command prints of one design and sample, as one text each."""
    sample, design = (tmp_path / name for name in ("log.csv", "log.toml"))
    write_log(sample, HEAVY_SHARES.get(request.param, 0.0), clients=2_000)
    design.write_text(DESIGNS[request.param])
    return ask_all_commands(design, "--sample", sample)


def write_log(sample: Path, heavy_share: float, clients: int) -> None:
    """Write the requests of some clients, and of a crawler that has a share of all."""
    chance = random.Random(11)
    rows = [
        f"{1_700_000_000 + n // 2},"
        f"{'crawler' if chance.random() < heavy_share else f'c{chance.randrange(clients)}'},"
        f"/{chance.randrange(6)},{n}"
        for n in range(1_500)
    ]
    sample.write_text("\n".join(["time,client,path,size", *rows]) + "\n")


def ask_all_commands(design: Path, *sample: object) -> dict[str, str]:
    """Return what each command prints of a design and its sample, as one text each."""
    page, given = design.with_suffix(".html"), (design, *sample)
    run("report", *given, "-o", page)
    found = {
        name: json.loads(run(name, *given, "-f", "json").out)
        for name in ("check", "simulate", "advise")
    }
    plans = run("explain", *given, "-f", "json").out
    compared = json.loads(run("compare", design, *given, "-f", "json").out)
    return {
        **{name: " ".join(list_texts(one)) for name, one in found.items() if name != "advise"},
        "compare": " ".join(list_texts(compared)),
        "explain": " ".join(list_texts(json.loads(plans))),
        "live": watch_load(design, *sample[1:]),
        "report": html.unescape(page.read_text()),
        "advise": " ".join(list_recommended(found["advise"])),
    }


def watch_load(design: Path, sample: Any) -> str:
    """Return what `live` tells of a table while the events of a sample are written."""
    parsed, now = Design.read(str(design)), [0.0]
    url = f"memory:{design.parent}"
    events = open_sample(sample, parsed.fields, None).read_events()
    rows = pa.Table.from_batches([one.rows for one in events])
    with rowkey.open(parsed, url, splits=[b"\x04", b"\x08"]) as table:

        def write(seconds: float) -> None:
            now[0] += seconds
            table.load(rows)

        *_, seen = watch_table(
            parsed.table, url, every_s=1.0, for_s=5.0, sleep=write, clock=lambda: now[0]
        )
    assert "unknown" != seen.writes.level
    return " ".join(list_texts(build_live_document(seen)))


def list_texts(document: Any) -> list[str]:
    """Return every text of a JSON document."""
    if isinstance(document, dict):
        return [text for value in document.values() for text in list_texts(value)]
    if isinstance(document, list):
        return [text for value in document for text in list_texts(value)]
    return [document] if isinstance(document, str) else []


def list_recommended(advice: dict[str, Any]) -> list[str]:
    """Return the keys that `advise` recommends, as a design file writes them."""
    balanced = [one for one in advice["picks"] if "balanced" in one["strengths"]]
    return [f'key = "{one["key"]}"' for one in advice["tables"] or balanced]


def test_no_command_names_a_key_that_advise_does_not_recommend(answers: dict[str, str]) -> None:
    """No command names a key, or a part of one, that is not recommended, and each names that."""
    # `explain` names it where a read needs it, and `live`, which has no sample, names none.
    recommended = find_keys(answers.pop("advise"))
    for command, text in answers.items():
        named = find_keys(text)
        assert recommended == named or (command in {"explain", "live"} and not named), command
        assert not re.search(r"[Pp]ut \[\w+\(", text), command
        assert "Compute the bucket from" not in text, command


def find_keys(text: str) -> set[str]:
    """Return the keys that a text tells to use."""
    return set(re.findall(r'key = "[^"]+"', text))


@pytest.mark.parametrize(
    ("clients", "heavy_share"), thin_out(product([2_000, 40, 3], [0.4, 0.0]), 6)
)
def test_init_drafts_the_key_that_advise_recommends(
    clients: int, heavy_share: float, tmp_path: Path
) -> None:
    """A draft is what the search recommends, so that no command advises against it."""
    sample, design = tmp_path / "log.csv", tmp_path / "log.toml"
    write_log(sample, heavy_share, clients)
    outcome = run("init", sample, "-o", design, "--table", "log")
    key = Design.read(str(design)).declaration.key
    assert f"the key is {key}" in outcome.err
    uploaded = draft_design(sample, table="log", folder=tmp_path, is_temporary=True)
    assert key == uploaded.design.declaration.key
    for command, text in ask_all_commands(design, "--sample", sample).items():
        assert find_keys(text) <= {f'key = "{key}"'}, command


DRAFTED_ROWS: dict[str, tuple[int, Callable[[int, random.Random], str]]] = {
    "repeated rows": (
        1_500,
        lambda n, chance: f"{1_700_000_000 + n // 9},s{n * 7 % 8},{chance.random():.3f}",
    ),
    "no time": (1_500, lambda n, chance: f"{chance.choice('ab')},{chance.choice('xyz')},{n % 4}"),
}
"""How many rows samples have for which each key has a warning, and what builds a row."""


@pytest.mark.parametrize("name", thin_out(DRAFTED_ROWS, 2))
def test_the_grade_of_a_draft_is_the_same_in_every_command(name: str, tmp_path: Path) -> None:
    """What a draft allows is found by no later command, with the sample and without it."""
    chance = random.Random(3)
    count, build_row = DRAFTED_ROWS[name]
    rows = [build_row(n, chance) for n in range(count)]
    sample, text = tmp_path / "rows.csv", tmp_path / "rows.toml"
    sample.write_text("\n".join(["time,sensor,value", *sorted(rows)]) + "\n")
    draft = draft_design(sample, folder=tmp_path)
    text.write_text(draft.text)
    assert "# rowkey: allow" in draft.text
    checked = json.loads(run("check", text, "-f", "json").out)
    simulated = json.loads(run("simulate", text, "-f", "json").out)
    advised = json.loads(run("advise", text, "-f", "json").out)
    assert draft.verdict.grade == simulated["verdict"]["grade"]
    assert draft.verdict.grade == advised["declared"]["verdict"]["grade"]
    text.write_text(re.sub(r"(?m)^\[sample\](\n.+)+", "", draft.text))
    unsampled = json.loads(run("check", text, "-f", "json").out)
    for document in (checked, unsampled):
        assert [] == [one for one in document["findings"] if one["severity"] != "info"]


@pytest.mark.parametrize(
    ("rate", "key"),
    thin_out(
        product(
            ["", '[writes]\nrate = "2/s"', '[writes]\nrate = "20000/s"'],
            ["[time][client]", "[bucket(client, 16)][client][time]"],
        ),
        6,
    ),
)
def test_the_portal_grades_hot_writes_without_a_replay_no_better_than_with_one(
    key: str, rate: str
) -> None:
    """The portal's grade by rules alone is not better than that of a replay of the writes."""
    design = Design.loads(
        f'table = "log"\nkey = "{key}"\nsplits = SPLITS\n[fields]\ntime = "timestamp_ms"\n'
        'client = { type = "text", max_bytes = 12 }\nsize = "u32"\n[families.d]\nttl = "1h"\n'
        f'compression = "ZSTD"\nencoding = "FAST_DIFF"\n{rate}\n'.replace("SPLITS", SPLITS[key])
    )
    checked = CheckedDesign("log.toml", "", lambda: design)
    replayed = JudgedDesign(design).verdict.grade
    assert GRADES.index(checked.grade) >= GRADES.index(replayed)


SPLITS = {"[time][client]": "[]", "[bucket(client, 16)][client][time]": '"per_bucket"'}
