"""The types a field may have: one file each."""

from rowkey.keys.types.field_type import FieldType
from rowkey.kinds import gather

KINDS = gather(FieldType, __name__, __path__)
