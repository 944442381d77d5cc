"""What the texts of a column may all be: each form with a test of all its values at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

NULL_TEXTS = ("NA", "N/A", "n/a", "NULL", "null", "None", "none", "NaN", "nan", "-", "\\N", "?")
"""Texts that stand for nothing in many files, where all else is of another form."""

_DAY = r"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_LOOSE = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?: ?[AaPp][Mm])?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"
_STRAY = "|".join(
    (
        rf"[12][0-9]{{3}}[/.-][0-9]{{1,2}}[/.-][0-9]{{1,2}}(?:[T ]{_LOOSE}{_ZONE})?",
        rf"[0-9]{{1,2}}[/.-][0-9]{{1,2}}[/.-][12][0-9]{{3}}(?:[T ]{_LOOSE}{_ZONE})?",
        rf"\[?[0-9]{{1,2}}[/ -]{_MONTH}[/ -][12][0-9]{{3}}(?:[: ]{_LOOSE}{_ZONE})?\]?",
        rf"(?:[A-Z][a-z]{{2}}, )?[0-9]{{1,2}} {_MONTH} [12][0-9]{{3}} {_LOOSE}{_ZONE}",
        rf"(?:[A-Z][a-z]{{2}} )?{_MONTH} {{1,2}}[0-9]{{1,2}} {_LOOSE}(?: [12][0-9]{{3}})?",
        rf"[12][0-9]{{3}}年[0-9]{{1,2}}月[0-9]{{1,2}}日(?: ?{_LOOSE})?",
    )
)
"""Times as people, mails and web servers write them; none of them is read as a time."""
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_HEX = "[0-9a-f]"


@dataclass(frozen=True, slots=True)
class Form:
    """How a text may be written.

    Args:
        name: its name.
        pattern: what each text of the form matches, whole, in RE2.
    """

    name: str
    pattern: str

    def fits(self, texts: pa.Array) -> bool:
        """Whether all of some texts, trimmed and none of them blank, are of the form."""
        import pyarrow.compute as pc

        found = pc.match_substring_regex(texts, f"^(?:{self.pattern})$")
        return bool(pc.all(found, min_count=0).as_py())


FORMS = (
    Form("bool", "(?i)true|false"),
    Form("integer", "0|-?[1-9][0-9]{0,19}"),
    Form("digits", "[0-9]+"),
    Form("money", r"-?(?:0|[1-9][0-9]{0,14})\.[0-9]{2,4}"),
    Form("number", r"[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?"),
    Form("instant", f"{_DAY}[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?"),
    Form("day", _DAY),
    Form("stray", _STRAY),
    Form("seconds", r"(?:6[3-9]|[7-9][0-9]|[1-3][0-9]{2}|40[0-9])[0-9]{7}\.[0-9]{1,9}"),
    Form("uuid", f"(?i){_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    Form("address", rf"{_OCTET}(?:\.{_OCTET}){{3}}"),
    Form("hex", f"(?:{_HEX}{{2}}){{4,64}}"),
)
"""All forms; a column has those that every value of it fits."""


def is_calendar_day(text: str) -> bool:
    """Whether eight digits are a day of the years 1900 to 2099.

    >>> is_calendar_day("20240131"), is_calendar_day("20240132")
    (True, False)
    """
    if len(text) != 8 or not "1900" <= text[:4] <= "2099":
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_calendar_second(text: str) -> bool:
    """Whether fourteen digits are a second of the years 1970 to 2099.

    >>> is_calendar_second("20240131235959"), is_calendar_second("20240131235960")
    (True, False)
    """
    if len(text) != 14 or not "1970" <= text[:4] <= "2099":
        return False
    try:
        datetime.fromisoformat(f"{text[:8]}T{text[8:]}")
    except ValueError:
        return False
    return True


def fraction_digits(texts: Sequence[str]) -> int:
    """The most digits of a fraction of a second among instants.

    >>> fraction_digits(["2024-01-31 00:00:00", "2024-01-31T00:00:00.250Z"])
    3
    """
    most = 0
    for text in texts:
        clock = text[19:] if len(text) > 19 and text[19] in ".," else ""
        digits = clock[1:].split("Z")[0].split("+")[0].split("-")[0]
        most = max(most, len(digits))
    return most
