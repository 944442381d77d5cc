"""The types that a field can have, each a class."""

from rowkey.keys.base_types.field_type import FieldType
from rowkey.plugins import find_plugins

FIELD_TYPES = find_plugins(FieldType, __name__, __path__)
