"""The command `rules`."""

from __future__ import annotations

import click

from rowkey import lint, render
from rowkey.cli.group import define_command
from rowkey.cli.options import OUTPUT_FORMAT_OPTION, print_json, print_lines
from rowkey.errors import InvalidArgument


@define_command("Design", "List the rules, or describe one.")
@click.argument("rules", nargs=-1, metavar="[RULE]...")
@OUTPUT_FORMAT_OPTION
def command(rules: tuple[str, ...], output: str) -> None:
    """List the rules of `check`, or describe rules with a bad and a good design each.

    A rule is given by its code, the beginning of its code, or its name.

    \b
    rowkey rules
    rowkey rules monotone-lead
    rowkey rules RK1 -f json
    """
    try:
        selected_rules = lint.select_rules(rules)
    except InvalidArgument as refusal:
        message = f"{refusal.mistake.problem}. {refusal.mistake.remedy}".strip()
        raise click.UsageError(message) from None
    if output == "json":
        print_json(render.build_rules_document(selected_rules))
    elif not rules or len(selected_rules) > len(rules):
        print_lines(render.format_rule_list(selected_rules))
    else:
        for number, rule in enumerate(selected_rules):
            print_lines([""] * bool(number))
            print_lines(render.format_rule(rule))
