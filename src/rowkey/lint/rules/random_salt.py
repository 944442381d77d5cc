"""The rule `random_salt`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from rowkey.design import count_combined_values
from rowkey.keys import Determinant
from rowkey.lint.contract import MAX_STRAY_SHARE, Rule
from rowkey.messages import pluralize
from rowkey.proposals import has_enough_values, has_only_times

if TYPE_CHECKING:
    from rowkey.lint.finding import Finding, Severity
    from rowkey.lint.subject import LintSubject


class RandomSalt(Rule):
    """The key contains a random salt, and single rows are read or written again.

    What it does: looks for a random part, counts the keys or ranges that each declared read tries
    because of it, and counts the events of a sample whose row, without the salt, was written
    before: with n salts, 1 - 1/n of them draw another salt. Below one event in a thousand that is
    a remark: recordings often hold a few events twice.

    Why it hurts: a client cannot know where a row is. A get becomes n gets. A row that is put twice
    may be stored twice, under two salts: reads merge the copies, but other clients see both.
    Increments and check-and-put are impossible.

    Use instead: a bucket of fields that the reads give: it spreads as well and can be computed.
    Keep a salt if rows are only appended and read as ranges, or for the flood of one value.

    Source: claims 14 and 78 salt by a random prefix, claim 15 by a hash, which lets a get work;
    claim 21 lists one row under two prefixes, as happens. Claim 87: n salts give at most n times
    the writes. HBase book, "Salting" and "Hashing".
    """

    name = "random_salt"
    code = "RK118"
    looks_at_sample = True
    severity: ClassVar[Severity] = "info"
    claims = (14, 15, 21, 78, 87)
    bad_design = """\
table  = "orders"
key    = "[salt(16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""
    good_design = """\
table  = "orders"
key    = "[bucket(order, 16)][order]"
splits = "per_bucket"

[fields]
order  = "u64"
amount = "u32"

[[reads]]
name  = "an order"
where = "order = ?"
"""

    def collect_findings(self, subject: LintSubject) -> Iterator[Finding]:
        """Yield a finding if the key contains a random salt."""
        if not subject.key.is_salted:
            return
        salts = subject.key.salt_count or 1
        notation = next(
            s for s, part in subject.iter_parts() if part.determined_by is Determinant.CHANCE
        )
        gets = [one for one in subject.reads if one.plan is not None and one.plan.is_point]
        remarks = (
            f"; the read '{gets[0].read.name}' tries {pluralize(salts, 'key')} for one row"
            if gets
            else ""
        )
        sample = subject.sample
        repeats = (sample.repeat_count or 0) if sample is not None else 0
        are_rows_rewritten = sample is not None and repeats >= MAX_STRAY_SHARE * sample.event_count
        duplicates = repeats * (1 - 1 / salts)
        if repeats:
            remarks += (
                f"; {pluralize(repeats, 'event')} of the sample write{'s' * (repeats == 1)} a row "
                f"again, and about {duplicates:,.0f} of these rows are stored twice"
            )
        remedy = "Replace the salt by a bucket of the fields that reads give."
        if names := _list_ungiven_names(subject):
            bucket = f"[bucket({', '.join(names)}, {notation.removeprefix('[salt(')}"
            remedy = (
                "Replace the salt by a bucket of the other fields of the key, for no read asks for "
                f"single values: {bucket}."
            )
        verdict = "A bucket spreads as evenly, and a get finds its row."
        if not _can_have_bucket(subject):
            remedy = (
                "Keep it, or add a field to the key that differs between the events of one moment, "
                "and use a bucket of that field."
            )
            verdict = "No bucket of the fields in this key would spread the events of one moment."
        yield self.build_finding(
            "key",
            f"{notation} is random, so a get must try every salt, and a second put of a row may "
            "store a second copy under another salt; reads merge the copies, other clients see both"
            f"{remarks}",
            remedy,
            severity="warning" if gets or (repeats and are_rows_rewritten) else "info",
            value=notation,
            verdict=verdict,
            salts=salts,
            repeats=repeats,
            duplicates=duplicates,
            gets=[one.read.name for one in gets],
        )


def _can_have_bucket(subject: LintSubject) -> bool:
    """Return whether a bucket of key fields can spread the rows of a moment, as the salt does."""
    design = subject.design
    names = tuple(design.key.fields)
    values = count_combined_values(design.fields, subject.facts, names)
    return not has_only_times(design.fields, names) and has_enough_values(
        values, design.cluster.servers
    )


def _list_ungiven_names(subject: LintSubject) -> Sequence[str]:
    """Return the fields of the key if there are reads and none gives one of them; else nothing."""
    names = subject.design.key.fields
    given = {name for one in subject.reads for name in one.read.equality_fields}
    return [] if not subject.reads or given & {*names} else list(names)
