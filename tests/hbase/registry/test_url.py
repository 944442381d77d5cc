"""URLs of clusters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rowkey.errors import InvalidArgument
from rowkey.hbase.registry import REGISTRIES, ClusterAddress, InvalidClusterUrl, parse_url


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
def test_a_cluster_url_is_parsed_with_defaults(
    url: str, nodes: list[tuple[str, int]], root: str
) -> None:
    """A port belongs to the host before it, and missing parts have defaults."""
    assert ClusterAddress(url.partition("://")[0], tuple(nodes), root) == parse_url(url)


def test_all_mistakes_of_a_cluster_url_are_reported_at_once() -> None:
    """One error lists everything that is wrong, in the order of the URL."""
    url = "hbase://u:secret@a,,b:0,a:x,[::1,::1,c:70000,d d,[zk],e:1f,e,a/hb/../x?y=1#z"
    with pytest.raises(InvalidClusterUrl) as caught:
        parse_url(url)
    told = [(one.path, one.problem) for one in caught.value.mistakes]
    assert [
        ("url", "the URL has a login"),
        ("url", "the URL has a fragment, #z"),
        ("url.query", "the URL has no setting 'y'"),
        ("url.hosts[1]", "the host is empty"),
        ("url.hosts[2]", "'0' is not a port"),
        ("url.hosts[3]", "'x' is not a port"),
        ("url.hosts[4]", "'[::1' is not an IPv6 address in brackets"),
        ("url.hosts[5]", "'::1' has no brackets"),
        ("url.hosts[6]", "'70000' is not a port"),
        ("url.hosts[7]", "'d d' is not a host name"),
        ("url.hosts[8]", "'[zk]' is not an IPv6 address in brackets"),
        ("url.hosts[9]", "'1f' is not a port"),
        ("url.hosts[11]", "a:2181 occurs twice"),
        ("url.path", "'/hb/../x' is not a znode path"),
    ] == told
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("hbase://", "the host is empty"),
        ("hbase://zk1:hbase", "If it is a znode, write a / before it."),
        ("hbase://zk1:2181hbase", "'2181hbase' is not a port"),
        ("hbase://zk1//x", "'//x' is not a znode path"),
        ("hbase://zk1/a\nb", "is not a znode path"),
        ("hbase+master://m1/hbase", "masters have no znodes"),
        ("hbase+master://m1:x", "Remove the port to use 16000."),
        ("hbas://zk1", "Did you mean hbase?"),
        ("zk1:2181", "has no scheme"),
        ("me:secret@zk1:2181", "'…@zk1:2181' has no scheme"),
        ("hbase://[::1]x", "'x' is not a port"),
        ("hbase://zk1:", "'' is not a port"),
        ("hbase://zk1:٣", "'٣' is not a port"),
        ("hbase://zürich", "'zürich' is not a host name"),
        ("hbase://" + "a" * 254, "is not a host name"),
        ("hbase://u:pa/ss?w#o@zk1", "the URL has a login"),
    ],
)
def test_a_mistake_in_a_cluster_url_is_explained_without_the_password(
    url: str, message: str
) -> None:
    """The error says what is right, and never repeats a password."""
    with pytest.raises(InvalidArgument) as caught:
        parse_url(url)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=40) | st.text("hbase+master:/@[]:.,?#%0129ab", max_size=40))
def test_any_text_is_parsed_as_a_cluster_url_or_rejected(text: str) -> None:
    """Any text gives an address that parses as itself, or InvalidClusterUrl."""
    for url in (text, *(f"{scheme}://{text}" for scheme in REGISTRIES)):
        try:
            place = parse_url(url)
        except InvalidClusterUrl:
            continue
        assert place == parse_url(str(place))


def test_a_cluster_url_must_be_a_text() -> None:
    """Any other type raises InvalidClusterUrl."""
    nothing: str = None  # type: ignore[assignment]
    with pytest.raises(InvalidArgument, match="url: None is not a text"):
        parse_url(nothing)
