"""The command `schema`."""

from __future__ import annotations

import rowkey
from rowkey.cli.group import define_command
from rowkey.cli.options import print_json


@define_command("Design", "Print the JSON Schema of design files, for editors.")
def command() -> None:
    """Print the JSON Schema of design files.

    Editors complete and check a file that begins with the line `#:schema ./rowkey.schema.json`.

    \b
    rowkey schema > rowkey.schema.json
    """
    print_json(rowkey.build_json_schema())
