"""The verb `init`."""

from __future__ import annotations

from pathlib import Path

import click

from rowkey.cli.options import FORMAT, SEED, print_aside


@click.command(short_help="A first design file from data: types, facts seen, a proposed key.")
@click.option("--sample", required=True, metavar="FILE", help="A file of recorded events.")
@FORMAT
@click.option(
    "-o", "--output", metavar="FILE", help="Write the design there; it must not be there yet."
)
@click.option("--table", metavar="NAME", help="The table's name; if not given, from the sample's.")
@click.option(
    "--servers",
    type=click.IntRange(1, 10_000),
    default=8,
    show_default=True,
    help="Region servers of the cluster.",
)
@SEED
def command(
    sample: str,
    sample_format: str | None,
    output: str | None,
    table: str | None,
    servers: int,
    seed: int,
) -> None:
    """Draft a design from recorded events: any file that `simulate` takes.

    Types are read from the values, and keys are tried by the rules and by replaying the sample,
    until one has no warning and is not hot. What was seen, and the reason of each choice, stand in
    the file as comments; so do reads to start from, for only you know those.

    \b
    rowkey init --sample events.csv > events.toml
    rowkey init --sample events.csv --table access_log -o access_log.toml
    """
    from rowkey.advise import first_draft
    from rowkey.cli.outputs import Destination
    from rowkey.errors import printable

    to = None if output in (None, "-") else output
    if to is not None and Path(to).exists():
        raise click.UsageError(f"{printable(to)} is there already; give another name.")
    draft = first_draft(
        sample,
        table=table,
        format_words=None if sample_format is None else {"kind": sample_format},
        servers=servers,
        folder="" if to is None else Path(to).parent,
        seed=seed,
    )
    with Destination("toml", to).text() as stream:
        stream.write(draft.text)
    if draft.unread:
        print_aside([printable(said) for said in draft.unread])
    if to is not None:
        verdict = f"the sample is {draft.simulated.verdict.word}"
        said = "the sample is too small for a verdict" if draft.is_thin else verdict
        print_aside([f"{printable(to)}: {draft.design.declaration.key}", said])
