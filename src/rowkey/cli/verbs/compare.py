"""The verb `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rowkey.cli.options import (
    FORMAT,
    PROGRESS,
    SAMPLE,
    SEED,
    TEXT_OR_JSON,
    print_json,
    progress_to,
)

if TYPE_CHECKING:
    from rowkey.design import Design


@click.command(short_help="Two to eight designs on one sample, measure by measure.")
@click.argument("designs", nargs=-1, required=True)
@SAMPLE
@FORMAT
@TEXT_OR_JSON
@click.option("--second-half", is_flag=True, help="Replay only the second half of the sample.")
@SEED
@PROGRESS
def command(
    designs: tuple[str, ...],
    sample: str | None,
    sample_format: str | None,
    output: str,
    seed: int,
    progress: str,
    *,
    second_half: bool,
) -> None:
    """Compare designs: where writes land, what reads cost, bytes, time to make a key, findings.

    All are replayed the same events on the same servers, and asked every read that any of them
    declares. The best of each row is marked; there is no score over all rows, for what a row is
    worth to you no sample tells. Without --sample they must declare one and the same.

    \b
    rowkey compare by_time.toml by_host.toml --sample events.csv
    rowkey compare by_time.toml by_host.toml --sample events.csv -f json > compared.json
    """
    from time import perf_counter

    from rowkey.advise import compare
    from rowkey.render import comparison_document

    read = _read(designs)
    words = None if sample_format is None else {"kind": sample_format}
    with progress_to(progress, "replaying") as shown:
        found = compare(
            read,
            sample,
            names=designs,
            format_words=words,
            second_half=second_half,
            seed=seed,
            clock=perf_counter,
            progress=shown,
        )
    if output == "json":
        print_json(comparison_document(found))
        return
    from rowkey.cli.screen import console
    from rowkey.render import print_comparison

    print_comparison(found, console())


def _read(paths: tuple[str, ...]) -> list[Design]:
    """The designs of files.

    Raises:
        Incomparable: with the mistakes of all of them.
    """
    from rowkey.design import Design
    from rowkey.errors import DeclarationError, Incomparable, Mistake

    designs, mistakes = [], []
    for path in paths:
        try:
            designs.append(Design.read(path))
        except DeclarationError as problem:
            for one in problem.mistakes:
                place = ":".join(str(step) for step in (path, one.line, one.column) if step)
                where = f"{place}: {one.path}" if one.path else place
                mistakes.append(Mistake(where, one.what, one.allowed, one.remedy))
    if mistakes:
        raise Incomparable(mistakes)
    return designs
