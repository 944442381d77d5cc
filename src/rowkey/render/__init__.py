"""Formats results as text for people and as JSON documents for machines."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.render.advice import (
        ADVICE_FIELDS,
        build_advice_document,
        format_advice,
        format_recommendation,
    )
    from rowkey.render.advised_design import format_advised_design
    from rowkey.render.comparison import (
        COMPARISON_FIELDS,
        build_comparison_document,
        format_comparison,
        print_comparison,
    )
    from rowkey.render.csv_encoder import CsvEncoder
    from rowkey.render.damage import (
        REPAIR_FIELDS,
        VERIFY_FIELDS,
        build_design_repair_document,
        build_mismatch_document,
        build_repair_document,
        build_verify_document,
        format_companion_repairs,
        format_examination,
        format_repair,
        format_saved_table,
    )
    from rowkey.render.ddl import DIALECTS, CreateStatement, build_create_statement
    from rowkey.render.document_fields import (
        CHECK_FIELDS,
        COUNT_FIELDS,
        REGIONS_FIELDS,
        SIMULATION_FIELDS,
        SPLITS_FIELDS,
        VECTORS_FIELDS,
        list_paths,
    )
    from rowkey.render.documents import (
        FORMAT_VERSION,
        build_check_document,
        build_displayed_row,
        build_mistakes_document,
        build_row_document,
        build_simulation_document,
        build_splits_document,
        build_vectors_document,
        to_json_value,
    )
    from rowkey.render.explanation import (
        EXPLANATION_FIELDS,
        EXPLANATIONS_FIELDS,
        build_explanation_document,
        build_explanations_document,
        format_explanation_text,
    )
    from rowkey.render.findings import FINDINGS_FIELDS, build_findings_document, format_findings
    from rowkey.render.languages import Translator
    from rowkey.render.moves import (
        MOVE_PLAN_FIELDS,
        MOVE_STATUS_FIELDS,
        MOVE_SWITCH_FIELDS,
        MOVE_VERIFICATION_FIELDS,
        build_move_plan_document,
        build_move_status_document,
        build_move_switch_document,
        build_move_verification_document,
        format_move_limits,
        format_move_plan,
        format_move_status,
        format_move_switch,
        format_move_verification,
        format_next_commands,
        format_shadow_reads,
        list_next_commands,
    )
    from rowkey.render.notices import (
        CheckedFile,
        build_sarif_document,
        format_github_commands,
        format_junit,
    )
    from rowkey.render.page import (
        LANGUAGES,
        NotebookResult,
        build_report_page,
        build_report_variables,
        show,
    )
    from rowkey.render.page.map_script import read_map_script
    from rowkey.render.page.markup import build_environment as build_page_environment
    from rowkey.render.page.markup import read_asset as read_page_asset
    from rowkey.render.redaction import REDACTION_KEY_BYTES, Redaction
    from rowkey.render.report import (
        MAX_MAP_ROWS,
        build_key_boxes,
        build_report_document,
        build_summary_document,
        pack_counts,
    )
    from rowkey.render.row_types import format_row_types
    from rowkey.render.rules import (
        RULES_FIELDS,
        build_rules_document,
        format_rule,
        format_rule_list,
    )
    from rowkey.render.running_tables import (
        LIVE_FIELDS,
        PROOF_FIELDS,
        build_live_document,
        build_proof_document,
        format_server,
        format_start_key,
        print_live,
        print_proof,
    )
    from rowkey.render.running_tables.file_load import (
        format_created_table,
        format_left_out_rows,
        format_load_result,
    )
    from rowkey.render.table_status import (
        BUCKET_CHANGE_FIELDS,
        BUCKET_RETIREMENT_FIELDS,
        BUCKETS_FIELDS,
        HISTORY_FIELDS,
        build_bucket_change_document,
        build_bucket_retirement_document,
        build_buckets_document,
        build_count_document,
        build_history_document,
        build_regions_document,
        format_bucket_change,
        format_bucket_retirement,
        format_buckets,
        format_history,
        format_regions,
    )
    from rowkey.render.text import (
        format_check,
        format_sizing,
        format_vectors,
        print_check,
        print_simulation,
        print_verdict,
    )
    from rowkey.render.undeclared_cells import (
        build_undeclared_document,
        build_undecodable_document,
        format_scan_notes,
        format_undeclared_cells,
        format_undecodable_rows,
    )
    from rowkey.render.verdict import build_verdict_document
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "advice": "ADVICE_FIELDS build_advice_document format_advice format_recommendation",
            "advised_design": "format_advised_design",
            "comparison": (
                "COMPARISON_FIELDS build_comparison_document format_comparison print_comparison"
            ),
            "csv_encoder": "CsvEncoder",
            "ddl": "DIALECTS CreateStatement build_create_statement",
            "documents": (
                "FORMAT_VERSION build_check_document build_mistakes_document to_json_value "
                "build_displayed_row build_row_document build_simulation_document "
                "build_splits_document "
                "build_vectors_document"
            ),
            "document_fields": (
                "CHECK_FIELDS COUNT_FIELDS REGIONS_FIELDS SIMULATION_FIELDS SPLITS_FIELDS "
                "VECTORS_FIELDS list_paths"
            ),
            "findings": "FINDINGS_FIELDS format_findings build_findings_document",
            "notices": "CheckedFile build_sarif_document format_github_commands format_junit",
            "row_types": "format_row_types",
            "running_tables": (
                "LIVE_FIELDS PROOF_FIELDS build_live_document print_live print_proof "
                "build_proof_document format_server format_start_key"
            ),
            "languages": "Translator",
            "page": "LANGUAGES NotebookResult build_report_page build_report_variables show",
            "page.map_script": "read_map_script",
            "page.markup": ("build_environment=build_page_environment read_asset=read_page_asset"),
            "explanation": (
                "EXPLANATION_FIELDS EXPLANATIONS_FIELDS build_explanation_document "
                "format_explanation_text build_explanations_document"
            ),
            "moves": (
                "MOVE_PLAN_FIELDS MOVE_STATUS_FIELDS MOVE_SWITCH_FIELDS MOVE_VERIFICATION_FIELDS "
                "build_move_plan_document build_move_status_document build_move_switch_document "
                "build_move_verification_document format_move_limits format_move_plan "
                "format_shadow_reads "
                "format_move_status format_move_switch format_move_verification "
                "format_next_commands list_next_commands"
            ),
            "redaction": "REDACTION_KEY_BYTES Redaction",
            "verdict": "build_verdict_document",
            "report": (
                "MAX_MAP_ROWS build_key_boxes build_report_document build_summary_document "
                "pack_counts"
            ),
            "running_tables.file_load": (
                "format_created_table format_left_out_rows format_load_result"
            ),
            "rules": "RULES_FIELDS format_rule format_rule_list build_rules_document",
            "damage": (
                "REPAIR_FIELDS VERIFY_FIELDS format_examination build_mismatch_document "
                "build_repair_document format_repair format_saved_table build_verify_document "
                "build_design_repair_document format_companion_repairs"
            ),
            "undeclared_cells": (
                "build_undeclared_document build_undecodable_document format_scan_notes "
                "format_undecodable_rows format_undeclared_cells"
            ),
            "table_status": (
                "BUCKETS_FIELDS BUCKET_CHANGE_FIELDS BUCKET_RETIREMENT_FIELDS HISTORY_FIELDS "
                "build_buckets_document build_bucket_retirement_document format_bucket_retirement "
                "format_buckets build_bucket_change_document format_bucket_change "
                "build_count_document build_history_document format_history build_regions_document "
                "format_regions"
            ),
            "text": (
                "format_check format_sizing format_vectors print_check print_simulation "
                "print_verdict"
            ),
        },
    )

__all__ = [
    "ADVICE_FIELDS",
    "BUCKETS_FIELDS",
    "BUCKET_CHANGE_FIELDS",
    "BUCKET_RETIREMENT_FIELDS",
    "CHECK_FIELDS",
    "COMPARISON_FIELDS",
    "COUNT_FIELDS",
    "DIALECTS",
    "EXPLANATIONS_FIELDS",
    "EXPLANATION_FIELDS",
    "FINDINGS_FIELDS",
    "FORMAT_VERSION",
    "HISTORY_FIELDS",
    "LANGUAGES",
    "LIVE_FIELDS",
    "MAX_MAP_ROWS",
    "MOVE_PLAN_FIELDS",
    "MOVE_STATUS_FIELDS",
    "MOVE_SWITCH_FIELDS",
    "MOVE_VERIFICATION_FIELDS",
    "PROOF_FIELDS",
    "REDACTION_KEY_BYTES",
    "REGIONS_FIELDS",
    "REPAIR_FIELDS",
    "RULES_FIELDS",
    "SIMULATION_FIELDS",
    "SPLITS_FIELDS",
    "VECTORS_FIELDS",
    "VERIFY_FIELDS",
    "CheckedFile",
    "CreateStatement",
    "CsvEncoder",
    "NotebookResult",
    "Redaction",
    "Translator",
    "build_advice_document",
    "build_bucket_change_document",
    "build_bucket_retirement_document",
    "build_buckets_document",
    "build_check_document",
    "build_comparison_document",
    "build_count_document",
    "build_create_statement",
    "build_design_repair_document",
    "build_displayed_row",
    "build_explanation_document",
    "build_explanations_document",
    "build_findings_document",
    "build_history_document",
    "build_key_boxes",
    "build_live_document",
    "build_mismatch_document",
    "build_mistakes_document",
    "build_move_plan_document",
    "build_move_status_document",
    "build_move_switch_document",
    "build_move_verification_document",
    "build_page_environment",
    "build_proof_document",
    "build_regions_document",
    "build_repair_document",
    "build_report_document",
    "build_report_page",
    "build_report_variables",
    "build_row_document",
    "build_rules_document",
    "build_sarif_document",
    "build_simulation_document",
    "build_splits_document",
    "build_summary_document",
    "build_undeclared_document",
    "build_undecodable_document",
    "build_vectors_document",
    "build_verdict_document",
    "build_verify_document",
    "format_advice",
    "format_advised_design",
    "format_bucket_change",
    "format_bucket_retirement",
    "format_buckets",
    "format_check",
    "format_companion_repairs",
    "format_comparison",
    "format_created_table",
    "format_examination",
    "format_explanation_text",
    "format_findings",
    "format_github_commands",
    "format_history",
    "format_junit",
    "format_left_out_rows",
    "format_load_result",
    "format_move_limits",
    "format_move_plan",
    "format_move_status",
    "format_move_switch",
    "format_move_verification",
    "format_next_commands",
    "format_recommendation",
    "format_regions",
    "format_repair",
    "format_row_types",
    "format_rule",
    "format_rule_list",
    "format_saved_table",
    "format_scan_notes",
    "format_server",
    "format_shadow_reads",
    "format_sizing",
    "format_start_key",
    "format_undeclared_cells",
    "format_undecodable_rows",
    "format_vectors",
    "list_next_commands",
    "list_paths",
    "pack_counts",
    "print_check",
    "print_comparison",
    "print_live",
    "print_proof",
    "print_simulation",
    "print_verdict",
    "read_map_script",
    "read_page_asset",
    "show",
    "to_json_value",
]
