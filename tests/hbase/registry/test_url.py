"""URLs of clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import Refused
from rowkey.hbase.registry import KINDS, Place, WrongUrl, parse_url


@pytest.mark.parametrize(
    ("url", "nodes", "root"),
    [
        ("hbase://zk1", [("zk1", 2181)], "/hbase"),
        ("hbase://zk1/", [("zk1", 2181)], "/hbase"),
        ("hbase://zk1,ZK2:2182/hb/x/", [("zk1", 2181), ("zk2", 2182)], "/hb/x"),
        ("hbase://zk1, zk2/hbase-unsecure", [("zk1", 2181), ("zk2", 2181)], "/hbase-unsecure"),
        ("hbase://[::1]:5,[fe80::1%eth0],10.0.0.1", [("::1", 5), ("fe80::1%eth0", 2181),
                                                     ("10.0.0.1", 2181)], "/hbase"),
        ("hbase+master://m1,m_2.x.:1/", [("m1", 16000), ("m_2.x.", 1)], ""),
    ],
)  # fmt: skip
def test_a_url_is_read(url: str, nodes: list[tuple[str, int]], root: str) -> None:
    """Ports belong to the host before them; what is left out has a default."""
    assert Place(url.partition("://")[0], tuple(nodes), root) == parse_url(url)


def test_all_mistakes_are_told_at_once() -> None:
    """One reading finds everything, in the order of the text."""
    url = "hbase://u:secret@a,,b:0,a:x,[::1,::1,c:70000,d d,[zk],e:1f,e,a/hb/../x?y=1#z"
    with pytest.raises(WrongUrl) as caught:
        parse_url(url)
    told = [(one.path, one.what) for one in caught.value.mistakes]
    assert [
        ("url", "it names a user"),
        ("url", "#z is a fragment"),
        ("url", "?y=1 is a query"),
        ("url.hosts[1]", "the host is empty"),
        ("url.hosts[2]", "the port '0' is none"),
        ("url.hosts[3]", "the port 'x' is none"),
        ("url.hosts[4]", "'[::1' has no IPv6 address in brackets"),
        ("url.hosts[5]", "'::1' is a bare IPv6 address"),
        ("url.hosts[6]", "the port '70000' is none"),
        ("url.hosts[7]", "the host 'd d' is none"),
        ("url.hosts[8]", "'[zk]' has no IPv6 address in brackets"),
        ("url.hosts[9]", "the port '1f' is none"),
        ("url.hosts[11]", "a:2181 is named twice"),
        ("url.path", "'/hb/../x' is no znode"),
    ] == told
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("hbase://", "the host is empty"),
        ("hbase://zk1:hbase", "A znode begins with /"),
        ("hbase://zk1:2181hbase", "the port '2181hbase' is none"),
        ("hbase://zk1//x", "'//x' is no znode"),
        ("hbase://zk1/a\nb", "is no znode"),
        ("hbase+master://m1/hbase", "masters, which have no znodes"),
        ("hbase+master://m1:x", "Leave it out for 16000."),
        ("hbas://zk1", "Did you mean hbase?"),
        ("zk1:2181", "has no scheme"),
        ("me:secret@zk1:2181", "'…@zk1:2181' has no scheme"),
        ("hbase://[::1]x", "the port 'x' is none"),
        ("hbase://zk1:", "the port '' is none"),
        ("hbase://zk1:٣", "the port '٣' is none"),
        ("hbase://zürich", "the host 'zürich' is none"),
        ("hbase://" + "a" * 254, "is none"),
        ("hbase://u:pa/ss?w#o@zk1", "it names a user"),
    ],
)
def test_a_mistake_is_told(url: str, says: str) -> None:
    """Each with what would be right, and never with a password."""
    with pytest.raises(Refused) as caught:
        parse_url(url)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=40) | st.text("hbase+master:/@[]:.,?#%0129ab", max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    """Whatever is written gives a place or a refusal, and a place reads as itself."""
    for url in (text, *(f"{scheme}://{text}" for scheme in KINDS)):
        try:
            place = parse_url(url)
        except WrongUrl:
            continue
        assert place == parse_url(str(place))


def test_what_is_no_text_is_refused() -> None:
    """A mistake of the caller is told as all others are."""
    nothing: str = None  # type: ignore[assignment]
    with pytest.raises(Refused, match="url: None is not a text"):
        parse_url(nothing)
