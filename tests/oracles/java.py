"""A long-lived JVM that answers thousands of questions over its pipes.

The questions and the spelling of their arguments are those of `hbase/Oracle.java`:

| question | arguments | answer |
|---|---|---|
| RegionSplitter.split | algorithm, n, first?, last? | the n - 1 keys |
| RegionSplitter.midpoint | algorithm, start, end, first?, last? | one key |
| RegionSplitter.within | algorithm, start, end, n, inclusive, first?, last? | keys |
| Bytes.split | a, b, inclusive, n | keys |
| Bytes.toBytes | short, int, long, float, double; value | bytes |
| Bytes.toStringBinary | bytes | text |
| Bytes.toBytesBinary | text | bytes |
| Bytes.hashCode | bytes | signed int |
| Bytes.compareTo | a, b | -1, 0, 1 |
| ClientUtil.calculateTheClosestNextRowKeyForPrefix | bytes | bytes |
| MurmurHash3.hash | bytes | unsigned int, seed 0 |
| OrderedBytes.encode | type, ASCENDING or DESCENDING, value | bytes |
| OrderedBytes.decode | type, bytes | value; as in production, no header is checked |
| Long.MAX_VALUE- | long | 8 bytes |
| Math.abs% | int h, int n | Math.abs(h % n) |
| Math.floorMod | long, long | long |
| MessageDigest.digest | MD5, SHA-1, SHA-256; bytes | bytes |
| CRC32.getValue | bytes | unsigned int |
| System.out.println | text | null; the text goes to stderr |

`?` marks what may be left out. Algorithms: HexStringSplit, DecimalStringSplit, UniformSplit; their
rows are bytes. Types of OrderedBytes: Int8, Int16, Int32, Int64, Float32, Float64, String, BlobVar.
A float is the 4 or 8 bytes of its IEEE bits, both ways, so that no payload of a NaN is lost.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from typing import IO, Self, TypeAlias

Argument: TypeAlias = bytes | str | int | None

BLOCK_BYTES = 1 << 16  # what a Linux pipe holds
LAST_WORDS_BYTES = 2_000


class OracleError(Exception):
    """The oracle is broken or the question was invalid; it says nothing about HBase."""


class JavaOracle:
    """A JVM that answers one line per question, in order.

    Args:
        command: the JVM and its arguments.
        patience_s: seconds of silence after which the JVM is given up and ended.
    """

    def __init__(self, command: Sequence[str], patience_s: float = 60.0) -> None:
        self._patience_s = patience_s
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, bufsize=0
        )
        self._questions, self._answers = _get_pipes(self._process)
        self._stopped = ""

    @property
    def pid(self) -> int:
        """The process id of the JVM."""
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, name: str, *arguments: Argument) -> str:
        """Return the answer to one question.

        Args:
            name: the question, as in the table above.
            arguments: bytes, text, whole numbers, truths or None.

        Returns:
            Lower-case hex of bytes and text, decimal of numbers, `empty`, `null`; a list has commas
            between, and is `none` without elements; `! SimpleClassName` if the Java class threw.

        Raises:
            OracleError: the JVM is dead, silent, or cannot understand the question.

        Cost: about 50 µs; ask many at once where there are many.

        """
        return self.ask_many([(name, *arguments)])[0]

    def ask_many(self, questions: Iterable[tuple[Argument, ...]]) -> list[str]:
        """Return the answers to many questions, in order.

        Args:
            questions: any number of (name, *arguments).

        Returns:
            As many answers, each as `ask` gives it.

        Raises:
            OracleError: the JVM is dead, silent, or cannot understand one of the questions.

        Cost: a few µs each; holds all questions and answers in memory.

        """
        lines = [_format_question(*question) for question in questions]
        if self._stopped:
            raise OracleError(f"the JVM cannot be asked: {self._stopped}")
        try:
            answers = self._exchange("".join(lines).encode(), len(lines))
        except BaseException as error:
            # Half an exchange leaves answers in the pipe that would be taken for later ones.
            self.stop(str(error) or type(error).__name__)
            raise
        return [_parse_answer(line) for line in answers]

    def _exchange(self, unsent: bytes, count: int) -> list[str]:
        """Write and read alternately, so that neither pipe blocks."""
        received: list[bytes] = []
        sent, missing = 0, count
        with selectors.DefaultSelector() as ready:
            ready.register(self._answers, selectors.EVENT_READ)
            ready.register(self._questions, selectors.EVENT_WRITE)
            while missing:
                for key, _ in self._wait(ready):
                    if key.fileobj is self._answers:
                        received.append(self._read())
                        missing -= received[-1].count(b"\n")
                        continue
                    sent += self._write(unsent[sent : sent + BLOCK_BYTES])
                    if sent == len(unsent):
                        ready.unregister(self._questions)
        return b"".join(received).decode().splitlines()

    def _wait(self, ready: selectors.BaseSelector) -> list[tuple[selectors.SelectorKey, int]]:
        events = ready.select(self._patience_s)
        if not events:
            raise OracleError(f"the JVM said nothing for {self._patience_s:g} s")
        return events

    def _read(self) -> bytes:
        block = os.read(self._answers.fileno(), BLOCK_BYTES)
        if not block:
            raise self._death()
        return block

    def _write(self, block: bytes) -> int:
        try:
            return os.write(self._questions.fileno(), block)
        except BrokenPipeError:
            raise self._death() from None

    def _death(self) -> OracleError:
        try:
            end = f"exit code {self._process.wait(self._patience_s)}"
        except subprocess.TimeoutExpired:
            end = "its pipes closed"
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace")[-LAST_WORDS_BYTES:].strip()
        return OracleError(f"the JVM died, {end}; its last words: {words or 'none'}")

    def stop(self, reason: str = "it was stopped") -> None:
        """Kill the JVM and wait for its end; a second call does nothing.

        Args:
            reason: the error of later questions.
        """
        if self._stopped:
            return
        self._stopped = reason
        self._process.kill()
        self._process.wait(self._patience_s)
        for pipe in (self._questions, self._answers, self._stderr):
            pipe.close()


def format_argument(argument: Argument) -> str:
    """Return how an argument is spelled, which is also the spelling of the value in an answer.

    >>> [format_argument(argument) for argument in (b"a", b"", "é", 5, True, None)]
    ['61', 'empty', 'c3a9', '5', 'true', 'null']
    """
    if isinstance(argument, str):
        argument = argument.encode()
    if isinstance(argument, bytes):
        return argument.hex() or "empty"
    if argument is None or isinstance(argument, bool):
        return {None: "null", True: "true", False: "false"}[argument]
    if isinstance(argument, int):
        return str(argument)
    raise TypeError(f"{argument!r} is no argument: give the IEEE bits of a float as bytes")


def parse_bytes(answer: str) -> bytes:
    r"""Return the bytes that an answer spells.

    Raises:
        ValueError: the answer is `null`, a list or an error from Java.

    >>> parse_bytes("00ff"), parse_bytes("empty")
    (b'\x00\xff', b'')
    """
    return b"" if answer == "empty" else bytes.fromhex(answer)


def parse_keys(answer: str) -> list[bytes]:
    r"""Return the list of bytes that an answer spells.

    Raises:
        ValueError: the answer is `null` or an error from Java.

    >>> parse_keys("00ff,empty"), parse_keys("none")
    ([b'\x00\xff', b''], [])
    """
    return [] if answer == "none" else [parse_bytes(word) for word in answer.split(",")]


def parse_text(answer: str) -> str:
    """Return the text that an answer spells.

    Raises:
        ValueError: the answer is `null`, a list or an error from Java.

    >>> parse_text("c3a9")
    'é'
    """
    return parse_bytes(answer).decode()


def _get_pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    questions, answers = process.stdin, process.stdout
    assert questions is not None
    assert answers is not None
    os.set_blocking(questions.fileno(), False)
    os.set_blocking(answers.fileno(), False)
    return questions, answers


def _format_question(name: Argument, *arguments: Argument) -> str:
    return "\t".join([str(name), *map(format_argument, arguments)]) + "\n"


def _parse_answer(line: str) -> str:
    if line.startswith("= "):
        return line[2:]
    if line.startswith("! "):
        return line
    raise OracleError(f"the JVM could not put the question: {line.removeprefix('? ')}")
