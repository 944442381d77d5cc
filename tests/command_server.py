"""Runs the command `rowkey` in forks of a process that has imported its modules already.

Most of the time of a short command is the import of its modules. `find_command` gives a program
that is used like the installed `rowkey`: each call is a process of its own, with the arguments,
folder, environment and standard streams of its caller, and is killed with it. Tests of the start
of a process and of its limits start Python themselves; `start_fork` is for signals.
"""

from __future__ import annotations

import ast
import atexit
import gc
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import mkdtemp
from typing import Any

CLIENT = """\
#!{python} -IS
import sys
from os import _exit, environ, execv, fstat, getcwd, kill, getpid
if environ.get("PYTHONPATH") != {path!r} or "PYTHONIOENCODING" in environ:
    execv({python!r}, [{python!r}, "-m", "rowkey", *sys.argv[1:]])
numbers = []
for number in (0, 1, 2):
    try:
        fstat(number)
        numbers.append(number)
    except OSError:  # this stream is closed
        pass
import _socket
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect({address!r})
request = ascii((sys.argv, getcwd(), dict(environ), numbers)).encode()
streams = b"".join(number.to_bytes(4, {order!r}) for number in numbers)
attached = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)] if numbers else []
connection.sendmsg([len(request).to_bytes(4, "big")], attached)
connection.sendall(request)
status = connection.recv(4)
code = int.from_bytes(status, "big", signed=True) if status else 70
if code < 0:
    from signal import SIG_DFL, signal
    if -code != 9:
        signal(-code, SIG_DFL)
    kill(getpid(), -code)
_exit(code)
"""
"""The program in place of `rowkey`, which sends a request and exits as the forked process."""

MAIN = "from rowkey.cli import main; main()"
CODE = "ROWKEY_TEST_CODE"
"""An environment variable with Python that is run instead, and calls `main()` itself."""
DESIGN = """\
table = "logs"
key = "[bucket(host, 2)][host][ts]"
splits = "per_bucket"
fields = { host = "text", ts = "timestamp_ms" }
writes = { rate = "50/s", for = "60s" }
"""
"""A design that is replayed in milliseconds."""


@cache
def find_command() -> str:
    """Return the path of a program that does what `rowkey` does; its server ends with the tests."""
    folder = Path(mkdtemp(prefix="rowkey-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address, program = str(folder / "socket"), folder / "rowkey"
    server = subprocess.Popen(
        [sys.executable, __file__, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    atexit.register(server.wait)
    atexit.register(server.stdin.close)
    assert b"ready\n" == server.stdout.readline()
    path = os.environ.get("PYTHONPATH")
    program.write_text(
        CLIENT.format(python=sys.executable, path=path, address=address, order=sys.byteorder)
    )
    program.chmod(0o755)
    return str(program)


@contextmanager
def start_fork(
    code: str, *arguments: str, **options: Any
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run Python in a fork for the time of a `with` block.

    Args:
        code: what it runs, as a program of its own.
        arguments: its arguments.
        options: of `Popen`.

    Returns:
        The process that its caller waits for, and the number of the fork, which gets signals.
    """
    environment = {**os.environ, CODE: f"import os\nprint(os.getpid(), flush=True)\n{code}"}
    with subprocess.Popen(
        [find_command(), *arguments], env=environment, stdout=subprocess.PIPE, text=True, **options
    ) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())


def serve(address: str) -> None:
    """Fork a process for each request, until standard input ends."""
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(address)
        listener.listen(16)
        woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for file in (listener, woken, sys.stdin):
            selector.register(file, selectors.EVENT_READ)
        print("ready", flush=True)
        running: dict[int, socket.socket] = {}
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if woken in ready:
                os.read(woken, 1_000)
            _end_calls(running, ready, selector)
            if listener in ready:
                caller, _ = listener.accept()
                request, streams = _receive_request(caller)
                child = os.fork()
                running[child] = caller
                if not child:
                    break
                selector.register(caller, selectors.EVENT_READ)
                _close(streams)
            elif sys.stdin in ready:
                return
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in running.values():
            one.close()
    _close((woken, wakes))
    _take_place(request, streams)
    try:
        exec(os.environ.pop(CODE, MAIN), {"__name__": "__main__"})
    except SystemExit as left:
        if isinstance(left.code, int):
            _exit_quickly(left.code)
        raise


def _end_calls(
    running: dict[int, socket.socket], ready: set[Any], selector: selectors.BaseSelector
) -> None:
    """Send the caller of each process that ended its exit code, or its signal as a negative one.

    A process whose caller was killed is killed.
    """
    for child, caller in list(running.items()):
        if caller in ready:  # a caller sends nothing after its request
            os.kill(child, signal.SIGKILL)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            del running[child]
            selector.unregister(caller)
            with caller, suppress(BrokenPipeError):
                code = os.waitstatus_to_exitcode(status)
                caller.sendall(code.to_bytes(4, "big", signed=True))


def _exit_quickly(code: int) -> None:
    """Exit as Python does, without freeing every object, which takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return  # Python says so
    os._exit(code)


def _receive_request(caller: socket.socket) -> tuple[bytes, list[int]]:
    """Return the request of a caller, and its standard streams."""
    head, streams, _, _ = socket.recv_fds(caller, 4, 3)
    size = int.from_bytes(head, "big")
    request = b""
    while len(request) < size:
        request += caller.recv(size - len(request))
    return request, streams


def _close(files: Iterable[int]) -> None:
    """Close the files of some numbers."""
    for file in files:
        os.close(file)


def _take_place(request: bytes, streams: list[int]) -> None:
    """Give this process the streams, arguments, folder and environment of a caller."""
    sys.argv, folder, environment, numbers = ast.literal_eval(request.decode())
    for number, stream in zip(numbers, streams, strict=True):
        os.dup2(stream, number)
        os.close(stream)
    for number in {0, 1, 2}.difference(numbers):
        os.close(number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        stream = _open_stream(number, mode, numbers)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _open_stream(number: int, mode: str, numbers: list[int]) -> Any:
    """Open a standard stream as Python does at its start; None if it is closed."""
    if number not in numbers:
        return None
    errors = "backslashreplace" if number == 2 else "strict"
    buffering = 1 if number == 2 or (number == 1 and os.isatty(1)) else -1
    return open(number, mode, buffering, encoding="utf-8", errors=errors, closefd=False)


def _prepare_modules() -> None:
    """Import what a command may need, and build what its modules build on their first use.

    So no fork of this process does it again.
    """
    import rowkey

    for found in walk_packages(rowkey.__path__, "rowkey."):
        if "__main__" not in found.name:
            import_module(found.name)
    for name in ("pyarrow.compute", "pyarrow.csv", "pyarrow.parquet", "rich.console"):
        import_module(name)
    _judge_small_design()
    gc.collect()
    gc.freeze()


def _judge_small_design() -> None:
    """Check and replay a small design, in no thread and without a change of this process."""
    from rowkey import Design, simulate
    from rowkey.lint import check_design
    from rowkey.pandas_guard import skip_pandas

    with skip_pandas():
        design = Design.loads(DESIGN)
        check_design(design)
        simulate.run(design)
    assert "pandas" not in sys.modules


if __name__ == "__main__":
    sys.path.pop(0)
    _prepare_modules()
    serve(sys.argv[1])
