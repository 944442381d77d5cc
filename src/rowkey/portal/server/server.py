"""Runs a portal until it is stopped, and opens it in a browser."""

from __future__ import annotations

import signal
import socket
import ssl
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from rowkey.errors import Unavailable
from rowkey.portal.app import build_app
from rowkey.portal.running_portal import lock_state
from rowkey.portal.server.listener import MAX_CONNECTIONS, PortalListener
from rowkey.portal.server.protocol import PortalProtocol
from rowkey.portal.settings import PortalSettings

if TYPE_CHECKING:
    from starlette.applications import Starlette


MAX_HEADER_BYTES = 32 << 10
KEEP_ALIVE_S, SHUTDOWN_S = 15, 5
CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Ciphers of TLS 1.2; uvicorn has offered others. Older protocols are refused by Python."""


def run_server(
    settings: PortalSettings,
    *,
    opens_browser: bool = True,
    report: Callable[[str], None] | None = None,
) -> None:
    """Serve a portal until the process is interrupted.

    Args:
        settings: what it shows and where it listens.
        opens_browser: whether the portal is opened in a browser of this machine.
        report: called with the URL to open, once connections are accepted; prints it if None. With
            a users file it is the login page, else it has a token that works once.

    Raises:
        InvalidPortalSettings: the users file has mistakes.
        Unavailable: the port is in use, the TLS files cannot be read, or another portal has the
            same folder for its own files.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(bind_listener(settings))
        settings = replace(settings, port=listener.getsockname()[1])
        stack.enter_context(lock_state(settings))
        app = build_app(settings)
        url = f"{settings.origin}/login"
        if settings.users_file is None:
            url = f"{url}?token={app.state.portal.sessions.create_login_token()}"
        server = build_server(app, settings, listener)
        if threading.current_thread() is threading.main_thread():
            # Who reads the URL may interrupt at once, before the server listens to signals. A
            # handler that C code installed is None, and cannot be put back.
            earlier = signal.getsignal(signal.SIGINT) or signal.SIG_DFL
            stack.callback(signal.signal, signal.SIGINT, earlier)
            signal.signal(signal.SIGINT, server.handle_exit)
        (report or _print_url)(url)
        if opens_browser:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        server.run([listener])


def bind_listener(settings: PortalSettings) -> PortalListener:
    """Return a socket that accepts connections, so that no browser is opened too early.

    Raises:
        Unavailable: the port is in use, or the address is not of this machine.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = PortalListener(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(MAX_CONNECTIONS)
    except OSError as problem:
        listener.close()
        place = f"{settings.host}:{settings.port}"
        what = f"the portal cannot listen there: {problem.strerror}"
        remedy = "Choose another port by --port, or --port 0 for any free one."
        raise Unavailable(place, what, remedy=remedy) from problem
    return listener


def build_server(
    app: Starlette, settings: PortalSettings, listener: PortalListener
) -> uvicorn.Server:
    """Return the server of an app; it logs no URL, as one has the login token.

    Args:
        settings: where it listens.
        listener: the socket that accepts its connections.

    Raises:
        Unavailable: the TLS files cannot be read.
    """
    users = app.state.portal.sessions.users
    if users is not None and users.proxy is not None:
        listener.proxy_address = users.proxy.address
    config = uvicorn.Config(
        app,
        http=partial(PortalProtocol, listener),  # type: ignore[arg-type]
        loop="asyncio",  # others do not call `accept` of the listener
        ws="none",
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_S,
        ssl_certfile=settings.certificate_file,
        ssl_keyfile=settings.key_file,
        ssl_ciphers=CIPHERS,
    )
    try:
        config.load()
    except OSError as problem:
        what = f"the TLS files cannot be used: {problem.strerror}"
        raise Unavailable(str(settings.certificate_file), what) from problem
    if config.ssl is not None:  # the Python of some distributions sets no least version
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    server = uvicorn.Server(config)
    handle_exit = server.handle_exit

    def end_streams(sig: int, frame: Any) -> None:
        """End the streams of open pages first, which the server would wait for."""
        app.state.portal.end_streams()
        handle_exit(sig, frame)

    server.handle_exit = end_streams  # type: ignore[method-assign]
    return server


def _print_url(url: str) -> None:
    sys.stderr.write(f"The portal is open at {url}\nCtrl-C ends it.\n")
    sys.stderr.flush()
