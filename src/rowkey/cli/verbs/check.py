"""The verb `check`."""

from __future__ import annotations

import click

from rowkey.cli.options import EXIT_ZERO, TEXT_OR_JSON, print_json, print_lines


@click.command(short_help="Mistakes of design files, and what follows from sound ones.")
@click.argument("designs", nargs=-1, required=True)
@TEXT_OR_JSON
@EXIT_ZERO
def command(designs: tuple[str, ...], output: str, *, exit_zero: bool) -> int:
    """Report every mistake of design files with its line; of sound ones, what they can and cannot.

    Leaves with 1 if a file has mistakes.

    \b
    rowkey check logs.toml
    rowkey check designs/*.toml -f json
    """
    from rowkey.cli.packing import packing_for
    from rowkey.design import Design, properties_of
    from rowkey.errors import DeclarationError
    from rowkey.heat import foreseen
    from rowkey.render import check_document, check_lines, mistakes_document

    documents, broken = [], 0
    for path in designs:
        try:
            design = Design.read(path)
        except DeclarationError as problem:
            broken += 1
            documents.append(mistakes_document(path, problem.mistakes))
            if output == "text":
                print_lines([str(problem)])
            continue
        found, causes, packing = properties_of(design), foreseen(design), packing_for(design)
        documents.append(check_document(path, design, found, causes, packing))
        if output == "text":
            print_lines(check_lines(path, design, found, causes, packing))
    if output == "json":
        print_json(documents[0] if len(documents) == 1 else documents)
    return 1 if broken and not exit_zero else 0
