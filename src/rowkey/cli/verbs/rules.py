"""The verb `rules`."""

from __future__ import annotations

import click

from rowkey.cli.options import TEXT_OR_JSON, print_json, print_lines
from rowkey.errors import Refused


@click.command(short_help="The catalogue of rules, or all about one.")
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@TEXT_OR_JSON
def command(rules: tuple[str, ...], output: str) -> None:
    """List the rules of `check`, or tell all about some, with a bad and a good design.

    A rule is given by its code, the beginning of its code, or its name.

    \b
    rowkey rules
    rowkey rules monotone-lead
    rowkey rules RK1 -f json
    """
    from rowkey.lint import chosen
    from rowkey.render import rule_lines, rule_list, rules_document

    try:
        meant = chosen(rules)
    except Refused as refusal:
        message = f"{refusal.mistake.what}. {refusal.mistake.remedy}".strip()
        raise click.UsageError(message) from None
    if output == "json":
        print_json(rules_document(meant))
    elif not rules or len(meant) > len(rules):
        print_lines(rule_list(meant))
    else:
        for number, rule in enumerate(meant):
            print_lines([""] * bool(number))
            print_lines(rule_lines(rule))
