"""Results shown: as text for people, as JSON documents for machines."""

from rowkey.render.comparisons import (
    COMPARE,
    comparison_document,
    comparison_lines,
    print_comparison,
)
from rowkey.render.ddl import DIALECTS, Creation, creation_of
from rowkey.render.documents import (
    FORMAT,
    check_document,
    mistakes_document,
    plain,
    row_document,
    simulation_document,
    splits_document,
    vectors_document,
)
from rowkey.render.fields import CHECK, COUNT, REGIONS, SIMULATE, SPLITS, VECTORS, paths_of
from rowkey.render.findings import FINDINGS, finding_lines, findings_document
from rowkey.render.notices import Checked, github_lines, junit_lines, sarif_document
from rowkey.render.plans import (
    EXPLAIN,
    EXPLANATIONS,
    explanation_document,
    explanation_lines,
    explanations_document,
)
from rowkey.render.report import (
    KEY_BYTES,
    LANGUAGES,
    Judged,
    Redaction,
    judged,
    report_document,
    report_page,
)
from rowkey.render.rules import RULES, rule_lines, rule_list, rules_document
from rowkey.render.standing import (
    REPAIR,
    count_document,
    lapse_document,
    regions_document,
    regions_lines,
    repair_document,
)
from rowkey.render.text import (
    check_lines,
    print_simulation,
    reasons,
    sizing_lines,
    vector_lines,
)

__all__ = [
    "CHECK",
    "COMPARE",
    "COUNT",
    "DIALECTS",
    "EXPLAIN",
    "EXPLANATIONS",
    "FINDINGS",
    "FORMAT",
    "KEY_BYTES",
    "LANGUAGES",
    "REGIONS",
    "REPAIR",
    "RULES",
    "SIMULATE",
    "SPLITS",
    "VECTORS",
    "Checked",
    "Creation",
    "Judged",
    "Redaction",
    "check_document",
    "check_lines",
    "comparison_document",
    "comparison_lines",
    "count_document",
    "creation_of",
    "explanation_document",
    "explanation_lines",
    "explanations_document",
    "finding_lines",
    "findings_document",
    "github_lines",
    "judged",
    "junit_lines",
    "lapse_document",
    "mistakes_document",
    "paths_of",
    "plain",
    "print_comparison",
    "print_simulation",
    "reasons",
    "regions_document",
    "regions_lines",
    "repair_document",
    "report_document",
    "report_page",
    "row_document",
    "rule_lines",
    "rule_list",
    "rules_document",
    "sarif_document",
    "simulation_document",
    "sizing_lines",
    "splits_document",
    "vector_lines",
    "vectors_document",
]
