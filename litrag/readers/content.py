"""Bytes of a file: gzip unpacked on the way, text decoded, and the format told from what stands there.

In: a path. Out: a stream of bytes, or text with a note on how it was decoded. Refuses text that would not fit into
memory; XML is streamed and has no such limit.
"""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path
from typing import IO, cast

from litrag.errors import InputError

HEAD = 1 << 16
MAX_TEXT = 512 * 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked when it is gzip, whatever its name."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")


def head(path: Path) -> bytes:
    """The first bytes of the unpacked content."""
    with open_bytes(path) as file:
        return file.read(HEAD)


def bom(start: bytes) -> str | None:
    """The encoding that a byte-order mark names; UTF-16 is also known by zeros in every other place and nowhere else."""
    for mark, name in _BOMS:
        if start.startswith(mark):
            return name
    pair = start[:200]
    even, odd = pair[0::2].count(0), pair[1::2].count(0)
    if len(pair) < 4 or min(even, odd) or max(even, odd) < len(pair) // 3:
        return None
    return "utf-16-le" if odd else "utf-16-be"


def text(path: Path) -> tuple[str, str]:
    """The content with `\\n` as line end, and a note when it was not plain UTF-8.

    Lines that aren't UTF-8 are read as Windows-1252, the encoding of most exports that aren't.
    """
    with open_bytes(path) as file:
        raw = file.read(MAX_TEXT + 1)
    if len(raw) > MAX_TEXT:
        raise InputError(f"{path} holds more than {MAX_TEXT >> 20} MB of text; split it into several files.")
    decoded, note = decode(raw)
    return decoded.replace("\r\n", "\n").replace("\r", "\n"), note


def decode(raw: bytes) -> tuple[str, str]:
    """Text of `raw`, and a note when it was not plain UTF-8."""
    if (name := bom(raw[:HEAD])) is not None:
        try:
            decoded = raw.decode(name)
        except UnicodeDecodeError:
            decoded = raw.decode(name, errors="replace")
            return decoded.lstrip("\ufeff"), f"damaged {name}: what could not be decoded stands as \ufffd"
        return decoded.lstrip("\ufeff"), "" if name == "utf-8-sig" else f"read as {name}"
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError:
        lines = [_line(line) for line in raw.split(b"\n")]
    foreign = sum(changed for _, changed in lines)
    return "\n".join(line for line, _ in lines), f"{foreign} lines are not UTF-8 and were read as Windows-1252"


def _line(line: bytes) -> tuple[str, bool]:
    try:
        return line.decode("utf-8"), False
    except UnicodeDecodeError:
        return "".join(_CP1252[byte] for byte in line), True


def _cp1252(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)  # five places that Windows-1252 leaves empty


_CP1252 = [_cp1252(byte) for byte in range(256)]
