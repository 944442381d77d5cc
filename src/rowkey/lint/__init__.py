"""Rules for table designs: what they find, and which findings they can fix."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.lint.allowances import Allowance
    from rowkey.lint.checker import LintResult, check_design, select_rules
    from rowkey.lint.contract import MAX_STRAY_SHARE, Rule, RuleDoc, format_rule_name
    from rowkey.lint.fixes import FixedDesign, apply_fixes, fix_families
    from rowkey.lint.remedies import list_remedied_designs, verify_remedies
    from rowkey.lint.rules import RULES as RULES
    from rowkey.lint.subject import LintSubject, MeasuredWrites, PlannedRead
    from rowkey.lint.toml_edit import edit_toml
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "allowances": "Allowance",
            "contract": "MAX_STRAY_SHARE Rule RuleDoc format_rule_name",
            "fixes": "FixedDesign apply_fixes fix_families",
            "toml_edit": "edit_toml",
            "remedies": "list_remedied_designs verify_remedies",
            "rules": "RULES",
            "checker": "LintResult check_design select_rules",
            "subject": "MeasuredWrites PlannedRead LintSubject",
        },
    )

__all__ = [
    "MAX_STRAY_SHARE",
    "RULES",
    "Allowance",
    "FixedDesign",
    "LintResult",
    "LintSubject",
    "MeasuredWrites",
    "PlannedRead",
    "Rule",
    "RuleDoc",
    "apply_fixes",
    "check_design",
    "edit_toml",
    "fix_families",
    "format_rule_name",
    "list_remedied_designs",
    "select_rules",
    "verify_remedies",
]
