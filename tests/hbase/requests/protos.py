"""HBase's messages in Google's protobuf, the oracle of the requests.

The numbers and kinds of the fields are those of Client.proto, HBase.proto, Cell.proto, Filter.proto
and Comparator.proto of HBase 2.6.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

MESSAGES = """
RegionSpecifier type=1:int32! value=2:bytes!
TimeRange from=1:uint64 to=2:uint64
NameBytesPair name=1:string! value=2:bytes
BytesBytesPair first=1:bytes! second=2:bytes!
Column family=1:bytes! qualifier=2:bytes*
Comparator name=1:string! serialized_comparator=2:bytes
Filter name=1:string! serialized_filter=2:bytes
Cell row=1:bytes family=2:bytes qualifier=3:bytes timestamp=4:uint64 cell_type=5:int32 value=6:bytes
Get row=1:bytes! column=2:Column* \
attribute=3:NameBytesPair* filter=4:Filter time_range=5:TimeRange max_versions=6:uint32 \
cache_blocks=7:bool store_limit=8:uint32 \
store_offset=9:uint32 existence_only=10:bool
Result cell=1:Cell* associated_cell_count=2:int32 exists=3:bool stale=4:bool
GetRequest region=1:RegionSpecifier! get=2:Get!
GetResponse result=1:Result
Condition row=1:bytes! family=2:bytes qualifier=3:bytes compare_type=4:int32 comparator=5:Comparator
MutationProto row=1:bytes mutate_type=2:int32 timestamp=4:uint64 attribute=5:NameBytesPair* \
associated_cell_count=8:int32 nonce=9:uint64
MutateRequest region=1:RegionSpecifier! mutation=2:MutationProto! condition=3:Condition \
nonce_group=4:uint64
MutateResponse result=1:Result processed=2:bool
Action index=1:uint32 mutation=2:MutationProto get=3:Get
RegionAction region=1:RegionSpecifier! atomic=2:bool action=3:Action* condition=4:Condition
MultiRequest regionAction=1:RegionAction* nonceGroup=2:uint64
ResultOrException index=1:uint32 result=2:Result exception=3:NameBytesPair
RegionActionResult resultOrException=1:ResultOrException* exception=2:NameBytesPair processed=3:bool
Nothing
MultiResponse regionActionResult=1:RegionActionResult* processed=2:bool regionStatistics=3:Nothing
Scan column=1:Column* \
attribute=2:NameBytesPair* start_row=3:bytes stop_row=4:bytes \
filter=5:Filter time_range=6:TimeRange max_versions=7:uint32 cache_blocks=8:bool \
batch_size=9:uint32 max_result_size=10:uint64 store_limit=11:uint32 store_offset=12:uint32 \
reversed=15:bool mvcc_read_point=20:uint64 include_start_row=21:bool include_stop_row=22:bool \
readType=23:int32 need_cursor_result=24:bool
ScanRequest region=1:RegionSpecifier scan=2:Scan scanner_id=3:uint64 number_of_rows=4:uint32 \
close_scanner=5:bool next_call_seq=6:uint64 client_handles_partials=7:bool \
client_handles_heartbeats=8:bool renew=10:bool limit_of_rows=11:uint32
Cursor row=1:bytes
ScanResponse cells_per_result=1:uint32* scanner_id=2:uint64 more_results=3:bool ttl=4:uint32 \
results=5:Result* stale=6:bool partial_flag_per_result=7:bool* more_results_in_region=8:bool \
heartbeat_message=9:bool mvcc_read_point=11:uint64 cursor=12:Cursor
ByteArrayComparable value=1:bytes
BinaryComparator comparable=1:ByteArrayComparable!
BinaryPrefixComparator comparable=1:ByteArrayComparable!
BinaryComponentComparator value=1:bytes! offset=2:uint32!
LongComparator comparable=1:ByteArrayComparable!
BitComparator comparable=1:ByteArrayComparable! bitwise_op=2:int32!
NullComparator
RegexStringComparator pattern=1:string! pattern_flags=2:int32! charset=3:string! engine=4:string
SubstringComparator substr=1:string!
CompareFilter compare_op=1:int32! comparator=2:Comparator
PrefixFilter prefix=1:bytes
InclusiveStopFilter stop_row_key=1:bytes
PageFilter page_size=1:int64!
RandomRowFilter chance=1:float!
FuzzyRowFilter fuzzy_keys_data=1:BytesBytesPair* is_mask_v2=2:bool
RowRange start_row=1:bytes start_row_inclusive=2:bool stop_row=3:bytes stop_row_inclusive=4:bool
MultiRowRangeFilter row_range_list=1:RowRange*
KeyOnlyFilter len_as_val=1:bool!
FirstKeyOnlyFilter
ColumnPrefixFilter prefix=1:bytes!
MultipleColumnPrefixFilter sorted_prefixes=1:bytes*
ColumnRangeFilter min_column=1:bytes min_column_inclusive=2:bool max_column=3:bytes \
max_column_inclusive=4:bool
ColumnPaginationFilter limit=1:int32! offset=2:int32 column_offset=3:bytes
ColumnCountGetFilter limit=1:int32!
TimestampsFilter timestamps=1:int64* can_hint=2:bool
RowFilter compare_filter=1:CompareFilter!
FamilyFilter compare_filter=1:CompareFilter!
QualifierFilter compare_filter=1:CompareFilter!
ValueFilter compare_filter=1:CompareFilter!
ColumnValueFilter family=1:bytes! qualifier=2:bytes! compare_op=3:int32! comparator=4:Comparator!
SingleColumnValueFilter column_family=1:bytes column_qualifier=2:bytes compare_op=3:int32! \
comparator=4:Comparator! filter_if_missing=5:bool latest_version_only=6:bool
SingleColumnValueExcludeFilter single_column_value_filter=1:SingleColumnValueFilter!
DependentColumnFilter compare_filter=1:CompareFilter! column_family=2:bytes \
column_qualifier=3:bytes drop_dependent_column=4:bool
FilterList operator=1:int32! filters=2:Filter*
SkipFilter filter=1:Filter!
WhileMatchFilter filter=1:Filter!
"""
"""A line per message: name, then fields as name=number:type; ! is required, * repeated."""

_PACKAGE = "q"
_SORTS = {"!": FieldDescriptorProto.LABEL_REQUIRED, "*": FieldDescriptorProto.LABEL_REPEATED}


def _build_messages() -> DescriptorPool:
    """Return all messages of the table above."""
    file = FileDescriptorProto(name="q.proto", package=_PACKAGE, syntax="proto2")
    for line in MESSAGES.replace("\\\n", "").split("\n"):
        if not line:
            continue
        name, *fields = line.split()
        message = file.message_type.add(name=name)
        for said in fields:
            word, _, rest = said.partition("=")
            number, _, kind = rest.partition(":")
            field = message.field.add(name=word, number=int(number))
            field.label = _SORTS.get(kind[-1], FieldDescriptorProto.LABEL_OPTIONAL)
            kind = kind.rstrip("!*")
            if kind[0].isupper():
                field.type = FieldDescriptorProto.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
            else:
                field.type = getattr(FieldDescriptorProto, f"TYPE_{kind.upper()}")
            if field.name == "timestamps":
                field.options.packed = True
    pool = DescriptorPool()
    pool.Add(file)
    return pool


_POOL = _build_messages()


def build_message(name: str, **fields: Any) -> Any:
    """Return a message with these fields."""
    return GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))(**fields)


def parse_message(name: str, body: bytes) -> Any:
    """Return the message in some bytes; an unknown field fails."""
    message = build_message(name)
    message.ParseFromString(body)
    known = build_message(name)
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    assert known == message, f"unknown fields in {name}"
    assert known.ByteSize() == message.ByteSize()
    return message


def list_fields(message: Any) -> dict[str, Any]:
    """Return the present fields of a message by name, with messages as dicts."""
    return {field.name: _to_plain(value) for field, value in message.ListFields()}


def _to_plain(value: Any) -> Any:
    if hasattr(value, "ListFields"):
        return list_fields(value)
    if isinstance(value, (bytes, str, int, float)):
        return value
    return [_to_plain(one) for one in value]
