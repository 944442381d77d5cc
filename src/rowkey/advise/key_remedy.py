"""The remedy by another key: the key that the search recommends, the same in every command."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from rowkey.advise.advice import MIN_GAIN
from rowkey.explanations import Explanation, ReadKeyProposal, explain_read
from rowkey.keys import Order
from rowkey.lint import RULES
from rowkey.messages import Message, format_mean, format_number
from rowkey.plan import BoundRead
from rowkey.proposals import ANOTHER_KEY, KeyProposal
from rowkey.schema import format_key

if TYPE_CHECKING:
    from rowkey.advise.advice import Advice
    from rowkey.advise.judgement import JudgedDesign
    from rowkey.findings import Finding
    from rowkey.hotspots import CauseFinding, ReadCauseFinding
    from rowkey.lint import LintResult, Rule
    from rowkey.simulate import Simulation

    Remediable = TypeVar("Remediable", Finding, CauseFinding, ReadCauseFinding)

NO_KEY_REMEDY = Message(
    "remedy.no_key",
    "No other key was better in a replay of the events and the reads; rowkey advise says which "
    "were judged, and why they are not proposed.",
)


_REPLAYS = (
    Message("remedy.replay", "a replay of all events"),
    Message("remedy.half_replay", "a replay of the second half of the events"),
)
"""What the figures of a search are of, which may be more events or fewer than a verdict is of."""


class KeyRemedy:
    """What the search recommends, as the remedy of each finding and cause that needs another key.

    No key is named for what the recommended tables do not mend.

    Args:
        advice: the result of the search.
    """

    def __init__(self, advice: Advice) -> None:
        self._declared_design = advice.declared
        self._tables = advice.recommendation
        self._proposals = tuple(map(self._build_proposal, self._tables))

    def complete_design(self, judged: JudgedDesign) -> None:
        """Name this remedy in the findings, causes and verdict of a judged design."""
        judged.lint_result = complete_findings(judged.lint_result, lambda: self)
        judged.simulation = self.complete_simulation(judged.simulation)
        vars(judged).pop("verdict", None)

    def complete_findings(self, result: LintResult) -> LintResult:
        """Return the findings of the rules with this remedy where another key is needed."""
        findings = tuple(map(self._complete_finding, result.findings))
        if (first := self._find_first(findings)) is not None:
            findings = tuple(self._defer_finding(one, first) for one in findings)
        causes = tuple(map(self._complete_cause, result.causes))
        return replace(result, findings=findings, causes=causes)

    def complete_simulation(self, simulation: Simulation) -> Simulation:
        """Return a simulation with this remedy in the causes that need another key."""
        completed = replace(simulation)
        vars(completed).update(vars(simulation))
        vars(completed).update(
            causes=[self._complete_cause(one) for one in simulation.causes],
            read_causes={
                name: [self._complete_read_cause(name, one) for one in causes]
                for name, causes in simulation.read_causes.items()
            },
        )
        return completed

    def complete_explanation(self, explanation: Explanation, read: BoundRead) -> Explanation:
        """Return the explanation of a read with the recommended table that serves it, if any."""
        for table, proposal in zip(self._tables, self._proposals, strict=True):
            design = table.design
            served = explain_read(design.key, read)
            if served.access_type != "full scan" and served.order_method != "sorted":
                proposed = ReadKeyProposal(
                    key=proposal.key,
                    fan_out=served.fan_out,
                    is_backwards=served.order_method == "backwards",
                    residual_fields=served.residual_fields,
                    moved_fields=tuple(
                        name
                        for name in design.key.fields
                        if name not in self._declared_design.design.key.fields
                    ),
                    remedy=self._format_remedy(),
                )
                return replace(explanation, proposal=proposed)
        return replace(explanation, proposal=None)

    def _complete_finding(self, finding: Finding) -> Finding:
        """Return a finding with this remedy if it needs another key."""
        if not finding.needs_key:
            return finding
        remaining = {
            _identify_finding(one)
            for table in self._tables
            for one in table.lint_result.findings
            if one.rank >= finding.rank and one.needs_key
        }
        is_mended = _identify_finding(finding) not in remaining and (
            self._spreads_writes
            or self._serves_reads_better
            or _find_rule(finding).measured_by != "writes"
        )
        completed = self._complete(finding, is_mended=is_mended)
        key_fields = self._declared_design.design.key.fields
        given = finding.evidence.get("given", ())
        outside = [name for name in given if name not in key_fields]
        if completed.remedy != NO_KEY_REMEDY:
            return completed
        if _find_rule(finding).measured_by == "writes":
            return replace(completed, remedy=self._no_write_remedy)
        orders = finding.evidence.get("wanted", ()) if given else ()  # else a number of regions
        orderings = [str(one).split(" ") for one in orders]
        if any(name not in key_fields for name, *_ in orderings):
            terms = [f"desc({name})" if rest == ["desc"] else name for name, *rest in orderings]
            remedy = Message(
                "remedy.order_in_key",
                "Put {terms} after {fields} in this key, or in the key of a second table.",
                terms=" and ".join(terms),
                fields=" and ".join(given),
            )
            return replace(completed, remedy=remedy)
        if not outside:
            fields = self._declared_design.design.fields
            if orders or not given or any(fields[name].type.unit_ns for name in given):
                return completed  # a key that begins with a time is hot
            front = self._declared_design.design.key.parts[0]
            if front.order is Order.NONE and {*given} & {*front.fields}:
                remedy = Message(
                    "remedy.plain_front",
                    "Begin this key, or the key of a second table, with {fields} in place of "
                    "{front}, which keeps no order.",
                    fields=" and ".join(given),
                    front=str(self._declared_design.design.key.terms[0]),
                )
                return replace(completed, remedy=remedy)
            remedy = Message(
                "remedy.key_front",
                "Put {fields} first in this key, or in the key of a second table.",
                fields=" and ".join(given),
            )
            return replace(completed, remedy=remedy)
        remedy = Message(
            "remedy.second_table",
            "Write each event to a second table too, whose key begins with {fields}; the program "
            "that writes the events keeps both tables in step.",
            fields=" and ".join(outside),
        )
        return replace(completed, remedy=remedy)

    def _find_first(self, findings: tuple[Finding, ...]) -> Finding | None:
        """Return the most severe finding that this key mends, before which no other is mended.

        None if all of them are about regions alone.
        """
        if not self._tables:
            return None
        remedy = self._format_remedy()
        candidates = [one for one in findings if one.remedy == remedy and not concerns_regions(one)]
        return max(candidates, key=lambda one: one.rank, default=None)

    def _defer_finding(self, finding: Finding, first: Finding) -> Finding:
        """Return a finding whose remedy holds next to that of the one that names another key."""
        if finding.remedy == first.remedy:
            return finding
        if concerns_regions(finding) and finding.remedy and not first.rank:
            remedy = Message(
                "remedy.for_present_key",
                "{remedy} This is for the present key; {code} proposes another key, which may "
                "need other regions.",
                remedy=finding.remedy,
                code=first.code,
            )
        elif concerns_regions(finding):
            remedy = Message(
                "remedy.key_first",
                "Change the key first, as {code} proposes; rowkey computes how many regions the "
                "table needs once it has that key.",
                code=first.code,
            )
        elif finding.remedy == NO_KEY_REMEDY:
            remedy = Message(
                "remedy.not_by_key",
                "The change that {code} proposes does not help here, and no other key was better "
                "in a replay of the events and the reads.",
                code=first.code,
            )
        elif not finding.remedy or not finding.path.startswith(("key", "reads")):
            return finding  # it changes no part of the key
        elif _identify_finding(finding) in {
            _identify_finding(one) for table in self._tables for one in table.lint_result.findings
        }:
            if not finding.rank:
                return finding
            remedy = Message(
                "remedy.also_in_key",
                "{remedy} This also holds for the key that {code} proposes.",
                remedy=finding.remedy,
                code=first.code,
            )
        else:
            remedy = Message(
                "remedy.mended_by_key",
                "The change that {code} proposes settles this too.",
                code=first.code,
            )
        return replace(finding, remedy=remedy)

    def _complete_cause(self, cause: CauseFinding) -> CauseFinding:
        """Return a cause of the load of writes with this remedy if it needs another key."""
        if not cause.needs_key:
            return cause
        completed = self._complete(cause, is_mended=self._spreads_writes)
        if completed.remedy != NO_KEY_REMEDY:
            return completed
        return replace(completed, remedy=self._no_write_remedy)

    def _complete_read_cause(self, name: str, cause: ReadCauseFinding) -> ReadCauseFinding:
        """Return a cause of the load of a read with this remedy if the recommended key lacks it."""
        if not cause.needs_key:
            return cause
        cost = sum(one.read_cost for one in self._tables)
        remaining = {
            one.code for table in self._tables for one in table.simulation.read_causes.get(name, ())
        }
        is_mended = cause.code not in remaining and cost < self._declared_design.read_cost
        return self._complete(cause, is_mended=is_mended)

    def _complete(self, one: Remediable, *, is_mended: bool) -> Remediable:
        """Return a finding or cause with the recommended key, if that mends it, as its remedy."""
        if self._tables and is_mended:
            return replace(one, remedy=self._format_remedy())
        return replace(one, remedy=NO_KEY_REMEDY) if one.remedy == ANOTHER_KEY else one

    @cached_property
    def _no_write_remedy(self) -> Message:
        """Return what to do about uneven writes where no other key is better."""
        findings = self._declared_design.lint_result.findings
        divisions = (one.evidence.get("division") for one in findings)
        division = next(filter(None, divisions), "")
        if not division:
            return NO_KEY_REMEDY
        return Message(
            "remedy.divide_rows",
            "No other key of these fields was better in a replay of the events and the reads. "
            "Divide each row into several, which a read adds up: {division}.",
            division=division,
        )

    @cached_property
    def _spreads_writes(self) -> bool:
        """Return whether the load of writes is better under all recommended tables."""
        return all(one.write_cost < self._declared_design.write_cost for one in self._tables)

    @cached_property
    def _serves_reads_better(self) -> bool:
        """Return whether reads cost less under the recommended tables, and writes hardly more."""
        declared = self._declared_design
        most = (1 + MIN_GAIN) * declared.write_cost
        read_cost = sum(one.read_cost for one in self._tables)
        return read_cost < (1 - MIN_GAIN) * declared.read_cost and all(
            one.write_cost <= most for one in self._tables
        )

    def _build_proposal(self, table: JudgedDesign) -> KeyProposal:
        """Return what the declared design must change to be a recommended table."""
        before, after = self._declared_design.design, table.design
        splits = after.splits.algorithm
        is_same = len(self._tables) == 1 and after.splits == before.splits
        return KeyProposal(
            key=format_key(after.key.terms),
            splits="" if is_same else splits,
            heavy_values={
                name: field.heavy_values
                for name, field in after.fields.items()
                if field.heavy_values != before.fields[name].heavy_values
            },
            unique_fields=tuple(
                name
                for name, field in after.fields.items()
                if field.declaration.unique and not before.fields[name].declaration.unique
            ),
        )

    @cached_property
    def _dearer_reads(self) -> str:
        """Return the reads that ask more ranges under the recommended tables, with how many."""
        reads = {
            read.name: cost
            for table in self._tables
            for read, cost in zip(table.design.reads, table.simulation.reads, strict=True)
        }
        declared = self._declared_design
        texts = []
        present_reads = zip(
            declared.simulation.design.reads, declared.simulation.reads, strict=True
        )
        for read, cost in present_reads:
            (ranges, _), (present, _) = reads[read.name].fan_out, cost.fan_out
            if ranges > present and not cost.is_full_scan and not cost.error:
                counts = format_mean(ranges), format_mean(present)
                texts.append("{} {} (now {})".format(read.name, *counts))
        return ", ".join(texts)

    def _format_remedy(self) -> Message:
        """Return the recommended key or keys as a sentence, with what they do to the load."""
        remedy = self._format_tables()
        if not self._dearer_reads:
            return remedy
        return Message(
            "remedy.dearer_reads",
            "{remedy} Reads that then scan more key ranges: {reads}.",
            remedy=remedy,
            reads=self._dearer_reads,
        )

    def _format_tables(self) -> Message:
        """Return the recommended key or keys as a sentence, with what they do to the load."""
        if len(self._proposals) > 1:
            return Message(
                "remedy.tables",
                "Write each event to {count} tables: {tables}.",
                count=len(self._proposals),
                tables="; ".join(one.toml_text for one in self._proposals),
            )
        (table,), (proposal,) = self._tables, self._proposals
        declared = self._declared_design
        replay = _REPLAYS[bool(declared.simulation.source.first_replayed)]
        is_as_even = table.write_cost >= (1 - MIN_GAIN) * declared.write_cost
        if is_as_even and table.read_cost < declared.read_cost:
            return Message(
                "remedy.key_for_reads",
                "Use {toml}: in {replay} the declared reads take {share} of the operations that "
                "they take now.",
                toml=proposal.toml_text,
                replay=replay,
                share=f"{format_number(100 * table.read_cost / declared.read_cost, 2)} %",
            )
        return Message(
            "remedy.key",
            "Use {toml}: in {replay} the busiest server takes {skew}× its fair share of the "
            "writes, now {present}×.",
            toml=proposal.toml_text,
            replay=replay,
            skew=f"{max(table.simulation.verdict.skew, 1.0):.2f}",
            present=f"{max(declared.simulation.verdict.skew, 1.0):.2f}",
        )


def complete_findings(
    result: LintResult, find_remedy: Callable[[], KeyRemedy | None]
) -> LintResult:
    """Return findings with the recommended key where one is needed; else nothing is searched."""
    if not needs_another_key(result.findings) and not needs_another_key(result.causes):
        return result
    remedy = find_remedy()
    return result if remedy is None else remedy.complete_findings(result)


def needs_another_key(found: Iterable[Finding | CauseFinding | ReadCauseFinding]) -> bool:
    """Return whether the remedy of any finding or cause is another key."""
    return any(one.needs_key for one in found)


def concerns_regions(finding: Finding) -> bool:
    """Return whether the remedy of a finding is about regions and their boundaries."""
    return _find_rule(finding).concerns_regions


def _find_rule(finding: Finding) -> type[Rule]:
    """Return the rule of a finding."""
    return RULES[finding.name.replace("-", "_")]


def _identify_finding(finding: Finding) -> tuple[str, object]:
    """Return the rule of a finding, and the read that it is about."""
    return finding.code, finding.value if finding.path.startswith("reads") else ""
