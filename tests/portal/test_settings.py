from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rowkey.portal import InvalidPortalSettings, PortalSettings


@pytest.fixture
def users_file(tmp_path: Path) -> Path:
    """A file that stands for one with users."""
    path = tmp_path / "users"
    path.touch()
    return path


def test_by_default_only_this_machine_can_reach_the_portal(tmp_path: Path) -> None:
    """Without settings only this machine can reach the portal."""
    settings = PortalSettings(tmp_path)
    assert ("127.0.0.1", True) == (settings.host, settings.is_local)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1"])
def test_a_portal_for_others_needs_users(tmp_path: Path, users_file: Path, host: str) -> None:
    """An address that other machines can reach is refused without a users file."""
    with pytest.raises(InvalidPortalSettings, match="--auth FILE"):
        PortalSettings(tmp_path, host=host)
    named = PortalSettings(
        tmp_path, host=host, users_file=users_file, host_names=("portal.example.org",)
    )
    assert not named.is_local


def test_all_mistakes_of_the_portal_settings_are_reported_at_once(tmp_path: Path) -> None:
    """The error lists every mistake of the settings."""
    with pytest.raises(InvalidPortalSettings) as refusal:
        PortalSettings(
            tmp_path / "missing",
            host="everywhere",
            port=70_000,
            host_names=("a b",),
            users_file=tmp_path / "no",
            certificate_file=tmp_path / "certificate",
        )
    paths = {mistake.path for mistake in refusal.value.mistakes}
    expected = {"FOLDER", "--host", "--port", "--host-name", "--auth", "--tls-key"}
    assert expected <= paths


@pytest.mark.parametrize(
    ("changes", "origin"),
    [
        ({}, "http://127.0.0.1:8765"),
        ({"port": 80}, "http://127.0.0.1"),
        ({"host": "::1"}, "http://[::1]:8765"),
        ({"host": "localhost", "port": 9}, "http://localhost:9"),
    ],
)
def test_the_printed_url_names_a_host_that_the_portal_answers(
    tmp_path: Path, changes: dict[str, Any], origin: str
) -> None:
    settings = PortalSettings(tmp_path, **changes)
    assert origin == settings.origin
    assert origin.partition("//")[2] in settings.allowed_hosts


def test_a_host_behind_a_proxy_is_answered_with_or_without_its_port(
    tmp_path: Path, users_file: Path
) -> None:
    """A name that was given is answered with its own port, without one, and with the portal's."""
    names = ("portal.example.org", "other.example.org:8443")
    settings = PortalSettings(tmp_path, host="0.0.0.0", users_file=users_file, host_names=names)
    allowed = {"portal.example.org", "portal.example.org:8765", "other.example.org:8443"}
    own = {f"{name}:8765" for name in ("127.0.0.1", "localhost", "[::1]")}
    assert allowed | own == settings.allowed_hosts
