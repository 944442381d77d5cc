"""Row keys that a design could have. The search judges them; none is ever applied by itself."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.proposals.bucket_fields import ExampleRead, has_enough_values, plan_example_reads
    from rowkey.proposals.candidates import (
        MAX_HEAVY_VALUES,
        Candidate,
        list_candidates,
        list_key_fields,
    )
    from rowkey.proposals.first_keys import (
        MIN_SPREADING_VALUES,
        FirstKeyProposal,
        KeyColumn,
        propose_first_keys,
    )
    from rowkey.proposals.key_proposal import (
        ANOTHER_KEY,
        PER_BUCKET,
        KeyProposal,
        apply_proposal,
        format_more_regions,
        format_quantile_splits,
        has_bucket_splits,
    )
    from rowkey.proposals.spreading_terms import (
        BUCKETS_PER_SERVER,
        MIN_VALUES_PER_REGION,
        build_bucket,
        build_ordering_term,
        build_salt,
        has_only_times,
        is_heavy,
    )
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "bucket_fields": "ExampleRead has_enough_values plan_example_reads",
            "candidates": "MAX_HEAVY_VALUES Candidate list_candidates list_key_fields",
            "first_keys": "MIN_SPREADING_VALUES FirstKeyProposal KeyColumn propose_first_keys",
            "key_proposal": (
                "ANOTHER_KEY PER_BUCKET KeyProposal apply_proposal format_more_regions "
                "format_quantile_splits has_bucket_splits"
            ),
            "spreading_terms": (
                "BUCKETS_PER_SERVER MIN_VALUES_PER_REGION build_bucket build_ordering_term "
                "build_salt has_only_times is_heavy"
            ),
        },
    )

__all__ = [
    "ANOTHER_KEY",
    "BUCKETS_PER_SERVER",
    "MAX_HEAVY_VALUES",
    "MIN_SPREADING_VALUES",
    "MIN_VALUES_PER_REGION",
    "PER_BUCKET",
    "Candidate",
    "ExampleRead",
    "FirstKeyProposal",
    "KeyColumn",
    "KeyProposal",
    "apply_proposal",
    "build_bucket",
    "build_ordering_term",
    "build_salt",
    "format_more_regions",
    "format_quantile_splits",
    "has_bucket_splits",
    "has_enough_values",
    "has_only_times",
    "is_heavy",
    "list_candidates",
    "list_key_fields",
    "plan_example_reads",
    "propose_first_keys",
]
