from __future__ import annotations

import http.client
import os
import signal
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher

from cli.command import LOGS, run
from command_server import MAIN, start_fork
from portal.tls_files import create_tls_files

"""The folder with a certificate of localhost for a hundred years, and its key."""


@contextmanager
def start_portal(folder: Path, *arguments: str) -> Iterator[str]:
    """Run `rowkey portal` in a folder for a `with` block, and return the printed link."""
    words = ("portal", "--no-browser", "--port", "0", *arguments)
    with start_fork(MAIN, *words, cwd=folder, stderr=subprocess.PIPE) as (process, number):
        assert process.stdout is not None
        try:
            link = process.stdout.readline().strip()
            yield link
        finally:
            os.kill(number, signal.SIGINT)
            _, errors = process.communicate(timeout=30)
    assert "" == link or (0, 1) == (process.returncode, errors.count("\n"))


def test_the_link_of_the_portal_logs_in_and_opens_the_page_of_the_design(tmp_path: Path) -> None:
    """Its link logs in and begins at the page of the design, so does a new one; Ctrl-C ends it."""
    (tmp_path / "logs.toml").write_text(LOGS, "utf-8")
    with start_portal(tmp_path, "logs.toml") as link:
        url = urlsplit(link)
        browser = http.client.HTTPConnection(url.netloc, timeout=20)
        browser.request("GET", f"{url.path}?{url.query}")
        response = browser.getresponse()
        assert (303, "/designs/logs.toml") == (response.status, response.getheader("location"))
        response.read()
        new_link = run("portal", "--new-link", str(tmp_path)).out.strip()
        assert link.partition("?")[0] == new_link.partition("?")[0]
        for status in (303, 403):
            browser.request("GET", new_link.removeprefix(f"http://{url.netloc}"))
            response = browser.getresponse()
            assert status == response.status
            response.read()
        browser.close()
        second = run("portal", str(tmp_path), "--port", "0", "--no-browser")
        assert (4, True) == (second.code, "another portal has this folder" in second.err)


def test_a_portal_with_a_certificate_speaks_only_https(tmp_path: Path) -> None:
    """With a certificate and its key the portal speaks HTTPS only, with a cookie for HTTPS."""
    certificate, key = create_tls_files(tmp_path)
    tls = ("--tls-certificate", str(certificate), "--tls-key", str(key))
    with start_portal(tmp_path, "--host", "localhost", *tls) as link:
        url = urlsplit(link)
        assert ("https", "localhost") == (url.scheme, url.hostname)
        trusted = ssl.create_default_context(cafile=certificate)
        browser = http.client.HTTPSConnection(url.netloc, timeout=20, context=trusted)
        browser.request("GET", f"{url.path}?{url.query}")
        response = browser.getresponse()
        cookie = str(response.getheader("set-cookie"))
        assert (303, True) == (response.status, cookie.startswith("__Host-rowkey_session"))
        assert "; Secure" in cookie
        browser.close()
        plain = http.client.HTTPConnection(url.netloc, timeout=20)
        plain.request("GET", "/healthz")
        with pytest.raises((http.client.HTTPException, OSError)):
            plain.getresponse()
        plain.close()


def test_a_portal_that_other_machines_can_reach_needs_users(tmp_path: Path) -> None:
    """An address that other machines can reach is refused without --auth, with exit code 2."""
    found = run("portal", str(tmp_path), "--host", "0.0.0.0")
    assert (2, True) == (found.code, "Give --auth FILE" in found.err)


@pytest.mark.parametrize(
    ("places", "text"),
    [
        (["missing"], "'missing' is not a folder"),
        (["missing.toml"], "missing.toml is no file and no folder"),
        (["a.toml", "b/c.toml"], "lie in one folder"),
        (["a.toml", "b"], "lie in one folder"),
    ],
)
def test_the_portal_is_refused_without_exactly_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: list[str], text: str
) -> None:
    """A place that is no folder, or files of several folders are refused with exit code 2."""
    (tmp_path / "b").mkdir()
    for name in ("a.toml", "b/c.toml"):
        (tmp_path / name).write_text(LOGS, "utf-8")
    monkeypatch.chdir(tmp_path)
    found = run("portal", *places)
    assert (2, True) == (found.code, text in found.err)


def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path) -> None:
    """A file that is no certificate is refused before the portal is open."""
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate", "utf-8")
    tls = ("--tls-certificate", str(broken), "--tls-key", str(broken))
    found = run("portal", str(tmp_path), "--port", "0", "--no-browser", *tls)
    assert (4, True) == (found.code, "the TLS files cannot be used" in found.err)


def test_portal_password_prints_a_hash_that_verifies() -> None:
    """The printed hash is one of the password; an empty password is refused."""
    found = run("portal", "--hash-password", stdin="open sesame\n")
    assert 0 == found.code
    assert PasswordHasher().verify(found.out.strip(), "open sesame")
    assert 2 == run("portal", "--hash-password", stdin="\n").code
