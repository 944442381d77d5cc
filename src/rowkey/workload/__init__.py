"""Events that a table receives: recorded samples, generated workloads, and their facts."""

from typing import TYPE_CHECKING

from rowkey.lazy_imports import build_lazy_getattr

if TYPE_CHECKING:
    from rowkey.workload.arrow_rows import convert_rows, read_arrow_rows, require_time_units
    from rowkey.workload.arrow_source import ArrowStreamable, SampleInput
    from rowkey.workload.batch_store import BatchStore
    from rowkey.workload.columnar.batches import read_batches
    from rowkey.workload.columnar.json_arrays import HEAD_BYTES, ArrayLines, is_array_of_objects
    from rowkey.workload.contract import (
        Distribution,
        PluginOption,
        SampleFormat,
        build_bit_generator,
        build_rng,
        format_inline_table,
    )
    from rowkey.workload.disk_size import FamilySize, SampledEvents, measure_family_sizes
    from rowkey.workload.distinct_counter import DistinctCounter
    from rowkey.workload.distributions import DISTRIBUTIONS as DISTRIBUTIONS
    from rowkey.workload.event_batch import EventBatch, compute_max_events, split_events
    from rowkey.workload.event_store import EventStore
    from rowkey.workload.field_profile import FieldProfile
    from rowkey.workload.formats import FORMATS as FORMATS
    from rowkey.workload.header_names import check_values
    from rowkey.workload.missing_values import (
        MissingValues,
        bound_missing_values,
        estimate_missing_values,
    )
    from rowkey.workload.packing import PackingSavings, measure_packing, measure_stored_bytes
    from rowkey.workload.recorded_sample import RecordedSample
    from rowkey.workload.records import SkippedRows
    from rowkey.workload.reservoir import RESERVOIR_CAPACITY, Reservoir
    from rowkey.workload.sample_cache import allow_sample_cache
    from rowkey.workload.sample_file import (
        SampleFile,
        choose_format,
        open_sample,
        record_sample,
        to_clock_ms,
    )
    from rowkey.workload.sample_streams import find_format_suffix
    from rowkey.workload.sample_summary import KeyedEvents, SampleSummary
    from rowkey.workload.server_load import (
        DEFAULT_CAPACITY_PER_S,
        FAIR_UTILIZATION,
        FAIR_WASTE,
        FORESEEN_GROWTH,
        HARMLESS_UTILIZATION,
        POOR_UTILIZATION,
        POOR_WASTE,
        count_read_operations,
        count_write_operations,
    )
    from rowkey.workload.table_size import (
        count_key_values,
        estimate_table_bytes,
        estimate_table_rows,
    )
    from rowkey.workload.value_growth import Estimate, ValueGrowth, order_groups
    from rowkey.workload.values.number_columns import describe_numbers, refuse_uncertain_numbers
    from rowkey.workload.values.number_layouts import DetectedNumbers, NumberDetector, NumberLayout
    from rowkey.workload.values.time_columns import (
        describe_layout,
        find_count_layout,
        refuse_uncertain_layout,
    )
    from rowkey.workload.values.time_detection import DetectedLayout, LayoutDetector
    from rowkey.workload.values.time_layouts import TimeLayout
    from rowkey.workload.values.time_range import (
        check_time_unit,
        has_other_reading,
        list_plausible_ranges,
    )
    from rowkey.workload.workload_generator import WorkloadGenerator
    from rowkey.workload.write_pattern import ARRIVAL_MODES, ArrivalMode, WritePattern, bind_writes
else:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "arrow_rows": "convert_rows read_arrow_rows require_time_units",
            "arrow_source": "ArrowStreamable SampleInput",
            "batch_store": "BatchStore",
            "columnar.batches": "read_batches",
            "columnar.json_arrays": "ArrayLines HEAD_BYTES is_array_of_objects",
            "contract": "Distribution SampleFormat PluginOption build_bit_generator build_rng "
            "format_inline_table",
            "disk_size": "FamilySize SampledEvents measure_family_sizes",
            "distinct_counter": "DistinctCounter",
            "distributions": "DISTRIBUTIONS=DISTRIBUTIONS",
            "event_store": "EventStore",
            "field_profile": "FieldProfile",
            "formats": "FORMATS=FORMATS",
            "header_names": "check_values",
            "workload_generator": "WorkloadGenerator",
            "packing": "PackingSavings measure_packing measure_stored_bytes",
            "recorded_sample": "RecordedSample",
            "records": "SkippedRows",
            "reservoir": "RESERVOIR_CAPACITY Reservoir",
            "sample_cache": "allow_sample_cache",
            "event_batch": "EventBatch split_events compute_max_events",
            "sample_file": "SampleFile to_clock_ms choose_format open_sample record_sample",
            "sample_streams": "find_format_suffix",
            "sample_summary": "KeyedEvents SampleSummary",
            "server_load": (
                "DEFAULT_CAPACITY_PER_S FAIR_UTILIZATION FAIR_WASTE FORESEEN_GROWTH "
                "HARMLESS_UTILIZATION POOR_UTILIZATION POOR_WASTE count_read_operations "
                "count_write_operations"
            ),
            "table_size": "count_key_values estimate_table_bytes estimate_table_rows",
            "missing_values": "MissingValues bound_missing_values estimate_missing_values",
            "value_growth": "Estimate ValueGrowth order_groups",
            "values.number_columns": "describe_numbers refuse_uncertain_numbers",
            "values.number_layouts": "DetectedNumbers NumberDetector NumberLayout",
            "values.time_columns": "describe_layout find_count_layout refuse_uncertain_layout",
            "values.time_detection": "DetectedLayout LayoutDetector",
            "values.time_layouts": "TimeLayout",
            "values.time_range": "check_time_unit has_other_reading list_plausible_ranges",
            "write_pattern": "ARRIVAL_MODES ArrivalMode WritePattern bind_writes",
        },
    )

__all__ = [
    "ARRIVAL_MODES",
    "DEFAULT_CAPACITY_PER_S",
    "DISTRIBUTIONS",
    "FAIR_UTILIZATION",
    "FAIR_WASTE",
    "FORESEEN_GROWTH",
    "FORMATS",
    "HARMLESS_UTILIZATION",
    "HEAD_BYTES",
    "POOR_UTILIZATION",
    "POOR_WASTE",
    "RESERVOIR_CAPACITY",
    "ArrayLines",
    "ArrivalMode",
    "ArrowStreamable",
    "BatchStore",
    "DetectedLayout",
    "DetectedNumbers",
    "DistinctCounter",
    "Distribution",
    "Estimate",
    "EventBatch",
    "EventStore",
    "FamilySize",
    "FieldProfile",
    "KeyedEvents",
    "LayoutDetector",
    "MissingValues",
    "NumberDetector",
    "NumberLayout",
    "PackingSavings",
    "PluginOption",
    "RecordedSample",
    "Reservoir",
    "SampleFile",
    "SampleFormat",
    "SampleInput",
    "SampleSummary",
    "SampledEvents",
    "SkippedRows",
    "TimeLayout",
    "ValueGrowth",
    "WorkloadGenerator",
    "WritePattern",
    "allow_sample_cache",
    "bind_writes",
    "bound_missing_values",
    "build_bit_generator",
    "build_rng",
    "check_time_unit",
    "check_values",
    "choose_format",
    "compute_max_events",
    "convert_rows",
    "count_key_values",
    "count_read_operations",
    "count_write_operations",
    "describe_layout",
    "describe_numbers",
    "estimate_missing_values",
    "estimate_table_bytes",
    "estimate_table_rows",
    "find_count_layout",
    "find_format_suffix",
    "format_inline_table",
    "has_other_reading",
    "is_array_of_objects",
    "list_plausible_ranges",
    "measure_family_sizes",
    "measure_packing",
    "measure_stored_bytes",
    "open_sample",
    "order_groups",
    "read_arrow_rows",
    "read_batches",
    "record_sample",
    "refuse_uncertain_layout",
    "refuse_uncertain_numbers",
    "require_time_units",
    "split_events",
    "to_clock_ms",
]
