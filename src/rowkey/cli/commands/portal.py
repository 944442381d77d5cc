"""The command `portal`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from rowkey.cli.group import define_command
from rowkey.cli.options import FILE_PATH, print_lines, print_notes
from rowkey.errors import Unavailable

LOCAL_ADDRESS, DEFAULT_PORT = "127.0.0.1", 8765
"""Where a portal listens unless options say otherwise; as in `rowkey.portal.PortalSettings`."""


@define_command("Operate", "See, decide and operate in a browser.")
@click.argument("designs", nargs=-1, metavar="[DESIGN… | FOLDER]", type=FILE_PATH)
@click.option(
    "--on",
    "url",
    metavar="URL",
    envvar="ROWKEY_ON",
    show_envvar=True,
    help="Where the tables live: rocks:PATH, hbase://zk1,zk2:2181/hbase or "
    "hbase+master://m1:16000,m2:16000. Without it, the portal shows design files only.",
)
@click.option(
    "--host", metavar="ADDRESS", default=LOCAL_ADDRESS, show_default=True,
    help="Address to listen on. One that other machines can reach needs --auth.",
)  # fmt: skip
@click.option(
    "--port", metavar="N", default=DEFAULT_PORT, show_default=True,
    help="Port to listen on; 0 for any free one.",
)  # fmt: skip
@click.option(
    "--host-name", "host_names", metavar="NAME", multiple=True,
    help="Name under which browsers reach the portal, if it is not the address. May be repeated.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Refuse everything that changes something.")
@click.option(
    "--auth", metavar="FILE", type=FILE_PATH,
    help="TOML file with users, their roles and hashed passwords, or with the proxy that logs "
    "users in. Without it, the printed link logs one person in.",
)  # fmt: skip
@click.option("--tls-certificate", metavar="FILE", type=FILE_PATH, help="Certificate for HTTPS.")
@click.option("--tls-key", metavar="FILE", type=FILE_PATH, help="Private key of the certificate.")
@click.option(
    "--state", metavar="FOLDER", type=FILE_PATH,
    help="Folder for the audit log, uploaded samples and results; .rowkey-portal next to the "
    "designs if left out.",
)  # fmt: skip
@click.option(
    "--alert-url",
    metavar="URL",
    help="Webhook that is sent a JSON document when a table becomes hot or cools, and when a "
    "table or the cluster is down or up again.",
)
@click.option(
    "--metrics-token",
    metavar="FILE",
    type=FILE_PATH,
    help="File with the token by which Prometheus reads /metrics.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option(
    "--new-link", is_flag=True,
    help="Print a new link that logs in once to the portal that runs with this FOLDER or --state, "
    "and end.",
)  # fmt: skip
@click.option(
    "--hash-password", is_flag=True,
    help="Print the hash of a password for the file of --auth, and end. The password is asked for, "
    "or read from standard input.",
)  # fmt: skip
def command(
    designs: tuple[str, ...],
    url: str | None,
    host: str,
    port: int,
    host_names: tuple[str, ...],
    read_only: bool,
    auth: str | None,
    tls_certificate: str | None,
    tls_key: str | None,
    state: str | None,
    alert_url: str | None,
    metrics_token: str | None,
    no_browser: bool,
    new_link: bool,
    hash_password: bool,
) -> None:
    """Serve the designs of a folder and the tables of an engine as web pages until Ctrl-C.

    FOLDER is the current one if left out. With one DESIGN, the portal begins at its page; it shows
    the other designs of its folder as well. The portal listens on this machine only and prints a
    link that logs in once, unless --auth and --host say otherwise.

    \b
    rowkey portal --on rocks:./data
    rowkey portal logs.toml --port 0 --no-browser
    rowkey portal --hash-password

    \b
    For a team: --auth users.toml --host 0.0.0.0 --host-name portal.example.org
        --tls-certificate certificate.pem --tls-key key.pem
    """
    if hash_password:
        from rowkey.portal import hash_password as compute_hash

        print_lines([compute_hash(_read_password())])
        return
    from rowkey.portal import PortalSettings

    try:
        from rowkey.portal import create_login_link, run_server
    except ModuleNotFoundError as problem:
        what = f"the package {problem.name} is not installed"
        raise Unavailable("portal", what, remedy="Run pip install 'rowkey[portal]'.") from None

    folder, start_page = find_folder(designs)
    settings = PortalSettings(
        folder,
        url,
        host=host,
        port=port,
        host_names=host_names,
        is_read_only=read_only,
        start_page=start_page,
        alert_url=alert_url,
        **_build_paths(
            users_file=auth,
            certificate_file=tls_certificate,
            key_file=tls_key,
            state_folder=state,
            metrics_token_file=metrics_token,
        ),
    )
    if new_link:
        print_lines([create_login_link(settings)])
        return
    with suppress(KeyboardInterrupt):  # Ctrl-C is how a portal ends
        run_server(
            settings,
            opens_browser=not no_browser,
            report=lambda link: _print_link(link, logs_in=auth is None),
        )


def find_folder(places: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """Return the folder of the designs, and the steps of the path of the page to begin with.

    Args:
        places: design files of one folder, or a folder; the current folder if empty.

    Raises:
        UsageError: they are not in one folder.
    """
    paths = [Path(one) for one in places]
    if not paths or (len(paths) == 1 and not paths[0].is_file()):
        folder = paths[0] if paths else Path()
        if folder.suffix == ".toml" and not folder.exists():
            raise click.UsageError(f"{folder} is no file and no folder.")
        return folder, ()
    folders = {path.parent.resolve() for path in paths}
    if len(folders) > 1 or not all(path.is_file() for path in paths):
        raise click.UsageError("Give one folder, or design files that lie in one folder.")
    return folders.pop(), ("designs", paths[0].name) if len(paths) == 1 else ()


def _build_paths(**files: str | None) -> dict[str, Any]:
    """Return paths for the names of files; None stays None."""
    return {name: None if file is None else Path(file) for name, file in files.items()}


def _read_password() -> str:
    """Return a password that is typed twice, or the first line of standard input.

    Raises:
        UsageError: it is empty.
    """
    if sys.stdin.isatty():
        asked = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        password = str(asked)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise click.UsageError("The password is empty. Write it to standard input.")
    return password


def _print_link(link: str, *, logs_in: bool) -> None:
    """Print where the portal is open, for the user and for programs that start it.

    Args:
        link: the URL to open.
        logs_in: whether it logs in one person.
    """
    print_lines([link])
    sys.stdout.flush()
    once = "; the link works once" if logs_in else ""
    print_notes([f"The portal is open there{once}. Ctrl-C ends it."])
