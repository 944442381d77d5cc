"""The generated text creates the table that `create` creates, and `ddl` prints the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from click import Choice

from cli.command import LOGS, Outcome, run
from rowkey import Design
from rowkey.cli.commands.ddl import command
from rowkey.engines import TableSpec, open_engine
from rowkey.errors import InvalidArgument
from rowkey.hbase import build_table_schema
from rowkey.render import DIALECTS, build_create_statement
from rowkey.render.ddl.create_statement import EXPLICIT_ATTRIBUTES
from rowkey.table import create_table

PLAIN = Design("logs", "[host][ts]", fields={"host": "text", "ts": "timestamp_ms"})


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A design file."""
    path = tmp_path / "logs.toml"
    path.write_text(LOGS)
    return path


def create_spec(path: Path, tmp_path: Path, *more: object) -> TableSpec:
    """Return the table that `create` makes of a design."""
    url = f"rocks:{tmp_path / 'data'}"
    assert 0 == run("create", path, "--on", url, *more).code
    with open_engine(url) as engine:
        return engine.open_table("logs").spec


def test_the_ddl_creates_the_same_table_as_create(logs: Path, tmp_path: Path) -> None:
    """Families, boundaries and attributes are those of `create`, except random attributes."""
    spec = create_spec(logs, tmp_path)
    kept = {word: value for word, value in spec.attributes.items() if word != "rowkey.table_id"}
    found = build_create_statement(Design.read(logs), spec.splits, logs.name)
    assert (
        build_table_schema(spec.name, spec.families, kept, explicit_defaults=EXPLICIT_ATTRIBUTES)
        == found.table
    )
    assert [*kept, *found.random_attributes] == list(spec.attributes)
    assert ("Design: logs.toml", "Key: [bucket(host, 16)][host][ts]", "16 regions") == found.remarks


def test_an_empty_attribute_is_sent_neither_by_ddl_nor_by_create() -> None:
    """An empty attribute, which HBase would drop, is sent neither by a text nor by `create`."""
    words = build_create_statement(PLAIN, ()).table.attributes
    assert ["rowkey.generation", "rowkey.declaration", "rowkey.design"] == list(words)
    with create_table(PLAIN, "memory:") as table:
        assert all(table.store.spec.attributes.values())


@pytest.mark.parametrize("name", ["default:logs", "hbase:logs"])
def test_ddl_refuses_the_table_names_that_create_refuses(name: str) -> None:
    """A table name that `create` refuses has no text either."""
    with pytest.raises(InvalidArgument, match="begins with HBase's own namespace"):
        build_create_statement(Design(name, "[id]", fields={"id": "u64"}), ())


def get_lines(outcome: Outcome) -> list[str]:
    """Return the printed lines of a command that wrote nothing to stderr."""
    assert (0, "") == (outcome.code, outcome.err)
    return outcome.out.splitlines()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_ddl_command_prints_the_text_of_each_dialect(logs: Path, dialect: str) -> None:
    """`ddl` prints the text of the design in each dialect."""
    design = Design.read(logs)
    splits = design.splits.compute_boundaries(design.key).splits
    expected = list(DIALECTS[dialect](build_create_statement(design, splits, "logs.toml")))
    assert expected == get_lines(run("ddl", logs, "--dialect", dialect.replace("_", "-")))


def test_ddl_has_an_option_value_for_each_dialect() -> None:
    """`ddl` has an option value for each dialect, and prints the shell's by default."""
    (option,) = (one for one in command.params if one.name == "dialect")
    assert isinstance(option.type, Choice)
    assert [name.replace("_", "-") for name in DIALECTS] == list(option.type.choices)


def test_ddl_with_sampled_splits_needs_a_sample(logs: Path, tmp_path: Path) -> None:
    """Sampled splits need a sample, and are those of `create`."""
    splits = '{ algorithm = "sample", regions = 4 }'
    logs.write_text(LOGS.replace("[bucket(host, 16)]", "").replace('"per_bucket"', splits))
    sample = tmp_path / "s.csv"
    rows = "".join(f"web-{n:03},{1_609_459_200_000 + n}\n" for n in range(400))
    sample.write_text("host,ts\n" + rows)
    lacking = run("ddl", logs)
    assert (2, "") == (lacking.code, lacking.out)
    assert "sample" in lacking.err
    spec = create_spec(logs, tmp_path, "--sample", sample)
    text = get_lines(run("ddl", logs, "--sample", sample))
    expected = list(
        DIALECTS["hbase_shell"](build_create_statement(Design.read(logs), spec.splits, logs.name))
    )
    assert expected == text
    assert 3 == len(spec.splits)
