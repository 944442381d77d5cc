"""A JSON array as JSON lines, so that an array of any size is read like a file of lines."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import IO, Any, NoReturn

from rowkey.array_libraries import np
from rowkey.errors import SampleError

HEAD_BYTES = 4_096
"""Bytes that are read to recognise an array."""
CHUNK_BYTES, MAX_CHUNK_BYTES = 1 << 18, 1 << 20
"""Bytes of an array that are looked at together; most, where a run of backslashes is among them."""
_ARRAY_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:[{\]]|\Z)")

_DEPTH_STEPS = [(byte in b"[{") - (byte in b"]}") for byte in range(256)]
_IS_STRUCTURE = [byte in b'"[]{},\r\n' for byte in range(256)]
_IS_SPACE = [byte in b" \t\r\n" for byte in range(256)]


def is_array_of_objects(head: bytes) -> bool:
    """Return whether the first bytes of a file begin a JSON array of objects, or an empty one.

    >>> is_array_of_objects(b' [\\n {"a": 1}'), is_array_of_objects(b"[1, 2]")
    (True, False)
    """
    return _ARRAY_START.match(head) is not None


class ArrayLines(io.RawIOBase):
    """A JSON array with each item on a line of its own.

    Line ends outside of texts become spaces, and commas between items become line ends. A line end
    within a text, which JSON forbids, becomes a carriage return, which it forbids too.

    Args:
        stream: the bytes of the array, perhaps after a byte order mark.
        path: the file, for errors.

    Cost: about 4 ns a byte, and a few MB of memory.
    """

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path
        self._depth, self._comma_count = 1, 0
        self._is_in_text = self._has_ended = False
        self._buffer = b""
        while stream.read(1) not in (b"[", b""):
            pass

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at most as many bytes as the buffer takes; return 0 at the end.

        Raises:
            SampleError: the array has no end, or something follows it.
        """
        while not self._buffer and (chunk := self._read_chunk()):
            if self._has_ended:
                self._check_rest(chunk)
            else:
                self._buffer = self._convert(chunk)
        if not (self._buffer or self._has_ended):
            self._fail("the file ends within item {item:,} of the array")
        data, self._buffer = self._buffer[: len(buffer)], self._buffer[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def _read_chunk(self) -> bytes:
        """Return the next bytes of the file, which do not end with a backslash."""
        chunk = self._stream.read(CHUNK_BYTES)
        while chunk.endswith(b"\\") and (more := self._stream.read(CHUNK_BYTES)):
            chunk += more
            if len(chunk) > MAX_CHUNK_BYTES:
                self._fail("item {item:,} of the array has too many backslashes")
        return chunk

    def _convert(self, chunk: bytes) -> bytes:
        """Return the next bytes of the array as lines, without the spaces between its items."""
        characters = np.frombuffer(chunk, np.uint8).copy()
        # The first place stands for what the chunk before has left.
        places = np.append(0, np.flatnonzero(np.array(_IS_STRUCTURE)[characters]))
        kinds = np.append(ord(" "), characters[places[1:]]).astype(np.uint8)
        is_quote = kinds == ord('"')
        is_quote[is_quote] = ~find_escaped(characters, places[is_quote])
        was_in_text = (np.cumsum(is_quote) - is_quote + self._is_in_text) % 2 == 1
        depths = np.cumsum(np.where(was_in_text, 0, np.array(_DEPTH_STEPS)[kinds])) + self._depth
        ends = np.flatnonzero(depths == 0)
        stop = len(chunk)
        if len(ends):
            self._has_ended = True
            stop = int(places[ends[0]])
            self._check_rest(chunk[stop + 1 :])
            places, kinds, depths, was_in_text, is_quote = (
                values[: ends[0]] for values in (places, kinds, depths, was_in_text, is_quote)
            )
        is_in_text = was_in_text ^ is_quote
        self._depth, self._is_in_text = int(depths[-1]), bool(is_in_text[-1])
        is_between_items = np.repeat((depths == 1) & ~is_in_text, np.diff(places, append=stop))
        is_kept = ~(is_between_items & np.array(_IS_SPACE)[characters[:stop]])
        is_line_end = (kinds == ord("\n")) | (kinds == ord("\r"))
        characters[places[is_line_end]] = np.where(is_in_text[is_line_end], ord("\r"), ord(" "))
        is_comma = (kinds == ord(",")) & (depths == 1) & ~is_in_text
        characters[places[is_comma]] = ord("\n")
        self._comma_count += int(np.count_nonzero(is_comma))
        return bytes(characters[:stop][is_kept])

    def _check_rest(self, rest: bytes) -> None:
        """Raise if anything but spaces follows the array."""
        if rest.strip(b" \t\r\n"):
            self._fail("something follows the array of {item:,} items")

    def _fail(self, what: str) -> NoReturn:
        """Raise an error about the array; `item` is the number of the last item that was read."""
        raise SampleError(
            str(self._path),
            what.format(item=self._comma_count + 1),
            "one JSON array of objects, or one JSON object on each line",
            "Copy or write the whole file again.",
        )


def find_escaped(
    characters: np.ndarray[Any, Any], quotes: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return which quotes follow an odd number of backslashes.

    Args:
        characters: bytes.
        quotes: the places of quotes among them.
    """
    is_backslash = characters == ord("\\")
    if not is_backslash.any():
        return np.zeros(len(quotes), np.bool_)
    places = np.arange(len(characters))
    last_others = np.maximum.accumulate(np.where(is_backslash, -1, places))
    before = np.maximum(quotes - 1, 0)
    return np.asarray((before - last_others[before]) % 2 == 1)
