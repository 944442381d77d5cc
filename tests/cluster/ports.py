"""Free ports that stay reserved for this cluster, however many clusters start at once."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

from cluster.site import HOST

# Below what systems hand out to clients (32768 on Linux, 49152 elsewhere): while a server is
# down, no connection is given its port.
FROM, TO = 12_000, 32_000
TRIES = 500


class Claims:
    """The ports reserved by this process.

    A port is claimed by binding its UDP namesake, which the servers do not need: other processes
    that claim see it, and the system lets go of it when this process ends, however it ends.
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []
        self._random = random.SystemRandom()

    def port(self) -> int:
        """Reserve a free port and return it."""
        for _ in range(TRIES):
            port = self._random.randrange(FROM, TO)
            if self._claim(port):
                return port
        raise RuntimeError(f"none of {TRIES} ports between {FROM} and {TO} is free")

    def _claim(self, port: int) -> bool:
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with suppress(OSError), socket.socket() as listener:
            listener.bind((HOST, port))
            claim.bind((HOST, port))
            self._held.append(claim)
            return True
        claim.close()
        return False

    def release(self) -> None:
        """Release all reserved ports."""
        while self._held:
            self._held.pop().close()
