"""Keys that are proposed for one read, checked by hand."""

from __future__ import annotations

import pytest

from rowkey.keys import bind_key
from rowkey.plan import bind_read
from rowkey.proposals import propose_read_key
from rowkey.schema import Equal, parse_order

LOGS = {
    "host": "text",
    "kind": {"type": "choice", "of": ["INFO", "WARN", "ERROR"]},
    "ts": "timestamp_ms",
    "user": {"type": "text", "nullable": True},
    "size": "u32",
}
KEY = bind_key("[bucket(host, 16)][host][kind][desc(ts)]", LOGS)


PROPOSED_KEYS = [
    ("user = 'ada'", "", "[bucket(host, 16)][user][host][kind][desc(ts)]", ("user",), ()),
    ("user = 'ada'", "ts desc", "[bucket(host, 16)][user][desc(ts)][host][kind]", ("user",), ()),
    ("user = 'ada'", "ts", "[bucket(host, 16)][user][ts][host][kind]", ("user",), ()),
    ("ts >= 5 and user in ('a', 'b')", "ts desc",
     "[bucket(host, 16)][user][desc(ts)][host][kind]", ("user",), ()),
    ("ts >= 5 and size = 7", "", "[bucket(host, 16)][size][desc(ts)][host][kind]", ("size",), ()),
    ("user in ('a', 'b') and size = 7 and ts > 5", "",
     "[bucket(host, 16)][size][user][desc(ts)][host][kind]", ("size", "user"), ()),
    ("size > 5 and user = 'a'", "ts",
     "[bucket(host, 16)][user][ts][host][kind]", ("user",), ("size",)),
    ("", "ts", "[bucket(host, 16)][ts][host][kind]", (), ()),
    ("host = 'a'", "size desc, ts",
     "[bucket(host, 16)][host][desc(size)][ts][kind]", ("size",), ()),
]  # fmt: skip


@pytest.mark.parametrize(("where", "order", "key", "moved", "residual"), PROPOSED_KEYS)
def test_a_key_that_serves_the_read_is_proposed(
    where: str, order: str, key: str, moved: tuple[str, ...], residual: tuple[str, ...]
) -> None:
    """A proposed key has its spreading parts, then the fields of the read, then all others."""
    read = bind_read(where, order, [], KEY.declared_fields)
    found = propose_read_key(KEY, read.bounds, read.order)
    assert found is not None
    assert (key, moved, residual) == (found.key, found.moved_fields, found.residual_fields)


def test_a_proposed_key_keeps_its_spreading_parts() -> None:
    """A salt, a bucket of a later field, and a constant between them are kept."""
    for front in ("[salt(4)]", "[bucket(size, 4)]['-']", "[mod(size, 3)][salt(2)]", ""):
        key = bind_key(f"{front}[host][ts]", LOGS)
        found = propose_read_key(key, {"kind": Equal("INFO")}, parse_order("ts"))
        assert found is not None
        assert found.key.startswith(f"{front}[kind][ts][host]")
