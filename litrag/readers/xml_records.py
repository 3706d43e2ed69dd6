"""Records of an XML file one after the other, each parsed by itself.

In: a file of any size and the names of its record elements. Out: elements, or the reason why a record is not well
formed. The file is cut at the record tags before it is parsed, so that a broken record costs that record only, memory
stays small, and no document type definition is ever seen: entities can't be defined, expanded or fetched.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html.entities import name2codepoint
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, TypeVar

from lxml import etree

from litrag.readers import content
from litrag.readers.report import Rejection

Item = TypeVar("Item")

CHUNK = 1 << 18
MAX_RECORD = 32 * 1024 * 1024
_DECLARED = re.compile(rb"\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z][\w.-]{0,30})[\"']")
_OF_TEXT = re.compile(r"utf|iso8859|iso2022|cp|mac|koi8|gb|big5|euc|shift|johab|hz|tis|ptcp|kz")
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_PREFIXES = ("xlink", "mml", "m", "xsi", "ali", "oasis", "jats", "xi", "article", "ce", "sa", "css")
_DECLARING = b"<_" + b"".join(f' xmlns:{prefix}="urn:{prefix}"'.encode() for prefix in _PREFIXES) + b">"
_XML_ENTITIES = frozenset({b"lt", b"gt", b"amp", b"quot", b"apos"})
#: XML 1.0 allows no other characters below the space.
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Broken(Exception):
    """Why a stretch of the file is not a record."""


def elements(
    path: Path, names: tuple[str, ...], holds: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[int, Any]]:
    """(number, element or Broken) for every outermost element called one of `names`, numbered from 1.

    `holds` tells which of them may stand in which; before any other one an element must be closed.
    """
    with content.open_bytes(path) as file:
        start = file.read(content.HEAD)
        stream, encoding = _as_ascii_superset(file, start)
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=False,
            remove_comments=True, remove_pis=True, encoding=encoding,
        )
        for number, piece in enumerate(_pieces(stream, names, holds), start=1):
            yield number, piece if isinstance(piece, Broken) else _parsed(piece, parser, encoding)


def read_each(
    path: Path, names: tuple[str, ...], read: Callable[[Any, str, str], Iterator[Item]], *, kind: str = "record",
    holds: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Item | Rejection]:
    """What `read` makes of (element, file, place) for every element, and a rejection of each that is broken."""
    for number, element in elements(path, names, holds):
        place = f"{kind} {number}"
        if isinstance(element, Broken):
            yield Rejection(file=str(path), record=place, reason=str(element))
        else:
            yield from read(element, str(path), place)


def _as_ascii_superset(file: IO[bytes], start: bytes) -> tuple[Iterator[bytes], str]:
    """Chunks of the file in an encoding in which tags can be found as ASCII, and that encoding's name."""
    marked = content.bom(start)
    declared = _DECLARED.search(start)
    name = marked or (declared[1].decode() if declared else "utf-8")
    codec = codecs.lookup(name) if marked else _ascii_superset(name)
    chunks = _chunks(file, start)
    if codec.name in ("utf-8", "utf-8-sig", "ascii", "iso8859-1", "cp1252"):
        return chunks, "utf-8" if codec.name in ("utf-8-sig", "ascii") else codec.name.replace("iso8859-1", "iso-8859-1")
    decoder = codecs.getincrementaldecoder(codec.name)(errors="replace")
    return (decoder.decode(chunk).encode("utf-8", "replace") for chunk in chunks), "utf-8"


def _ascii_superset(name: str) -> codecs.CodecInfo:
    """The encoding that a declaration names; UTF-8 when it can't be that, since the declaration was read as ASCII.

    Python knows encodings that are none of text ("hex", "zip"), which are never looked at.
    """
    try:
        codec = codecs.lookup(name)
    except LookupError:
        return codecs.lookup("utf-8")
    fits = _OF_TEXT.match(codec.name) and codec.decode(b"<record>", "replace")[0] == "<record>"
    return codec if fits else codecs.lookup("utf-8")


def _chunks(file: IO[bytes], start: bytes) -> Iterator[bytes]:
    chunk = start
    while chunk:
        yield chunk
        chunk = file.read(CHUNK)


def _pieces(
    chunks: Iterator[bytes], names: tuple[str, ...], holds: Mapping[str, str],
) -> Iterator[bytes | Broken]:
    opening = _opening(names)
    # By what an element is seen to be unclosed: the next one that it can't hold.
    following = {name.encode(): _opening([one for one in names if one != holds.get(name)]) for name in names}
    longest = max(len(name) for name in names) + 2
    buffer = b""
    for chunk in chunks:
        buffer += chunk
        buffer, found = _cut(buffer, opening, following, longest)
        yield from found
        if len(buffer) > MAX_RECORD:
            yield Broken(f"is longer than {MAX_RECORD >> 20} MB")
            buffer = buffer[-longest:]
    if match := opening.search(buffer):
        yield Broken(f"<{match[1].decode()}> is not closed before the file ends; the file may be cut short")


def _opening(names: Sequence[str]) -> re.Pattern[bytes]:
    return re.compile(rf"<({'|'.join(names)})(?=[\s>/])".encode())


def _cut(
    buffer: bytes, opening: re.Pattern[bytes], following: dict[bytes, re.Pattern[bytes]], longest: int,
) -> tuple[bytes, list[bytes | Broken]]:
    """The records that stand whole in `buffer`, and what is left of it."""
    found: list[bytes | Broken] = []
    position = 0
    while match := opening.search(buffer, position):
        again = following[match[1]].search(buffer, match.end())
        end = _close(buffer, match[1], match.end(), again.start() if again else len(buffer))
        if end is not None:
            found.append(buffer[match.start():end])
            position = end
        elif again is not None:
            found.append(Broken(f"<{match[1].decode()}> is not closed before the next record begins"))
            position = again.start()
        else:
            return buffer[match.start():], found
    return buffer[max(position, len(buffer) - longest):], found


def _close(buffer: bytes, name: bytes, start: int, limit: int) -> int | None:
    """Where the element that was opened before `start` ends, if that is before `limit`."""
    tag_end = buffer.find(b">", start, limit)
    if tag_end > 0 and buffer[tag_end - 1:tag_end] == b"/" and b"<" not in buffer[start:tag_end]:
        return tag_end + 1
    place = buffer.find(b"</" + name, start, limit)
    while place >= 0:
        after = place + 2 + len(name)
        close = buffer.find(b">", after, limit)
        if close < 0:
            return None
        if not buffer[after:close].strip():
            return close + 1
        place = buffer.find(b"</" + name, after, limit)
    return None


def _parsed(piece: bytes, parser: Any, encoding: str) -> Any:
    piece = _ENTITY.sub(lambda match: _character(match, encoding), piece)
    try:
        return etree.fromstring(piece, parser)
    except etree.XMLSyntaxError as error:
        reason = str(error.msg or error)
    if "Namespace prefix" in reason:
        # Declared on the root, which is not parsed.
        try:
            return etree.fromstring(_DECLARING + piece + b"</_>", parser)[0]
        except etree.XMLSyntaxError as error:
            reason = str(error.msg or error)
    try:
        piece.decode(encoding)
        repaired = _CONTROLS.sub(b" ", piece)
    except UnicodeDecodeError:
        repaired = _CONTROLS.sub(b" ", content.decode(piece)[0].encode(encoding, "replace"))
    if repaired != piece:
        try:
            return etree.fromstring(repaired, parser)
        except etree.XMLSyntaxError:
            pass  # the first reason is the one to report
    return Broken(f"is not well-formed XML: {reason}")


def _character(match: re.Match[bytes], encoding: str) -> bytes:
    """HTML's named characters, which some files use although XML doesn't know them."""
    name = match[1]
    if name in _XML_ENTITIES or name.decode() not in name2codepoint:
        return match[0]
    return f"&#{name2codepoint[name.decode()]};".encode(encoding)
