"""Results shown: as text for people, as JSON documents for machines."""

from typing import TYPE_CHECKING

from rowkey.doors import lazily

if TYPE_CHECKING:
    from rowkey.render.comparisons import (
        COMPARE,
        comparison_document,
        comparison_lines,
        print_comparison,
    )
    from rowkey.render.damage import (
        REPAIR,
        VERIFY,
        examination_lines,
        lapse_document,
        repair_document,
        repair_line,
        saved_lines,
        verify_document,
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
    from rowkey.render.notices.checked import Checked
    from rowkey.render.notices.github import github_lines
    from rowkey.render.notices.junit import junit_lines
    from rowkey.render.notices.sarif import sarif_document
    from rowkey.render.observed import (
        LIVE,
        PROVE,
        live_document,
        print_live,
        print_proof,
        proof_document,
    )
    from rowkey.render.page import LANGUAGES, Shown, report_page, show
    from rowkey.render.plans import (
        EXPLAIN,
        EXPLANATIONS,
        explanation_document,
        explanation_lines,
        explanations_document,
    )
    from rowkey.render.report import (
        KEY_BYTES,
        Judged,
        Redaction,
        judged,
        judged_together,
        report_document,
    )
    from rowkey.render.rules import RULES, rule_lines, rule_list, rules_document
    from rowkey.render.standing import (
        BUCKETS,
        CHANGED,
        HISTORY,
        buckets_document,
        buckets_lines,
        changed_document,
        changed_lines,
        count_document,
        history_document,
        history_lines,
        regions_document,
        regions_lines,
    )
    from rowkey.render.text import (
        check_lines,
        print_simulation,
        reasons,
        sizing_lines,
        vector_lines,
    )
else:
    __getattr__ = lazily(
        __name__,
        {
            "comparisons": "COMPARE comparison_document comparison_lines print_comparison",
            "ddl": "DIALECTS Creation creation_of",
            "documents": (
                "FORMAT check_document mistakes_document plain row_document "
                "simulation_document splits_document vectors_document"
            ),
            "fields": "CHECK COUNT REGIONS SIMULATE SPLITS VECTORS paths_of",
            "findings": "FINDINGS finding_lines findings_document",
            "notices.checked": "Checked",
            "notices.github": "github_lines",
            "notices.junit": "junit_lines",
            "notices.sarif": "sarif_document",
            "observed": "LIVE PROVE live_document print_live print_proof proof_document",
            "page": "LANGUAGES Shown report_page show",
            "plans": (
                "EXPLAIN EXPLANATIONS explanation_document explanation_lines explanations_document"
            ),
            "report": "KEY_BYTES Judged Redaction judged judged_together report_document",
            "rules": "RULES rule_lines rule_list rules_document",
            "damage": (
                "REPAIR VERIFY examination_lines lapse_document repair_document repair_line "
                "saved_lines verify_document"
            ),
            "standing": (
                "BUCKETS CHANGED HISTORY buckets_document buckets_lines changed_document "
                "changed_lines count_document history_document history_lines regions_document "
                "regions_lines"
            ),
            "text": "check_lines print_simulation reasons sizing_lines vector_lines",
        },
    )

__all__ = [
    "BUCKETS",
    "CHANGED",
    "CHECK",
    "COMPARE",
    "COUNT",
    "DIALECTS",
    "EXPLAIN",
    "EXPLANATIONS",
    "FINDINGS",
    "FORMAT",
    "HISTORY",
    "KEY_BYTES",
    "LANGUAGES",
    "LIVE",
    "PROVE",
    "REGIONS",
    "REPAIR",
    "RULES",
    "SIMULATE",
    "SPLITS",
    "VECTORS",
    "VERIFY",
    "Checked",
    "Creation",
    "Judged",
    "Redaction",
    "Shown",
    "buckets_document",
    "buckets_lines",
    "changed_document",
    "changed_lines",
    "check_document",
    "check_lines",
    "comparison_document",
    "comparison_lines",
    "count_document",
    "creation_of",
    "examination_lines",
    "explanation_document",
    "explanation_lines",
    "explanations_document",
    "finding_lines",
    "findings_document",
    "github_lines",
    "history_document",
    "history_lines",
    "judged",
    "judged_together",
    "junit_lines",
    "lapse_document",
    "live_document",
    "mistakes_document",
    "paths_of",
    "plain",
    "print_comparison",
    "print_live",
    "print_proof",
    "print_simulation",
    "proof_document",
    "reasons",
    "regions_document",
    "regions_lines",
    "repair_document",
    "repair_line",
    "report_document",
    "report_page",
    "row_document",
    "rule_lines",
    "rule_list",
    "rules_document",
    "sarif_document",
    "saved_lines",
    "show",
    "simulation_document",
    "sizing_lines",
    "splits_document",
    "vector_lines",
    "vectors_document",
    "verify_document",
]
