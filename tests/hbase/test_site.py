"""What hbase-site.xml and the query of a URL say of a secured cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowkey.errors import InvalidArgument
from rowkey.hbase import connect
from rowkey.hbase.registry import parse_url

PROPERTIES = {
    "hbase.security.authentication": "kerberos",
    "hbase.regionserver.kerberos.principal": "hb/_HOST@EXAMPLE.COM",
    "hbase.rpc.protection": "privacy,integrity",
    "hbase.client.netty.tls.enabled": "true",
    "hbase.rpc.tls.truststore.location": "/etc/ca.pem",
}


def _write_site(directory: Path, **changes: str) -> str:
    properties = PROPERTIES | {name.replace("__", "."): value for name, value in changes.items()}
    lines = (
        f"<property><name>{name}</name><value>{value}</value></property>"
        for name, value in properties.items()
    )
    text = f"<configuration>{''.join(lines)}</configuration>"
    (directory / "hbase-site.xml").write_text(text)
    return str(directory)


def test_a_site_sets_how_the_client_is_secured(tmp_path: Path) -> None:
    """Kerberos, protection, TLS and its authorities are those of the file."""
    with connect(f"hbase://zk1?site={_write_site(tmp_path)}") as client:
        found = client.settings
    assert ("kerberos", "hb/_HOST@EXAMPLE.COM") == (found.auth, found.server_principal)
    assert ("privacy,integrity", True) == (found.protection, found.tls)
    assert found.ca_file == "/etc/ca.pem"


def test_the_url_wins_over_the_site_and_arguments_over_both(tmp_path: Path) -> None:
    """What is nearer to the call counts."""
    url = f"hbase://zk1?protection=integrity&keytab=/a%20b&site={_write_site(tmp_path)}"
    with connect(url, tls=False) as client:
        found = client.settings
    assert ("integrity", "/a b", False) == (found.protection, found.keytab, found.tls)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"hbase__rpc__protection": "secret"}, "'secret' is unknown"),
        ({"hbase__client__netty__tls__enabled": "yes"}, "'yes' is not a boolean"),
        ({"hbase__rpc__tls__truststore__location": "/etc/ca.jks"}, "ca.jks .* is not PEM"),
    ],
)
def test_a_site_that_cannot_be_used_is_refused(
    changes: dict[str, str], what: str, tmp_path: Path
) -> None:
    """No client is made that is less secure than the file says."""
    with pytest.raises(InvalidArgument, match=what):
        connect("hbase://zk1", site=_write_site(tmp_path, **changes))


def test_a_missing_site_is_an_error(tmp_path: Path) -> None:
    """A wrong folder never means a cluster without security."""
    with pytest.raises(InvalidArgument, match=r"hbase-site\.xml cannot be read"):
        connect("hbase://zk1", site=str(tmp_path))


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("auht=kerberos", "Did you mean auth"),
        ("auth", "auth has no value"),
        ("tls=true&tls=false", "tls occurs twice"),
    ],
)
def test_a_wrong_setting_in_a_url_is_explained(query: str, what: str) -> None:
    """A setting with a typing mistake is never left out silently."""
    with pytest.raises(InvalidArgument, match=what):
        parse_url(f"hbase://zk1?{query}")


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ({"auth": "ldap"}, "simple or kerberos"),
        ({"protection": ""}, "unknown"),
        ({"key_file": "/k.pem"}, "the key has no certificate"),
        ({"tls": "true"}, "not a boolean"),
    ],
)
def test_wrong_settings_of_security_are_refused(setting: dict[str, Any], what: str) -> None:
    """Nothing is guessed: each has a fixed set of values."""
    with pytest.raises(InvalidArgument, match=what):
        connect("hbase://zk1", **setting)
