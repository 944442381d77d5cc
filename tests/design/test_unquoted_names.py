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
def test_a_name_without_its_quotes_is_given_them(line: str, name: str) -> None:
    """An unquoted name is reported with its line and the quoted name."""
    with pytest.raises(InvalidDesign) as caught:
        Design.loads(TEXT.format(line=line))
    [mistake] = caught.value.mistakes
    assert (5, f'Quote it: "{name}".') == (mistake.line, mistake.remedy)


def test_with_its_quotes_it_is_a_name() -> None:
    """With the quotes of the remedy the file is valid, and the key needs none."""
    design = Design.loads(TEXT.format(line='"主机" = "text"'))
    assert ["主机", "ts"] == list(design.fields)


@pytest.mark.parametrize("line", ["a b = 1", "= 1", "x = 'é", 'x = "主机'])
def test_another_slip_is_not_mended_with_quotes(line: str) -> None:
    """Other syntax errors get no remedy about quotes."""
    with pytest.raises(InvalidDesign) as caught:
        Design.loads(TEXT.format(line=line))
    assert "" == caught.value.mistakes[0].remedy
