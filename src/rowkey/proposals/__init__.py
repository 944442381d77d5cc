"""Proposals of row keys: the only place where a row key is proposed. None is ever applied."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.proposals.bucket_fields import ExampleRead, has_enough_values, plan_example_reads
    from rowkey.proposals.candidates import Candidate, list_candidates, list_key_fields
    from rowkey.proposals.first_keys import (
        MIN_SPREADING_VALUES,
        FirstKeyProposal,
        KeyColumn,
        propose_first_keys,
    )
    from rowkey.proposals.heavy_key import MAX_HEAVY_VALUES, list_heavy_values, propose_heavy_key
    from rowkey.proposals.key_proposal import (
        PER_BUCKET,
        KeyProposal,
        apply_proposal,
        format_more_regions,
        format_quantile_splits,
        has_bucket_splits,
    )
    from rowkey.proposals.narrow_key import NarrowKeyProposal, list_narrow_keys
    from rowkey.proposals.read_key import (
        ReadKeyProposal,
        find_serving_key,
        propose_read_key,
        propose_read_table,
    )
    from rowkey.proposals.spread_key import (
        SpreadKeyProposal,
        format_wider_bucket,
        propose_bucket_count,
        propose_salted_key,
        propose_spread_key,
    )
    from rowkey.proposals.spreading_terms import (
        BUCKETS_PER_SERVER,
        MIN_VALUES_PER_REGION,
        build_bucket,
        build_ordering_term,
        build_salt,
        count_spreading_terms,
        has_only_times,
        is_heavy,
    )
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "bucket_fields": "ExampleRead has_enough_values plan_example_reads",
            "candidates": "Candidate list_candidates list_key_fields",
            "first_keys": "MIN_SPREADING_VALUES FirstKeyProposal KeyColumn propose_first_keys",
            "heavy_key": "MAX_HEAVY_VALUES list_heavy_values propose_heavy_key",
            "key_proposal": (
                "PER_BUCKET KeyProposal apply_proposal format_more_regions format_quantile_splits "
                "has_bucket_splits"
            ),
            "narrow_key": "NarrowKeyProposal list_narrow_keys",
            "read_key": "ReadKeyProposal find_serving_key propose_read_key propose_read_table",
            "spread_key": (
                "SpreadKeyProposal format_wider_bucket propose_bucket_count propose_salted_key "
                "propose_spread_key"
            ),
            "spreading_terms": (
                "BUCKETS_PER_SERVER MIN_VALUES_PER_REGION build_bucket build_ordering_term "
                "build_salt count_spreading_terms has_only_times is_heavy"
            ),
        },
    )

__all__ = [
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
    "NarrowKeyProposal",
    "ReadKeyProposal",
    "SpreadKeyProposal",
    "apply_proposal",
    "build_bucket",
    "build_ordering_term",
    "build_salt",
    "count_spreading_terms",
    "find_serving_key",
    "format_more_regions",
    "format_quantile_splits",
    "format_wider_bucket",
    "has_bucket_splits",
    "has_enough_values",
    "has_only_times",
    "is_heavy",
    "list_candidates",
    "list_heavy_values",
    "list_key_fields",
    "list_narrow_keys",
    "plan_example_reads",
    "propose_bucket_count",
    "propose_first_keys",
    "propose_heavy_key",
    "propose_read_key",
    "propose_read_table",
    "propose_salted_key",
    "propose_spread_key",
]
