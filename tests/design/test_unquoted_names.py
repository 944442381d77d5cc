"""Unquoted TOML names with non-ASCII letters get a remedy."""

from __future__ import annotations

import pytest

from rowkey.design import Design
from rowkey.errors import InvalidDesign

TEXT = """\
table = "logs"
key = "[bucket(主机, 8)][主机][ts]"
splits = "per_bucket"
[fields]
{line}
ts = "timestamp_ms"
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('主机 = "text"', "主机"),
        ('  主机="text"', "主机"),
        ('host主机 = "text"', "host主机"),
        ('größe-2 = "text"', "größe-2"),
        ('主机.type = "text"', "主机"),
        ('"主机" = { 类型 = "text" }', "类型"),
        ('"主机" = 文本', "文本"),
        ("[families.数据]", "数据"),
    ],
)
def test_an_unquoted_name_is_reported_with_the_quoted_name(line: str, name: str) -> None:
    """An unquoted name is reported with its line and the quoted name."""
    with pytest.raises(InvalidDesign) as caught:
        Design.loads(TEXT.format(line=line))
    [mistake] = caught.value.mistakes
    assert (5, f'Quote it: "{name}".') == (mistake.line, mistake.remedy)


def test_the_quotes_of_the_remedy_make_the_file_valid() -> None:
    """With the quotes of the remedy the file is valid, and the key needs none."""
    design = Design.loads(TEXT.format(line='"主机" = "text"'))
    assert ["主机", "ts"] == list(design.fields)


@pytest.mark.parametrize("line", ["a b = 1", "= 1", "x = 'é", 'x = "主机'])
def test_other_syntax_errors_get_no_remedy_about_quotes(line: str) -> None:
    with pytest.raises(InvalidDesign) as caught:
        Design.loads(TEXT.format(line=line))
    assert "" == caught.value.mistakes[0].remedy
