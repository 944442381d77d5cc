"""How a connection ends while others still read and send on it."""

from __future__ import annotations

import socket
import struct
from typing import Final

_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
"""struct linger: what is not sent yet is thrown away. Source: socket(7), SO_LINGER."""


def hang_up(connected: socket.socket, *, reset: bool) -> None:
    """Wake who reads; the socket itself is closed by the last who uses it.

    Args:
        connected: the socket.
        reset: whether what is not sent yet is thrown away when it is closed.
    """
    try:
        if reset:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        connected.shutdown(socket.SHUT_RD)
    except OSError:
        pass  # the other side was faster
