"""Design files as `rowkey check`, `vectors` and `explain` describe them, without their samples."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff
from functools import cached_property
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from rowkey.advise import JudgedDesign, get_capacity
from rowkey.design import Design
from rowkey.errors import InvalidDesign, RowError
from rowkey.keys import Row
from rowkey.lint import RULES
from rowkey.messages import escape_text
from rowkey.portal.designs.example_rows import EXAMPLE_COUNT, ExampleRows
from rowkey.portal.designs.workspace import DesignFile, Signature, Workspace, sign_file
from rowkey.render import (
    Redaction,
    build_check_document,
    build_explanations_document,
    build_key_boxes,
    build_mistakes_document,
    build_vectors_document,
)
from rowkey.simulate import compute_hot_threshold
from rowkey.workload import POOR_UTILIZATION

if TYPE_CHECKING:
    Signatures = tuple[Signature, ...]


MAX_REMEMBERED = 2_000
"""Checked texts that are remembered: 3 to 30 kB each."""
CHECK_PAUSE_S = 0.005
"""Seconds between two files that are checked in the background, in which pages are answered."""
_LOGGER = logging.getLogger("rowkey.portal")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff.

    Args:
        kind: `added`, `removed`, `place` or `same`.
        text: the line without its mark.
    """

    kind: str
    text: str


_DIFF_KINDS = {"+": "added", "-": "removed", "@": "place"}


def compare_texts(before: str, after: str) -> list[DiffLine]:
    """Return the lines in which two texts differ, with three lines around each change.

    >>> [(line.kind, line.text) for line in compare_texts("a\\nb", "a\\nc")][1:]
    [('same', 'a'), ('removed', 'b'), ('added', 'c')]
    """
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm=""))[2:]
    return [
        DiffLine(_DIFF_KINDS.get(line[:1], "same"), line if line[:1] == "@" else line[1:])
        for line in lines
    ]


class CheckedDesign:
    """A design text with its mistakes, or with all that is shown of a valid design.

    Of the declared sample only example rows are read: a page would wait for the rest.

    Args:
        name: the name of its file or table.
        read_design: returns its design, or raises `InvalidDesign`.
        example_rows: reads the first rows of a sample; None leaves it alone.
    """

    def __init__(
        self,
        name: str,
        text: str,
        read_design: Callable[[], Design],
        example_rows: ExampleRows | None = None,
    ) -> None:
        self.name = name
        self.text = text
        self._example_rows = example_rows
        self.judged: JudgedDesign | None = None
        try:
            self.judged = JudgedDesign(read_design())
        except InvalidDesign as problem:
            self.document: dict[str, Any] = build_mistakes_document(name, problem.mistakes)
        else:
            self.judged.recording = None  # the rules do without its sample
            self.document = build_check_document(
                name, self.judged.design, self.judged.properties, self.judged.lint_result
            )

    @property
    def design(self) -> Design | None:
        """The design; None if the text has mistakes."""
        return None if self.judged is None else self.judged.design

    @property
    def table(self) -> str:
        """The name of the design's table; empty if the text has mistakes."""
        return "" if self.judged is None else self.judged.design.table

    @property
    def grade(self) -> str:
        """`poor` with a mistake or an error, `fair` with a warning, else `good`.

        A warning of writes that one server cannot bear is `poor`, as a replay would grade it.
        """
        severities = {one["severity"] for one in self.document.get("findings", ())}
        if not self.document["ok"] or "error" in severities or self._is_hot:
            return "poor"
        return "fair" if "warning" in severities else "good"

    @property
    def _is_hot(self) -> bool:
        """Whether a rule warns of writes that are too many for one server, or hot at any rate."""
        design = self.design
        if design is None or design.cluster.servers == 1:
            return False
        rate, servers = design.writes.peak_rate, design.cluster.servers
        threshold = compute_hot_threshold(1.0, servers)
        if rate is not None:
            threshold = POOR_UTILIZATION * get_capacity(design)[0] * servers / rate
        hot = {one["code"] for one in self.foreseen if one["explained"] >= threshold}
        warned = {one["code"] for one in self.document["findings"] if one["severity"] == "warning"}
        return any(rule.cause in hot and rule.code in warned for rule in RULES.values())

    @property
    def badness(self) -> tuple[int, ...]:
        """How bad the findings are: how many mistakes, errors, warnings and remarks there are."""
        counts = self.finding_counts
        return tuple(counts.get(one, 0) for one in ("mistake", "error", "warning", "info"))

    @property
    def finding_counts(self) -> dict[str, int]:
        """How many mistakes, errors, warnings and remarks there are; zeros are left out."""
        counts = {"mistake": len(self.document["mistakes"])}
        for severity in ("error", "warning", "info"):
            counts[severity] = sum(
                one["severity"] == severity for one in self.document.get("findings", ())
            )
        return {severity: count for severity, count in counts.items() if count}

    @cached_property
    def boxes(self) -> dict[str, Any] | None:
        """The parts of the key as a report describes them; None if the text has mistakes."""
        if self.judged is None:
            return None
        return build_key_boxes(self.judged.design, self.judged.properties, None, Redaction())

    @cached_property
    def sampled_rows(self) -> list[Row]:
        """The first rows of the sample; none without one that may be read."""
        if self.design is None or self._example_rows is None:
            return []
        return self._example_rows.read(self.design)

    @cached_property
    def vectors(self) -> dict[str, Any] | None:
        """Example rows with the bytes of their keys, as `rowkey vectors` prints them.

        They are the first rows of the sample, or else made from the types of the fields. None if
        the text has mistakes, or no row can be encoded.
        """
        if self.design is None:
            return None
        key = self.design.key
        try:
            rows = self.sampled_rows or key.generate_rows(EXAMPLE_COUNT)
            return build_vectors_document(key, rows)
        except RowError:
            return None

    @cached_property
    def reads(self) -> list[dict[str, Any]]:
        """The plans of the declared reads, as `rowkey explain` prints them."""
        if self.judged is None:
            return []
        design = self.judged.design
        plans = self.judged.companion_plans if design.companions else self.judged.plans
        reads: list[dict[str, Any]] = build_explanations_document(plans)["reads"]
        return reads

    @property
    def reads_without_costs(self) -> list[dict[str, Any]]:
        """The plans without measured costs, as the macros of a report take them."""
        return [{**read, "cost": None} for read in self.reads]

    @property
    def foreseen(self) -> list[dict[str, Any]]:
        """The causes of hot spots that the design predicts."""
        causes: list[dict[str, Any]] = self.document.get("foreseen", [])
        return causes

    @property
    def has_sample(self) -> bool:
        """Whether the design declares a file as its sample, which may be one that is not read."""
        sample = None if self.judged is None else self.judged.design.declaration.sample
        return sample is not None and sample.path is not None

    @cached_property
    def fixed_text(self) -> str:
        """The text with every safe fix, as `rowkey check --fix` writes it."""
        if self.judged is None or not self.document["findings"]:
            return self.text
        return self.judged.apply_fixes().text

    @cached_property
    def fix_diff(self) -> list[DiffLine]:
        """What the fixes change."""
        return compare_texts(self.text, self.fixed_text)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, printable."""
        return [escape_text(line.expandtabs(4)) for line in self.text.splitlines()]


class DesignChecker:
    """Checks design texts, and remembers the results as long as the files they depend on stay."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._example_rows = ExampleRows(workspace)
        self._lock = Lock()
        self._closing = Event()
        self._results: OrderedDict[tuple[str, str], tuple[CheckedDesign, Signatures]] = (
            OrderedDict()
        )

    def start(self) -> None:
        """Check all files of the folder in a thread, so that the first page need not."""
        Thread(target=self._check_files, name="rowkey check", daemon=True).start()

    def close(self) -> None:
        """Stop checking; closing twice is harmless."""
        self._closing.set()

    def _check_files(self) -> None:
        """Check the first `MAX_REMEMBERED` files until the checker closes; a defect is logged."""
        try:
            for file in self._workspace.list_files()[:MAX_REMEMBERED]:
                if self._closing.wait(CHECK_PAUSE_S):
                    return
                self.check(file)
        except Exception:
            _LOGGER.exception("the design files could not be checked")

    def find(self, file: DesignFile) -> CheckedDesign | None:
        """Return what was found in a design file before; None if it was not checked as it is."""
        key = (file.name, file.etag)
        with self._lock:
            if key not in self._results:
                return None
            checked, signatures = self._results[key]
            self._results.move_to_end(key)
        return checked if signatures == self._sign_files(checked.design) else None

    def check(self, file: DesignFile) -> CheckedDesign:
        """Return a design file with its mistakes or findings.

        Cost: some tens of milliseconds for a text that was not checked before.
        """
        if (found := self.find(file)) is not None:
            return found
        checked = CheckedDesign(
            file.name, file.text, lambda: self._workspace.read_design(file), self._example_rows
        )
        if checked.design is not None:  # mistakes may be in another file
            with self._lock:
                signatures = self._sign_files(checked.design)
                self._results[file.name, file.etag] = (checked, signatures)
                while len(self._results) > MAX_REMEMBERED:
                    self._results.popitem(last=False)
        return checked

    def _sign_files(self, design: Design | None) -> Signatures:
        """Return the versions of other files that the result depends on; none without a design."""
        if design is None:
            return ()
        paths = [self._workspace.folder / one for one in design.declaration.companions.values()]
        if design.sample_path is not None:
            sample = self._workspace.find_sample(design)
            paths += [self._workspace.folder] if sample is None else [sample]
        return tuple(sign_file(path) for path in paths)
