"""The search for better row keys of a design, judged by its own events.

Every key that the design could have is a candidate. There are too many to replay all events under
each, so four steps follow each other, of fewer candidates and with more work for each:

1. Estimate the costs of all: of reads by their plans, of bytes by the fields, and of writes by a
   replay of the first 10,000 events, one for all candidates of a kind.
2. Judge the finalists by the first 30,000 events: the best by each cost, then the best by all costs
   together, one of a kind, and none of which a rule warns. It stops at eight, or when so many were
   refused that the others hardly fare better.
3. If not all is good under the best single key, do the same for the reads of each of two tables,
   then of three.
4. Judge by all events what would be proposed. Where that changes what is proposed, judge that too,
   until nothing is proposed that only the first events speak for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from rowkey.advise.advice import (
    Advice,
    Pick,
    RefusedKey,
    choose_picks,
    find_new_warning,
    find_objection,
    refuse_key,
)
from rowkey.advise.candidate_judge import CandidateJudge
from rowkey.advise.distinguishing_fields import DistinguishingFields
from rowkey.advise.finalists import Finalists
from rowkey.advise.judgement import JudgedDesign
from rowkey.advise.key_remedy import KeyRemedy
from rowkey.advise.lower_bounds import compute_lower_bounds
from rowkey.advise.read_estimates import ReadEstimator
from rowkey.advise.read_groups import MAX_TABLES, group_reads
from rowkey.advise.resources import get_capacity
from rowkey.cells import build_table_name
from rowkey.design import Design, find_companion_obstacle
from rowkey.errors import InvalidDesign
from rowkey.lint import check_design
from rowkey.messages import Message
from rowkey.open_file_limit import explain_shortage
from rowkey.progress import Progress, ReportProgress
from rowkey.proposals import (
    Candidate,
    apply_proposal,
    assume_read,
    list_candidates,
    list_unique_fields,
    plan_example_reads,
)
from rowkey.rows import Layout
from rowkey.schema import format_key
from rowkey.simulate import EventSource, open_source
from rowkey.workload import POOR_UTILIZATION, SampleInput

if TYPE_CHECKING:
    from rowkey.advise.finalists import CandidateCosts

MAX_FINALISTS, MAX_TABLE_FINALISTS = 8, 4
"""Finalists that are judged, for all reads and for those of one of several tables."""
MAX_NAME_FIELDS = 2
"""Fields of a read that the name of a further table has."""
SEARCHING = "searching"
"""The phase in which keys are compared by the first events."""
OVERWRITING_RULE = "RK108"
"""The rule that a design allows where the last of several events of one row is to win."""
MAX_REPEATS = 0.01
"""Share of the events that write a row again, up to which they are taken to be recorded twice."""
MIN_TABLE_GAIN = 2
"""Times as much as reads cost with a further table, from which it helps though no grade changes."""


@explain_shortage
def search(
    design: Design,
    sample: SampleInput | None = None,
    *,
    format_options: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: ReportProgress | None = None,
) -> Advice:
    """Search for keys that serve the writes and the declared reads of a design better.

    The candidates are orders of the fields of its key, and of fields that its reads give, behind
    nothing, a salt or a bucket. What they cost reads is estimated for all of them; their writes are
    replayed by the first events, once for each leading part; what is left is judged by all events.
    A proposed design has no worse verdict than the declared one, and no finding that it has not but
    one on the size of its regions. Ctrl-C ends the search with the best keys so far.

    Args:
        design: the design.
        sample: a file of recorded events, its recording, or a table of them; the design's own if
            None, or events made from its file.
        format_options: how the file is read; as the design declares if None.
        seed: where randomness begins: the same seed gives the same advice.
        progress: called with the phase, how much of it is done, and of how much.

    Raises:
        SampleError: the sample cannot be read, or is needed and missing.
        KeyboardInterrupt: it was interrupted before any key was judged.

    Cost: the later half of 10,000 events for each leading part, of 30,000 for at most 9 keys and
    for 5 of each further table, and all events for what is proposed.
    """
    source = open_source(
        design,
        sample,
        format_options,
        second_half=False,
        seed=seed,
        keeps_all_fields=True,
        progress=progress,
    )
    return search_on_source(design, source, seed, progress)


def search_on_source(
    design: Design,
    source: EventSource,
    seed: int,
    progress: ReportProgress | None,
    *,
    can_split_by_sample: bool = True,
) -> Advice:
    """Search for better keys of a design as `search` does, by events with all their fields.

    Args:
        design: the design.
        source: its events.
        seed: where randomness begins.
        progress: called with what is done.
        can_split_by_sample: whether regions may begin at keys of the sample, which keys need that
            nothing spreads.
    """
    search = _KeySearch(design, source, seed, progress, can_split_by_sample=can_split_by_sample)
    advice = search.advise()
    named, unnamed = KeyRemedy(advice), KeyRemedy(replace(advice, picks=(), tables=()))
    named.complete_design(advice.declared)
    for judged in (*advice.tables, *(pick.judged for pick in advice.picks)):
        unnamed.complete_design(judged)  # the search found nothing better than it
    return advice


class _KeySearch:
    """One search.

    Args:
        design: the design.
        source: its events.
        seed: where randomness begins.
        progress: called with what is done.
        can_split_by_sample: whether regions may begin at keys of the sample.
    """

    def __init__(
        self,
        design: Design,
        source: EventSource,
        seed: int,
        progress: ReportProgress | None,
        *,
        can_split_by_sample: bool,
    ) -> None:
        source.check_events()
        self.design = design.keep_own_reads(source.facts)
        self.progress = progress
        self.source = source
        # Where no reads are declared, rows that a key keeps together are taken to be read together.
        read_design = assume_read(self.design)
        self.reads = list(plan_example_reads(read_design, source.facts))
        self._judge = CandidateJudge(design, self.design, source, self.reads, seed)
        self._added_fields = self._list_added_fields()
        self.candidates = list_candidates(
            read_design,
            source.facts,
            has_sample=source.summary is not None and can_split_by_sample,
            added_fields=self._added_fields,
            find_distinguishing=self._find_distinguishing,
        )
        rows = self._judge.row_count
        estimator = ReadEstimator(read_design, source.facts, rows, self.reads)
        self.read_rates = list(map(estimator.get_rate, self.reads))
        self.read_costs = estimator.estimate_costs([one.bound_key for one in self.candidates])
        self._layouts: dict[frozenset[str], Layout] = {}
        self.sizes = list(map(self._estimate_event_bytes, self.candidates))
        self.skews: dict[tuple[str, ...], float | None] = {}
        self.declared: JudgedDesign
        self.judged: list[JudgedDesign] = []
        self.tables: tuple[JudgedDesign, ...] = ()
        self._next_tables: dict[str, list[JudgedDesign]] = {}
        self.refused: list[RefusedKey] = []

    @cached_property
    def _updates_rows(self) -> bool:
        """Return whether events update rows: of those with the same key the last one is to win.

        The design file allows it, or names no time by which it keeps events apart. A few such
        events are recorded twice.
        """
        summary = self.source.summary
        repeats = 0 if summary is None else summary.repeat_count or 0
        if summary is None or repeats <= MAX_REPEATS * summary.event_count:
            return False
        if not self.design.has_event_rows:
            return True
        found = check_design(self.design, summary, select=(OVERWRITING_RULE,))
        return bool(found.allowed_findings)

    def _list_added_fields(self) -> set[str]:
        """Return the fields that a key may hold besides, and say why where there are none."""
        summary = self.source.summary
        wanted = dict.fromkeys(name for read in self.reads for name in read.key_fields)
        missing = [name for name in wanted if name not in self.design.key.fields]
        known = set() if summary is None else set(summary.fields)
        if unknown := [name for name in missing if name not in known]:
            self.source.assumptions.append(
                Message(
                    "assumption.unknown_fields",
                    "no key with {fields} is tried, because no sample shows their values: "
                    "declare [sample] path, a recording of your events with all their fields",
                    fields=", ".join(unknown),
                )
            )
        if summary is None:
            return set()
        missing = [name for name in missing if name in known]
        if self._updates_rows and missing:
            self.source.assumptions.append(
                Message(
                    "assumption.updated_rows",
                    "{repeats:,} of {events:,} events write a row that an earlier event wrote, "
                    "so rows are taken to be updated, and no key with {fields} is tried: a "
                    "changed value would leave the old row behind; if these events are copies of "
                    "earlier ones, remove them from the sample; if each is a row of its own, add "
                    "a field to the key that tells them apart",
                    repeats=summary.repeat_count,
                    events=summary.event_count,
                    fields=", ".join(missing),
                )
            )
        return set() if self._updates_rows else known

    @cached_property
    def _distinguishing(self) -> DistinguishingFields | None:
        """Return what finds the fields that keep rows apart; None without a sample.

        Also None where rows are shared, or events are versions of one row, by the design.
        """
        summary = self.source.summary
        if summary is None or self._updates_rows or summary.repeat_count is None:
            return None
        return DistinguishingFields(self.design, summary)

    def _find_distinguishing(self, names: frozenset[str]) -> tuple[str, ...]:
        """Return the fields that keep the rows of a key with some fields apart."""
        return self._distinguishing.find(names) if self._distinguishing is not None else ()

    def advise(self) -> Advice:
        """Return the advice."""
        self.declared = self._judge.judge_by_first_events(self.design)
        is_complete = False
        try:
            self._judge_keys(self.design, tuple(range(len(self.reads))), self.judged)
            self.tables = self._choose_tables(choose_picks(self.declared, self.judged))
            self._judge_by_all_events()
            is_complete = True
        except KeyboardInterrupt as problem:
            if not self.judged or type(problem) is not KeyboardInterrupt:
                raise
        return self._conclude(is_complete=is_complete)

    def _judge_by_all_events(self) -> None:
        """Judge by all events what is proposed, until nothing is proposed by the first ones alone.

        All of them are replayed, so that each figure is that of `rowkey simulate`; the second half
        if what is proposed is split by the first, since only the same events can be compared.
        """
        is_half, first_judged = self._judge.replays_half, self.judged
        self._confirm_proposed(first_judged)
        picks = choose_picks(self.declared, self.judged)
        is_split = any(map(_is_split, (*self.tables, *(one.judged for one in picks))))
        if self._judge.replays_half and not is_half and not is_split:
            # Those that needed the half are not proposed by it.
            split = [one for one in self.judged if _is_split(one)]
            self.refused += [refuse_key(self.declared, one) for one in split]
            for name, tables in self._next_tables.items():
                self._next_tables[name] = [one for one in tables if not _is_split(one)]
            self._judge.replays_half = False
            self._confirm_proposed([one for one in first_judged if not _is_split(one)])

    def _confirm_proposed(self, first_judged: Sequence[JudgedDesign]) -> None:
        """Judge what is proposed by all events, or by their second half if any of it needs that.

        A table that all events do not confirm is replaced by the next one for its reads; tables
        that are then no better than a single one are dropped.

        Args:
            first_judged: designs with other keys, judged by the first events.
        """
        self.judged = [*first_judged]
        tables = [(one, *self._next_tables.get(one.design.table, ())) for one in self.tables]
        self._judge.replays_half |= any(map(_is_split, chain(*tables)))
        self.declared = self._judge.judge_by_all_events(self.design)
        confirmed: set[int] = set()
        while places := self._list_proposed() - confirmed:
            if not self._judge.replays_half and any(_is_split(self.judged[at]) for at in places):
                self._judge.replays_half = True
                self._confirm_proposed(first_judged)
                return
            for place in places:
                self.judged[place] = self._judge.judge_by_all_events(self.judged[place].design)
            confirmed |= places
        picks = choose_picks(self.declared, self.judged)
        confirmed_tables = tuple(map(self._confirm_table, tables))
        warnings = [warning for one in confirmed_tables for warning in one.warnings]
        is_bearable = sum(map(_get_write_load, confirmed_tables)) < 1
        is_clean = find_new_warning(self.declared.warning_codes, warnings) is None
        is_better = _is_better(confirmed_tables, _choose_single(self.declared, picks))
        self.tables = confirmed_tables if is_better and is_bearable and is_clean else ()

    def _confirm_table(self, tables: Sequence[JudgedDesign]) -> JudgedDesign:
        """Return the first of some tables for the same reads that all events grade no worse.

        If all events grade each of them worse, return the best.
        """
        confirmed: list[JudgedDesign] = []
        for one in tables:
            judged = self._judge.judge_by_all_events(one.design)
            confirmed.append(judged)
            warning = find_new_warning(self.declared.warning_codes, judged.warnings)
            if judged.verdict.decisive.rank <= one.verdict.decisive.rank and warning is None:
                return judged
        return min(confirmed, key=lambda one: one.verdict.rank)

    def _list_proposed(self) -> set[int]:
        """Return the places, among the judged keys, of those that are proposed."""
        chosen = {id(pick.judged) for pick in choose_picks(self.declared, self.judged)}
        return {place for place, one in enumerate(self.judged) if id(one) in chosen}

    def _conclude(self, *, is_complete: bool) -> Advice:
        """Return the advice by what has been judged."""
        picks = choose_picks(self.declared, self.judged)
        proposed = {
            format_key(one.design.key.terms)
            for one in (*self.tables, *(pick.judged for pick in picks))
        }
        refused = [*(refuse_key(self.declared, one) for one in self.judged), *self.refused]
        return Advice(
            self.declared,
            tuple(picks),
            self.tables,
            tuple({one.key: one for one in refused if one.key not in proposed}.values()),
            compute_lower_bounds(self.declared.simulation, self._list_tried_fields()),
            len(self.candidates),
            self._judge.replay_count,
            tuple(self.source.assumptions),
            self.source.skipped_rows,
            is_complete,
        )

    def _list_tried_fields(self) -> tuple[str, ...]:
        """Return the fields that the declared key or a candidate has, in the design's order."""
        keys = (self.design.key, *(one.bound_key for one in self.candidates))
        tried = {name for key in keys for name in key.fields}
        return tuple(name for name in self.design.fields if name in tried)

    def _choose_tables(self, picks: Sequence[Pick]) -> tuple[JudgedDesign, ...]:
        """Return the fewest tables of the best verdict, if better than any single one; else none.

        Each event is written to all of them, so their servers have to bear the writes of all.
        """
        best: tuple[JudgedDesign, ...] = _choose_single(self.declared, picks)
        for table_count in range(2, MAX_TABLES + 1):
            if not any(_combine_ranks(best)):
                break
            groups = group_reads(self.read_costs, self.design.writes.rate or 1.0, table_count)
            tables = self._judge_tables(groups) if len(groups) == table_count else []
            if _is_better(tables, best):
                best = tuple(tables)
        return best if len(best) > 1 else ()

    def _judge_tables(self, groups: list[tuple[int, ...]]) -> list[JudgedDesign]:
        """Return the best table for each group of reads; none if no server bears the writes.

        They are such that the first can have the others as companions, unless there are no such.
        """
        groups.sort(key=lambda group: -sum(self.read_rates[at] for at in group))
        own, time = {*self.design.key.fields}, self.design.writes.time
        wanted = {name for read in self.reads for name in read.key_fields}
        added = wanted & self._added_fields
        unique = list_unique_fields(self.design, self.source.facts, own | added)
        bounded = {name for read in self.reads for name in read.bounds}
        asked = own & (wanted | bounded | ({time.name} if time is not None else set()))
        fewest = {*unique[:1], *asked, *added} if unique else own | added
        for shared in dict.fromkeys([frozenset(fewest), frozenset(own | added), None]):
            if tables := self._find_tables(groups, shared):
                return tables if sum(map(_get_write_load, tables)) < 1 else []
        return []

    def _find_tables(
        self, groups: Sequence[Sequence[int]], shared: frozenset[str] | None
    ) -> list[JudgedDesign]:
        """Return the best table for each group of reads; none if one has no key worth proposing.

        Args:
            groups: the indexes of the reads of each table.
            shared: the fields that all keys have; None if each has what suits its reads.
        """
        tables: list[JudgedDesign] = []
        for group in groups:
            base = self._build_table(group, [one.design.table for one in tables])
            judged: list[JudgedDesign] = []
            if shared in (None, frozenset(base.key.fields)):
                judged.append(self._judge.judge_by_first_events(base))
            self._judge_keys(base, group, judged, MAX_TABLE_FINALISTS, shared)
            picks = [pick.judged for pick in choose_picks(self.declared, judged)]
            others = [one for one in judged if not find_objection(self.declared, one)]
            others.sort(key=lambda one: (one.verdict.rank, one.read_cost))
            ordered = {id(one): one for one in (*picks, *others)}
            main = tables[0].design if tables and shared is not None else None
            named = set(self._list_name_fields(group)) if tables else set()
            found = [
                one
                for one in ordered.values()
                if _serves_reads(one)
                and named <= {*one.design.key.fields}
                and not (
                    main is not None
                    and find_companion_obstacle(main, {one.design.table: one.design})
                )
            ]
            if not found:
                return []
            table, *self._next_tables[base.table] = found
            tables.append(table)
        return tables

    def _list_name_fields(self, group: Sequence[int]) -> list[str]:
        """Return the fields after which a table is named: those of its first read in a key."""
        first = self.reads[group[0]]
        fields = dict.fromkeys([*first.bounds, *(one.field for one in first.order)])
        can_hold = {*self.design.key.fields} | self._added_fields
        return [name for name in fields if name in can_hold][:MAX_NAME_FIELDS]

    def _build_table(self, group: Sequence[int], names: Sequence[str]) -> Design:
        """Return the design with some of its reads; a further table is named after the first.

        Args:
            group: the indexes of the reads.
            names: the tables that there are already.
        """
        name = self.design.table
        if names:
            fields = self._list_name_fields(group)
            suffix = build_table_name("_".join(fields))
            name += f"_by_{suffix}" if suffix else f"_{len(names) + 1}"
            name += f"_{len(names) + 1}" if name in names else ""
        return self._judge.copy_with_reads(self.design, {self.reads[at].name for at in group}, name)

    def _judge_keys(
        self,
        design: Design,
        reads: Sequence[int],
        judged: list[JudgedDesign],
        count: int = MAX_FINALISTS,
        shared: frozenset[str] | None = None,
    ) -> None:
        """Judge a design under the most promising keys of which no rule warns.

        Args:
            design: the design.
            reads: the indexes of its reads among all.
            judged: the list to which each is added when it is judged.
            count: how many keys to judge at most.
            shared: the fields that the keys have, without a random salt, so that the table can be a
                companion of others; None if they may have what the reads ask for.
        """
        usable = {*design.key.fields}
        shared = shared and shared.union(self._find_distinguishing(shared))
        for read in (self.reads[at] for at in reads):
            usable |= {*read.bounds, *(one.field for one in read.order)}
        costs = [
            (cost, poor, candidate)
            for cost, poor, candidate in self._estimate_costs(reads)
            if (
                usable.union(candidate.distinguishing_fields) >= {*candidate.bound_key.fields}
                if shared is None
                else shared == {*candidate.bound_key.fields} and not candidate.bound_key.is_salted
            )
        ]
        finalists = Finalists(design, self._judge.judge_unless_refused, judged, count)
        try:
            finalists.choose(costs)
        finally:  # an interrupted search has them too
            self.refused += finalists.list_refused()

    def _estimate_costs(self, reads: Sequence[int]) -> list[CandidateCosts]:
        """Return the valid candidates, each with estimates of its costs and of its poor reads."""
        costs = self.read_costs[:, list(reads)]
        totals, poor = costs.sum(axis=1), (costs > self._poor_operations).sum(axis=1)
        places_by_kind: dict[tuple[str, ...], list[int]] = {}
        for place, candidate in enumerate(self.candidates):
            places_by_kind.setdefault(candidate.kind, []).append(place)
        found: list[CandidateCosts] = []
        for number, (kind, places) in enumerate(places_by_kind.items()):
            if self.progress is not None:
                self.progress(Progress(SEARCHING, number, len(places_by_kind)))
            if kind not in self.skews:  # more buckets of the same fields spread about as well
                cheapest = min(places, key=lambda place: (totals[place], self.sizes[place]))
                self.skews[kind] = self._judge.measure_skew(self.candidates[cheapest])
            skew = self.skews[kind]
            if skew is not None:
                found += [
                    ((skew, float(totals[at]), self.sizes[at]), int(poor[at]), self.candidates[at])
                    for at in places
                ]
        return found

    @property
    def _poor_operations(self) -> float:
        """Return the operations a second above which a read is poor under any key."""
        capacity, _ = get_capacity(self.design)
        return POOR_UTILIZATION * capacity * self.design.cluster.servers

    def _estimate_event_bytes(self, candidate: Candidate) -> float:
        """Return an estimate of the bytes that an event adds under a candidate.

        Fields that are not in the key take cells, so layouts are kept by the fields of the key.
        """
        fields = frozenset(candidate.bound_key.fields)
        if fields not in self._layouts:
            self._layouts[fields] = self.design.layout
            with suppress(InvalidDesign):
                self._layouts[fields] = apply_proposal(self.design, candidate).layout
        key_bytes = float(candidate.bound_key.min_bytes)
        return self._layouts[fields].estimate_event_bytes(key_bytes, self.source.facts)


def _is_split(judged: JudgedDesign) -> bool:
    """Return whether the regions of a design begin at keys of the first half of the events."""
    return judged.design.splits.needs_sample


def _serves_reads(judged: JudgedDesign) -> bool:
    """Return whether no read of a design filters the whole table."""
    return not any(one.is_full_scan and one.residual_fields for one in judged.simulation.reads)


def _get_write_load(judged: JudgedDesign) -> float:
    """Return the share of the busiest server that the writes of a design take; 0 without a rate."""
    loads = (one.utilization for one in judged.verdict.assessments if one.topic == "writes")
    return sum(load or 0.0 for load in loads)


def _choose_single(declared: JudgedDesign, picks: Sequence[Pick]) -> tuple[JudgedDesign]:
    """Return the best single table."""
    designs = (declared, *(pick.judged for pick in picks))
    return (min(designs, key=lambda one: (one.verdict.rank, one.read_cost)),)


def _is_better(tables: Sequence[JudgedDesign], others: Sequence[JudgedDesign]) -> bool:
    """Return whether some tables are better than others.

    They are if their worst grade is better, or less is poor, or as much is poor and all reads
    together cost less than half.
    """
    rank, other_rank = _combine_ranks(tables), _combine_ranks(others)
    if not tables or rank != other_rank or not rank[1]:
        return bool(tables) and rank < other_rank
    costs = [sum(one.read_cost for one in designs) for designs in (tables, others)]
    return costs[0] * MIN_TABLE_GAIN < costs[1]


def _combine_ranks(tables: Sequence[JudgedDesign]) -> tuple[int, int]:
    """Return the worst grade of several tables as a number, and how much of them is poor."""
    ranks = [one.verdict.rank for one in tables]
    return max((grade for grade, _ in ranks), default=0), sum(poor for _, poor in ranks)
