"""Reads how a cluster is secured from the hbase-site.xml of its clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from rowkey.errors import InvalidArgument

_SETTING_NAMES: Final = {
    "hbase.security.authentication": "auth",
    "hbase.regionserver.kerberos.principal": "server_principal",
    "hbase.client.keytab.principal": "principal",
    "hbase.client.keytab.file": "keytab",
    "hbase.rpc.protection": "protection",
    "hbase.client.netty.tls.enabled": "tls",
}
"""The setting of the client for each property. Source: HBase book, security."""

_PEM_SETTINGS: Final = {"truststore": "ca_file", "keystore": "cert_file"}
"""The setting for each store of HBase's TLS, whose file must be PEM."""


def parse_switch(name: str, text: str) -> bool:
    """Return the boolean of a text.

    Raises:
        InvalidArgument: it is neither true nor false.

    >>> parse_switch("tls", "true")
    True
    """
    if text.lower() not in {"true", "false"}:
        raise InvalidArgument(name, f"{text!r} is not a boolean", "true or false")
    return text.lower() == "true"


def read_site(directory: str) -> dict[str, Any]:
    """Return the settings of Kerberos and TLS in the hbase-site.xml of a directory.

    Raises:
        InvalidArgument: the file cannot be read, or has a store of certificates that is not PEM.
    """
    path = Path(directory) / "hbase-site.xml"
    try:
        root = ET.parse(path).getroot()  # noqa: S314 - the user's own configuration
    except (OSError, ET.ParseError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        what = f"{path} cannot be read: {reason}"
        raise InvalidArgument("site", what, "the folder of hbase-site.xml") from None
    properties = {
        (one.findtext("name") or "").strip(): (one.findtext("value") or "").strip()
        for one in root.iter("property")
    }
    found: dict[str, Any] = {
        name: properties[key] for key, name in _SETTING_NAMES.items() if properties.get(key)
    }
    if "tls" in found:
        found["tls"] = parse_switch("site", found["tls"])
    if found.get("tls"):
        found |= _find_pem_files(properties)
    return found


def _find_pem_files(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the certificates of TLS.

    Raises:
        InvalidArgument: a store is not PEM.
    """
    files = {}
    for store, name in _PEM_SETTINGS.items():
        place = properties.get(f"hbase.rpc.tls.{store}.location")
        if not place:
            continue
        kind = properties.get(f"hbase.rpc.tls.{store}.type", "")
        if kind.upper() != "PEM" and not place.endswith(".pem"):
            what = f"the {store} {place} of hbase-site.xml is not PEM"
            raise InvalidArgument(
                "site", what, "a PEM file", f"Convert it by keytool and openssl; set {name}."
            )
        files[name] = place
    return files
