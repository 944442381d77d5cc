"""What may be said of a table: its words in HBase, each with the values that HBase acts on.

HBase stores any word with any value. A misspelt one is kept and does nothing; a wrong value may
leave a table whose regions never open and that cannot be deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowkey.errors import Refused, did_you_mean, shown
from rowkey.regions import SplitPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LONG_MOST = 2**63 - 1
"""Greatest number Java keeps as a long. Source: Long.MAX_VALUE."""

_INT_MOST = 2**31 - 1
"""Greatest number Java keeps as an int. Source: Integer.MAX_VALUE."""

_REPLICAS_MOST = 2**16 - 1
"""Greatest number a replica may bear. Source: RegionInfo.MAX_REPLICA_ID, four hex digits."""

_POLICIES = tuple(policy.value for policy in SplitPolicy)
_PACKAGE = "org.apache.hadoop.hbase.regionserver."
"""Where these classes are. Source: HBase 2.6.4, hbase-server."""

_TRUTHS = ("true", "false")
_DURABILITIES = ("USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL")
"""Source: org.apache.hadoop.hbase.client.Durability; of others the regions never open."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a table.

    Args:
        name: as HBase writes it.
        choices: the values there are; none if it is a number or a text.
        least: smallest number; None if it is not a number.
        most: greatest number.
    """

    name: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int = _LONG_MOST

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if self.choices:
            return ", ".join(self.choices)
        return "a text" if self.least is None else f"{self.least}..{self.most} in digits"

    def takes(self, value: str) -> bool:
        """Whether HBase acts on the value."""
        if self.name == "SPLIT_POLICY":
            return value in self.choices or "." in value
        if self.choices:
            return value in self.choices
        if self.least is None:
            return bool(value)
        plain = value.isascii() and value.isdigit() and len(value) <= len(str(self.most))
        return plain and str(int(value)) == value and self.least <= int(value) <= self.most


WORDS: Mapping[str, Word] = {
    word.name: word
    for word in (
        Word("MAX_FILESIZE", least=2 << 20),
        Word("MEMSTORE_FLUSHSIZE", least=1 << 20),
        Word("READONLY", _TRUTHS),
        Word("DURABILITY", _DURABILITIES),
        Word("REGION_REPLICATION", least=1, most=_REPLICAS_MOST),
        Word("REGION_MEMSTORE_REPLICATION", _TRUTHS),
        Word("SPLIT_POLICY", _POLICIES),
        Word("SPLIT_ENABLED", _TRUTHS),
        Word("MERGE_ENABLED", _TRUTHS),
        Word("COMPACTION_ENABLED", _TRUTHS),
        Word("NORMALIZATION_ENABLED", _TRUTHS),
        Word("NORMALIZER_TARGET_REGION_COUNT", least=1, most=_INT_MOST),
        Word("NORMALIZER_TARGET_REGION_SIZE_MB", least=1),
        Word("PRIORITY", least=0, most=_INT_MOST),
        Word("FLUSH_POLICY"),
        Word("ERASURE_CODING_POLICY"),
    )
}
"""Every word of a table.

Source: TableDescriptorBuilder of 2.6.4; TableDescriptorChecker: hbase.hregion.max.filesize.limit
2 MiB, hbase.hregion.memstore.flush.size.limit 1 MiB.
"""

OWN = "IS_META"
"""A word HBase keeps with each table by itself; nobody sets it."""


def check_words(words: Mapping[str, object]) -> Iterator[Refused]:
    r"""Every mistake in the words of a table, with the word as its path.

    Words with a small letter or a point in them are somebody's own, or settings of the site that
    the table overrides; they pass, unless only their letters differ from a word of HBase.

    Args:
        words: the words; None for one that is to be removed.

    >>> print(*check_words({"READONLY": "yes", "MAX_FILESIZ": "1", "rowkey.n": "16"}), sep="\n")
    READONLY: 'yes' does nothing; expected true, false.
    MAX_FILESIZ: is no word of a table to HBase. Did you mean MAX_FILESIZE?
    """
    for word, value in words.items():
        if not is_text(word):
            yield Refused("", f"{shown(word)} is no word", "a text that is not empty")
        elif value is not None and not isinstance(value, str):
            yield Refused(word[:80], f"{shown(value)} is no text", "a text")
        elif value == "":  # Source: TableDescriptorBuilder.setValue: it removes the word
            yield Refused(
                word[:80], "is empty, which HBase does not keep", "a text that is not empty"
            )
        elif not is_writable(word + (value or "")):
            yield Refused(word[:80], f"{shown(value)} has half a character", "text as UTF-8 has it")
        elif word in WORDS:
            if value is not None and not WORDS[word].takes(value):
                near = did_you_mean(value, WORDS[word].choices)
                yield Refused(word, f"{value[:80]!r} does nothing", WORDS[word].allowed, near)
        else:
            yield from _check_unknown(word)


def is_text(value: object) -> bool:
    """Whether something can be the name of anything: a text that is not empty."""
    return isinstance(value, str) and bool(value)


def is_writable(text: str) -> bool:
    """Whether UTF-8 can write a text: it has no half of a character."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _check_unknown(word: str) -> Iterator[Refused]:
    """The mistake in a word that HBase does not know, if it is one."""
    meant = word.upper()
    if meant == OWN:
        yield Refused(word, "is kept by HBase itself", "it left out")
    elif meant in WORDS:
        yield Refused(word, "is no word of a table to HBase", remedy=f"Did you mean {meant}?")
    elif word == meant and "." not in word and any(map(str.isalpha, word)):
        near = did_you_mean(word, WORDS)
        own = f"Put a point into a word of your own: app.{word[:80].lower()}."
        yield Refused(word[:80], "is no word of a table to HBase", remedy=near or own)


def as_hbase_says(words: Mapping[str, str]) -> dict[str, str]:
    """Words as they are sent: a split policy by the full name of its class.

    >>> as_hbase_says({"SPLIT_POLICY": "DisabledRegionSplitPolicy"})
    {'SPLIT_POLICY': 'org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy'}
    """
    policy = words.get("SPLIT_POLICY", "")
    told = {"SPLIT_POLICY": f"{_PACKAGE}{policy}"} if policy in _POLICIES else {}
    return {**words, **told}
