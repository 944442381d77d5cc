"""What is declared: words of a design, not yet bytes."""

from rowkey.schema.bounds import Bound, Bounds, Equal, OneOf, Range, StartsWith, Value, satisfies
from rowkey.schema.declaration import (
    Burst,
    ClusterWords,
    Declaration,
    FieldWords,
    Late,
    ReadWords,
    SampleWords,
    WriteWords,
)
from rowkey.schema.facts import SURE, Cluster, Facts, RowCounts
from rowkey.schema.notation import parse, parse_call
from rowkey.schema.quantities import NANOSECONDS, Duration, read_duration, read_rate, read_size
from rowkey.schema.reads import Condition, Operand, Ordering, Parameter, parse_order, parse_where
from rowkey.schema.terms import (
    Call,
    Constant,
    FieldRef,
    Scalar,
    Term,
    fields_of,
    name_mistake,
    print_key,
)

__all__ = [
    "NANOSECONDS",
    "SURE",
    "Bound",
    "Bounds",
    "Burst",
    "Call",
    "Cluster",
    "ClusterWords",
    "Condition",
    "Constant",
    "Declaration",
    "Duration",
    "Equal",
    "Facts",
    "FieldRef",
    "FieldWords",
    "Late",
    "OneOf",
    "Operand",
    "Ordering",
    "Parameter",
    "Range",
    "ReadWords",
    "RowCounts",
    "SampleWords",
    "Scalar",
    "StartsWith",
    "Term",
    "Value",
    "WriteWords",
    "fields_of",
    "name_mistake",
    "parse",
    "parse_call",
    "parse_order",
    "parse_where",
    "print_key",
    "read_duration",
    "read_rate",
    "read_size",
    "satisfies",
]
