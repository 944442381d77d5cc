"""Row keys that a design could have. The search judges them; none is ever applied by itself."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.proposals.assumed_read import assume_read
    from rowkey.proposals.bucket_fields import ExampleRead, has_enough_values, plan_example_reads
    from rowkey.proposals.candidates import (
        MAX_HEAVY_VALUES,
        Candidate,
        list_candidates,
    )
    from rowkey.proposals.key_proposal import (
        ANOTHER_KEY,
        KEY_BY_SAMPLE,
        PER_BUCKET,
        KeyProposal,
        apply_proposal,
        format_more_regions,
        format_quantile_splits,
        has_bucket_splits,
    )
    from rowkey.proposals.shared_rows import format_row_division
    from rowkey.proposals.spreading_terms import (
        BUCKETS_PER_SERVER,
        MIN_VALUES_PER_REGION,
        build_bucket,
        build_ordering_term,
        build_salt,
        has_only_times,
        is_heavy,
        is_spreading_term,
    )
    from rowkey.proposals.unique_fields import is_measured, is_unique, list_unique_fields
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "assumed_read": "assume_read",
            "bucket_fields": "ExampleRead has_enough_values plan_example_reads",
            "candidates": "MAX_HEAVY_VALUES Candidate list_candidates",
            "key_proposal": (
                "ANOTHER_KEY KEY_BY_SAMPLE PER_BUCKET KeyProposal apply_proposal "
                "format_more_regions format_quantile_splits has_bucket_splits"
            ),
            "shared_rows": "format_row_division",
            "spreading_terms": (
                "BUCKETS_PER_SERVER MIN_VALUES_PER_REGION build_bucket build_ordering_term "
                "build_salt has_only_times is_heavy is_spreading_term"
            ),
            "unique_fields": "is_measured is_unique list_unique_fields",
        },
    )

__all__ = [
    "ANOTHER_KEY",
    "BUCKETS_PER_SERVER",
    "KEY_BY_SAMPLE",
    "MAX_HEAVY_VALUES",
    "MIN_VALUES_PER_REGION",
    "PER_BUCKET",
    "Candidate",
    "ExampleRead",
    "KeyProposal",
    "apply_proposal",
    "assume_read",
    "build_bucket",
    "build_ordering_term",
    "build_salt",
    "format_more_regions",
    "format_quantile_splits",
    "format_row_division",
    "has_bucket_splits",
    "has_enough_values",
    "has_only_times",
    "is_heavy",
    "is_measured",
    "is_spreading_term",
    "is_unique",
    "list_candidates",
    "list_unique_fields",
    "plan_example_reads",
]
