"""The search for better keys: never worse, clean, the same each time, and not in a circle."""

from __future__ import annotations

import json
import os
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from cli.command import Outcome, run
from example_counts import thin_out
from rowkey.advise import Advice, Assessment, DesignVerdict, JudgedDesign, search
from rowkey.advise.candidate_judge import CandidateJudge
from rowkey.advise.key_search import SEARCHING
from rowkey.design import Design
from rowkey.progress import Progress, ReportProgress
from rowkey.proposals import list_candidates
from rowkey.render import ADVICE_FIELDS, build_advice_document, format_advice, list_paths
from rowkey.schema import format_key
from verdicts import test_expert
from verdicts.recordings import write_recording

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
DESIGNS = Path(test_expert.__file__).parent / "designs"
USERS, ROWS = 2_000, 5_000 if IS_LONG else 2_000
ORDERS: dict[str, Any] = {
    "fields": {
        "user": {"type": "text", "max_bytes": 8},
        "at": "timestamp_s",
        "number": "u64",
        "amount": {"type": "decimal", "precision": 9, "scale": 2},
    },
    "families": {"d": {"compression": "ZSTD", "encoding": "FAST_DIFF", "ttl": "1d"}},
    "splits": {"algorithm": "uniform", "regions": 16},
    "writes": {"rate": "8000/s", "for": "60s"},
    "reads": [
        {"name": "latest", "where": "user = ?", "order": "at desc", "limit": 20, "rate": "500/s"},
        {"name": "minute", "where": "user = ? and at between ? and ?", "span": "1m", "rate": "9/s"},
    ],
}


def list_cases() -> Iterator[Any]:
    """Yield the expert's designs."""
    for recording in sorted(path.name for path in DESIGNS.iterdir()):
        for path in sorted((DESIGNS / recording).glob("*.toml")):
            yield pytest.param(recording, path, id=f"{recording}-{path.stem}")


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of orders, in the order of their time, of users of whom few are busy."""
    chance = random.Random(5)
    path = tmp_path_factory.mktemp("search") / "orders.csv"
    rows = [
        f"u{min(int(USERS * chance.random() ** 3), USERS)},{1_700_000_000 + n // 4},{n},"
        f"{chance.randrange(9_999) / 100}"
        for n in range(ROWS)
    ]
    path.write_text("\n".join(["user,at,number,amount", *rows]) + "\n")
    return path


@cache
def advise_orders(path: Path) -> Advice:
    """Return the advice on a table of orders by time."""
    return search(Design("orders", "[at][user][number]", **ORDERS), path)


@cache
def write_advice(orders: Path) -> tuple[Outcome, Advice]:
    """Return what `rowkey advise --write` prints and finds for orders; it runs in their folder."""
    found: list[Advice] = []

    def record_search(*arguments: Any, **options: Any) -> Advice:
        """Search, and keep the advice."""
        found.append(search(*arguments, **options))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(orders.parent)
        patch.setattr("rowkey.advise.search", record_search)
        Path("orders.toml").write_text(Design("orders", "[at][user][number]", **ORDERS).dumps())
        done = run("advise", "orders.toml", "--sample", orders, "--write", "better.toml")
    [advice] = found
    return done, advice


def check_picks(advice: Advice) -> None:
    """Check that no pick has a worse verdict than the declared design, or a new warning.

    Each keeps the fields of the declared key, unless one of its own tells every row apart.
    """
    known = {one.code for one in advice.declared.lint_result.filter_by_severity("warning")}
    for pick in advice.picks:
        assert pick.judged.verdict.decisive.rank <= advice.declared.verdict.decisive.rank
        found = {one.code for one in pick.judged.lint_result.filter_by_severity("warning")}
        assert found <= known
        fields = pick.judged.design.key.fields
        assert set(advice.declared.design.key.fields) <= set(fields) or any(
            one.declaration.unique for one in fields.values()
        )
    assert len(advice.picks) <= 5
    strengths = [one for pick in advice.picks for one in pick.strengths]
    assert len(strengths) == len(set(strengths))


@pytest.mark.long
@pytest.mark.parametrize(("recording", "path"), list_cases())
def test_proposed_keys_are_no_worse_than_the_designs_of_experts(
    tmp_path: Path, recording: str, path: Path
) -> None:
    """Over the expert's designs: grades, warnings and key fields are kept."""
    sample = write_recording(recording, tmp_path, None if IS_LONG else 10_000)
    check_picks(search(Design.read(path), sample))


def test_a_time_first_key_is_replaced_by_one_that_serves_its_reads(orders: Path) -> None:
    """The first pick of a table of orders by time is good, and reads of a user ask one range."""
    advice = advise_orders(orders)
    assert "poor" == advice.declared.verdict.grade
    check_picks(advice)
    first = advice.picks[0]
    assert "balanced" in first.strengths
    assert "good" == first.judged.verdict.grade
    assert [False, False] == [cost.is_full_scan for cost in first.judged.simulation.reads]
    assert advice.candidate_count > 100


def test_the_same_seed_gives_the_same_advice(orders: Path) -> None:
    """Keys, strengths and refusals are the same in each run."""
    first, (_, second) = advise_orders(orders), write_advice(orders)

    def summarize(advice: Advice) -> list[Any]:
        picks = [(one.strengths, str(one.judged.design.key)) for one in advice.picks]
        return [picks, advice.refused, advice.candidate_count]

    assert summarize(first) == summarize(second)


def test_an_interrupted_key_search_returns_the_best_keys_so_far(
    orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after the keys for all reads were judged gives them; before, there is no answer."""
    reads = [*ORDERS["reads"], {"name": "one", "where": "number = ?", "rate": "300/s"}]
    design = Design("orders", "[at][user][number]", **{**ORDERS, "reads": reads})

    def interrupt(after: int) -> ReportProgress:
        """Return a report of progress that is interrupted when a phase begins again."""
        starts = []

        def report(now: Progress) -> None:
            starts.extend([now] if now.phase == SEARCHING and not now.done else [])
            if len(starts) == after:
                starts.clear()
                raise KeyboardInterrupt

        return report

    with pytest.raises(KeyboardInterrupt):
        search(design, orders, progress=interrupt(after=1))
    advice = search(design, orders, progress=interrupt(after=2))
    assert (False, ()) == (advice.is_complete, advice.tables)
    check_picks(advice)
    monkeypatch.setattr("rowkey.advise.search", lambda *_, **__: advice)
    file = tmp_path / "orders.toml"
    file.write_text(design.dumps())
    done = run("advise", file, "--write", tmp_path / "better.toml")
    assert (130, True) == (done.code, "interrupted: figures are of" in done.out)
    written = Design.read(tmp_path / "better.toml").declaration.key
    assert advice.picks[0].judged.design.declaration.key == written
    assert "from a search that was interrupted" in done.err
    comments = re.sub(r"\n# *", " ", (tmp_path / "better.toml").read_text())
    assert "The search was interrupted: the figures are of the first events" in comments


def test_advice_on_an_advised_design_proposes_nothing_better(orders: Path) -> None:
    """Asked for the design that it proposed, the search proposes nothing of a better grade."""
    first = advise_orders(orders).picks[0].judged
    again = search(first.design, orders)
    assert all(
        pick.judged.verdict.decisive.rank == first.verdict.decisive.rank for pick in again.picks
    )
    own = format_key(first.design.key.terms)
    assert own not in {format_key(pick.judged.design.key.terms) for pick in again.picks}


def test_each_candidate_is_a_valid_key_of_all_fields_listed_once(orders: Path) -> None:
    design = Design("orders", "[at][user][number]", **ORDERS)
    candidates = list_candidates(design, {}, has_sample=True, added_fields=())
    keys = [one.key for one in candidates]
    assert len(keys) == len(set(keys))
    assert "[bucket(user, 16)][user][desc(at)][number]" in keys
    for one in candidates:
        assert set(design.key.fields) <= set(one.bound_key.fields)
    del orders


def test_a_read_that_no_key_serves_gets_a_second_table(
    orders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read by another field is served by a second table; both are written as design files."""
    reads = [*ORDERS["reads"], {"name": "one", "where": "number = ?", "rate": "300/s"}]
    path = tmp_path / "orders.toml"
    declared = Design("orders", "[at][user][number]", **{**ORDERS, "reads": reads}).dumps()
    path.write_text(f"# of the shop\n{declared}")
    better = tmp_path / "new" / "better.toml"
    better.parent.mkdir()
    monkeypatch.chdir(better.parent)
    done = run("advise", path, "--sample", orders, "-f", "json", "--write", better)
    assert 0 == done.code, done.err
    document = json.loads(done.out)
    assert set(list_paths(document)) <= set(ADVICE_FIELDS)
    tables = document["tables"]
    assert [["latest", "minute"], ["one"]] == [table["reads"] for table in tables]
    assert ["orders", "orders_by_number"] == [table["table"] for table in tables]
    assert "poor" == document["declared"]["verdict"]["grade"]
    assert "poor" not in [table["verdict"]["grade"] for table in tables]
    refused = {one["key"] for one in document["refused"]}
    assert refused.isdisjoint(table["key"] for table in tables)
    names = ["better.toml", "better_2.toml"]
    assert names == sorted(file.name for file in better.parent.iterdir())
    written = [Design.read(better.parent / name) for name in names]
    assert [table["key"] for table in tables] == [one.declaration.key for one in written]
    for one, name, command in zip(written, names, ("simulate", "check"), strict=True):
        assert orders.samefile(one.sample_path or "")
        plans = JudgedDesign(one).plans.values()
        assert "full scan" not in [plan.access_type for plan in plans]
        assert 0 == run(command, better.parent / name).code
    assert ["orders_by_number"] == list(written[0].companions)
    assert better.read_text().startswith('# of the shop\ntable  = "orders"\n# Proposed by rowkey')


@pytest.mark.long
def test_keys_proposed_for_companion_tables_have_the_same_fields(tmp_path: Path) -> None:
    """Keys of several tables have the same fields, though each read would do with fewer."""
    path = tmp_path / "events.csv"
    rows = [f"{1_000 * n},{n * 7919 % 40_009},u{n % 97}" for n in range(6_000)]
    path.write_text("\n".join(["at,id,user", *rows]) + "\n")
    design = Design(
        "events",
        "[at][id]",
        fields={"at": "timestamp_ms", "id": "u32", "user": {"type": "text", "max_bytes": 9}},
        reads=[
            {"name": "one", "where": "id = ?", "rate": "900/s"},
            {"name": "of a user", "where": "user = ?", "order": "at desc", "limit": 20},
        ],
        writes={"rate": "2000/s", "time": "at"},
    )
    advice = search(design, path)
    assert 2 == len(advice.tables)
    assert advice.companion_obstacle is None
    assert {("at", "id", "user")} == {tuple(sorted(one.design.key.fields)) for one in advice.tables}
    assert "companions of events" in " ".join(format_advice(advice, 200))


@pytest.mark.parametrize(
    ("repeated", "options", "is_get"),
    [
        pytest.param(0, {}, True, marks=pytest.mark.long),
        pytest.param(0, {"unique": True}, True, marks=pytest.mark.long),
        pytest.param(60, {}, False, marks=pytest.mark.long),
        (60, {"unique": True}, False),
    ],
)
def test_a_read_by_a_unique_field_gets_a_key_of_that_field_alone(
    tmp_path: Path, repeated: int, options: dict[str, Any], is_get: bool
) -> None:
    """A field that no event repeats is a key by itself, and is then declared as unique."""
    path = tmp_path / "events.csv"
    numbers = [n * 7919 % 40_009 for n in range(6_000)]
    rows = [f"{1_000 * at},{numbers[max(at - repeated, at % 2)]}" for at in range(6_000)]
    path.write_text("\n".join(["at,id", *rows]) + "\n")
    design = Design(
        "events",
        "[at][id]",
        fields={"at": "timestamp_ms", "id": {"type": "u32", **options}},
        reads=[{"name": "one", "where": "id = ?", "rate": "900/s"}],
        writes={"rate": "2000/s", "time": "at"},
    )
    (best,) = search(design, path).recommendation
    assert is_get is best.simulation.reads[0].is_get
    assert is_get is (["id"] == list(best.design.key.fields))
    assert is_get or options.get("unique", False) is best.design.fields["id"].declaration.unique


@pytest.mark.long
def test_the_fewest_tables_that_reach_the_best_grade_are_proposed(orders: Path) -> None:
    """The fewest tables of the best grade are proposed, not the first that are better than one."""
    reads = [
        ORDERS["reads"][0],
        {"name": "one", "where": "number = ?", "rate": "900/s"},
        {"name": "newest", "order": "at desc", "limit": 50, "rate": "1/s"},
    ]
    options = {**ORDERS, "reads": reads, "writes": {"time": "at"}, "families": {}}
    advice = search(Design("orders", "[bucket(user, 16)][user][at][number]", **options), orders)
    served = [[read.name for read in table.design.reads] for table in advice.tables]
    assert [["one"], ["latest"], ["newest"]] == served
    assert {"good"} == {table.verdict.grade for table in advice.tables}


def test_no_field_is_added_to_the_key_of_rows_that_are_rewritten(tmp_path: Path) -> None:
    """No field is added to the key of rows that change, since old rows would stay behind."""
    path = tmp_path / "users.csv"
    rows = [f"u{number % 300},s{number % 7}" for number in range(3_000)]
    path.write_text("\n".join(["user,status", *rows]) + "\n")
    design = Design(
        "users",
        "[user]",
        fields={"user": "text", "status": "text"},
        splits={"algorithm": "uniform", "regions": 8},
        reads=[{"name": "by status", "where": "status = ?", "rate": "90/s"}],
    )
    advice = search(design, path)
    found = [*advice.tables, *(pick.judged for pick in advice.picks)]
    assert {("user",)} >= {tuple(one.design.key.fields) for one in found}
    (said,) = (
        one for one in advice.assumptions if "write a row that an earlier event wrote" in one
    )
    assert said.startswith("2,700 of 3,000 events")
    assert "no key with status is tried" in said
    assert not advice.tables  # none of them would serve the read


def test_the_order_of_candidates_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    """The order of candidates does not depend on the random hashes of a process."""
    script = tmp_path / "list.py"
    script.write_text(
        "from rowkey import Design\n"
        "from rowkey.proposals import list_candidates\n"
        "fields = dict.fromkeys('abcdefg', 'u32')\n"
        "reads = [{'name': 'r', 'where': 'f = ? and b = ? and e = ?', 'order': 'g desc'}]\n"
        "design = Design('t', '[a][b][c][d][e]', fields=fields, reads=reads)\n"
        "for one in list_candidates(design, {}, has_sample=True, added_fields=fields):\n"
        "    print(one.key)\n"
    )
    own_seed, given_seed = os.environ.get("PYTHONHASHSEED"), "1"
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONHASHSEED": "5" if own_seed == given_seed else given_seed},
        capture_output=True,
        check=True,
    )
    with redirect_stdout(StringIO()) as own_list:
        runpy.run_path(str(script))
    assert own_list.getvalue().count("\n") > 100
    assert own_list.getvalue() == done.stdout.decode()


def test_a_key_is_proposed_without_declared_reads_and_without_a_sample() -> None:
    """Without reads, a key by time is spread; events are made from the declaration."""
    design = Design(
        "logs",
        "[at][host]",
        fields={"at": "timestamp_ms", "host": {"type": "text", "distinct": 500}},
        splits={"algorithm": "uniform", "regions": 8},
        writes={"rate": "20000/s", "for": "1s"},
    )
    advice = search(design)
    check_picks(advice)
    (first,) = advice.recommendation
    assert "poor" == advice.declared.verdict.grade
    assert "poor" != first.verdict.grade


LARGE = Design(
    "orders",
    "[at][user][number]",
    **{**ORDERS, "writes": {"rate": "8000/s", "for": "2s"}, "families": {"d": {"ttl": "90d"}}},
)


def test_a_key_is_proposed_although_its_table_outgrows_the_buckets() -> None:
    """A key of a table that outgrows its buckets is proposed, which says that regions grow."""
    without_sample = search(LARGE)
    assert "poor" == without_sample.declared.verdict.grade
    (first, *_) = without_sample.recommendation
    assert "fair" == first.verdict.grade
    assert "RK802" in {one.name for one in first.verdict.assessments}


@pytest.mark.long
def test_each_key_of_a_table_that_outgrows_its_buckets_is_listed_once(orders: Path) -> None:
    """Keys of a table that outgrows its buckets are refused or proposed, each once."""
    advice = search(LARGE, orders)
    (first, *_) = advice.recommendation
    assert first.verdict.decisive.rank < advice.declared.verdict.decisive.rank
    keys = [one.key for one in advice.refused]
    keys += [format_key(pick.judged.design.key.terms) for pick in advice.picks]
    assert len(keys) == len(set(keys))


def test_advise_writes_the_first_proposed_key_and_overwrites_no_file(
    orders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--write` makes a design file that other commands take; it replaces none by itself."""
    done, advice = write_advice(orders)
    monkeypatch.chdir(orders.parent)
    better = Design.read("better.toml")
    assert (0, f"better.toml: {better.declaration.key}\n") == (done.code, done.err)
    assert "better keys:\n  1: the best by all measures\n" in done.out
    assert better.key != advice.declared.design.key
    assert 0 == run("simulate", "better.toml", "--sample", orders).code
    refused = run("advise", "orders.toml", "--sample", orders, "--write", "better.toml")
    assert (2, "") == (refused.code, refused.out)
    assert "better.toml already exists" in refused.err


def test_time_slices_are_stored_latest_first_for_reads_of_the_latest() -> None:
    """Rows that hold an hour of events are stored latest first, so that pages of them are read."""
    design = Design(
        "iot", "[device][time_slice(ts, 1h)]",
        fields={"device": {"type": "u32", "distinct": 2_000}, "ts": "timestamp_ms", "v": "i64"},
        writes={"rate": "2000/s", "for": "20s"}, families={"d": {"ttl": "1d"}},
        reads=[{"name": "latest", "where": "device = ?", "order": "ts desc", "limit": 60,
                "rate": "100/s"}],
    )  # fmt: skip
    (first, *_) = search(design).recommendation
    assert "[desc(time_slice(ts, 1h))]" in first.design.declaration.key


@pytest.mark.long
def test_the_bloom_filter_changes_if_no_read_gives_its_prefix(orders: Path) -> None:
    """A key under which no read gives the prefix of a Bloom filter gets another filter."""
    options = {
        **ORDERS,
        "families": {"d": {**ORDERS["families"]["d"], "bloom": "ROWPREFIX_FIXED_LENGTH(8)"}},
        "reads": [ORDERS["reads"][0], {"name": "one", "where": "number = ?", "rate": "0.001/s"}],
    }
    advice = search(Design("orders", "[number][user][at]", **options), orders)
    best = advice.picks[0].judged
    assert "user" == next(iter(best.design.key.fields))
    assert "ROW" == best.design.families["d"].bloom
    assert 'bloom = "ROW" in family d' in "\n".join(format_advice(advice, 100))
    changes = build_advice_document(advice)["picks"][0]["families"]
    assert {"family": "d", "option": "bloom", "value": "ROW"} in changes


@pytest.mark.long
@pytest.mark.parametrize("rate", ["", "50/s"])
def test_no_bucket_is_added_to_remove_harmless_unevenness(tmp_path: Path, rate: str) -> None:
    """Rooms of a chat are read as one range each, and no bucket is put in front of them."""
    chance = random.Random(3)
    rows = [
        f"{1_700_000_000 + 60 * n},room{int(40 * chance.random() ** 2)},u{n % 900},{n}"
        for n in range(6_000)
    ]
    path = tmp_path / "chat.csv"
    path.write_text("\n".join(["at,room,author,number", *rows]) + "\n")
    reads = [{"name": "latest", "where": "room = ?", "order": "at desc", "limit": 50}]
    fields: dict[str, Any] = {
        "at": "timestamp_s",
        "room": {"type": "text", "max_bytes": 20},
        "author": {"type": "text", "max_bytes": 20},
        "number": "u64",
    }
    design = Design(
        "chat",
        "[at][room][number]",
        fields=fields,
        families={"d": {"compression": "ZSTD", "ttl": "90d"}},
        splits={"algorithm": "sample", "regions": 16},
        writes={"rate": rate} if rate else {},
        reads=reads,
    )
    best = search(design, path).picks[0]
    assert format_key(best.judged.design.key.terms).startswith("[room][desc(at)]")
    assert "good" == best.judged.verdict.grade


COLLIDING: dict[str, Any] = {
    "fields": {
        "at": "timestamp_s",
        "host": {"type": "text", "max_bytes": 8},
        "path": {"type": "text", "max_bytes": 8},
        "load": "float64",
        "line": "u64",
    },
    "families": {"d": {"compression": "ZSTD", "ttl": "30d"}},
    "writes": {"rate": "200/s", "time": "at"},
    "reads": [
        {"name": "of a host", "where": "host = ?", "order": "at desc", "limit": 50, "rate": "5/s"},
        {"name": "of a path", "where": "path = ? and at between ? and ?", "span": "1h",
         "rate": "5/s"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of twenty lines a second, of hosts and paths of which few are busy."""
    chance = random.Random(7)
    path = tmp_path_factory.mktemp("log") / "log.csv"
    rows = [
        f"{1_700_000_000 + n // 20},h{int(200 * chance.random() ** 2)},"
        f"p{int(300 * chance.random() ** 2)},{chance.random():.4f},{n}"
        for n in range(6_000 if IS_LONG else 3_000)
    ]
    path.write_text("\n".join(["at,host,path,load,line", *rows]) + "\n")
    return path


@cache
def advise_log(path: Path, key: str) -> Advice:
    """Return the advice on a table of lines with a key that keeps no two of a second apart."""
    return search(Design("log", key, **COLLIDING), path)


@pytest.mark.parametrize(
    "key", thin_out(["[host][at]", "[at][host]", "[host][time_bucket(at, 1h)][at]"], 3)
)
def test_the_key_of_each_proposed_table_ends_with_the_line_number(log: Path, key: str) -> None:
    """Each kind of read gets its table, whose key ends with the number of the line."""
    advice = advise_log(log, key)
    assert "poor" == advice.declared.verdict.grade
    keys = [format_key(one.design.key.terms) for one in advice.tables]
    assert ["[host][desc(at)][path][line]", "[path][desc(at)][host][line]"] == keys
    assert {"good"} == {one.verdict.grade for one in advice.tables}
    assert advice.companion_obstacle is None
    for one in (*advice.tables, *(pick.judged for pick in advice.picks)):
        assert 0 == one.simulation.overwrite_count
        assert "load" not in one.design.key.fields


def test_a_proposed_key_of_one_field_asks_to_declare_the_field_unique(tmp_path: Path) -> None:
    """The key of that field alone is proposed, and findings say that it is to be unique."""
    path = tmp_path / "orders.csv"
    rows = [f"{1_700_000_000 + n // 3},u{n % 97},{n * 2_654_435_761}" for n in range(4_000)]
    path.write_text("\n".join(["at,user,id", *rows]) + "\n")
    design = Design(
        "orders",
        "[at][user]",
        fields={"at": "timestamp_s", "user": {"type": "text", "max_bytes": 9}, "id": "u64"},
        splits={"algorithm": "uniform", "regions": 16},
        reads=[{"name": "one", "where": "id = ?", "rate": "500/s"}],
        writes={"rate": "1000/s", "time": "at"},
        families={"d": {"ttl": "9d"}},
    )
    advice = search(design, path)
    [table] = advice.recommendation
    assert ["id"] == [*table.design.key.fields]
    assert all(read.is_get for read in table.simulation.reads)
    [found] = [one for one in advice.declared.lint_result.findings if one.code == "RK601"]
    assert "with unique = true under id" in found.remedy


def test_a_proposed_table_that_all_events_refute_is_replaced_by_the_next(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the tables for a read, the first that all events grade as the first ones did is taken."""
    first, second = advise_log(log, "[host][at]").tables
    refuted = format_key(second.design.key.terms)
    judge = CandidateJudge.judge_by_all_events

    def refute(one: CandidateJudge, design: Design) -> JudgedDesign:
        """Judge a design by all events, of which one key is poor."""
        judged = judge(one, design)
        if format_key(design.key.terms) == refuted:
            poor = Assessment("writes", "", "poor", "it is hot")
            judged.verdict = DesignVerdict((poor, *judged.verdict.assessments))
        return judged

    monkeypatch.setattr(CandidateJudge, "judge_by_all_events", refute)
    other_first, other = search(Design("log", "[host][at]", **COLLIDING), log).tables
    assert format_key(first.design.key.terms) == format_key(other_first.design.key.terms)
    assert refuted != format_key(other.design.key.terms)
    assert second.design.table == other.design.table
    assert "good" == other.verdict.grade


def test_a_read_by_a_field_that_no_sample_shows_asks_for_a_sample() -> None:
    """A read by a field that no sample shows is told to need one."""
    fields = {"at": "timestamp_ms", "host": "text", "path": "text"}
    reads = [{"name": "of a path", "where": "path = ?", "rate": "9/s"}]
    options: dict[str, Any] = {"fields": fields, "reads": reads}
    options["writes"] = {"rate": "900/s", "for": "2s"}
    advice = search(Design("log", "[host][at]", **options))
    assert any("no key with path is tried, because no sample" in one for one in advice.assumptions)


def test_no_buckets_are_proposed_if_one_server_bears_far_more_than_the_load(tmp_path: Path) -> None:
    """A row a minute needs no buckets, though one server takes them all and no rate is declared."""
    rows = [f"{1_700_000_000 + 60 * n},room{n % 40},{n}" for n in range(6_000)]
    path = tmp_path / "chat.csv"
    path.write_text("\n".join(["at,room,number", *rows]) + "\n")
    design = Design(
        "chat",
        "[at][number]",
        fields={"at": "timestamp_s", "room": {"type": "text", "max_bytes": 20}, "number": "u64"},
        families={"d": {"compression": "ZSTD", "ttl": "90d"}},
        reads=[{"name": "an hour", "where": "at >= ? and at < ?", "order": "at", "span": "1h"}],
    )
    advice = search(design, path)
    assert ("good", ()) == (advice.declared.verdict.grade, advice.picks)
