"""Which of the collected real files are read, and whether a record is lost.

`python -m benchmarks.import_report` reads every file of `bibliographic` in the bench folder, counts the records that it
should hold independently of the readers (by tags, or by rows), and prints both counts per format. The files for which
the expected items of Zotero are at hand are compared field by field. Writes docs/benchmarks/import-report.md.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litrag.models import Record
from litrag.readers import Format, Rejection, format_of, read_items
from training.pairs import bench_dir

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "import-report.md"
TAGS = {
    "PubMed XML": rb"<(?:PubmedArticle|PubmedBookArticle)[\s>]", "EndNote XML": rb"<record[\s>]",
    "JATS XML": rb"<article[\s>]", "RIS": rb"(?m)^[ \t]{0,3}(?:\xef\xbb\xbf)?\s?TY {0,3}-",
}


@dataclass
class Tally:
    """What became of the files of one format."""

    files: int = 0
    expected: int = 0
    loaded: int = 0
    rejected: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def expected_count(path: Path, name: str) -> int:
    """Records of the file by its tags or rows, without the readers."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    if name in TAGS:
        found = len(re.findall(TAGS[name], raw))
        return found or len(re.findall(rb"<MedlineCitation[\s>]", raw))
    text = raw.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if name == "MEDLINE text":
        blocks = re.split(r"\n[ \t]*\n", text)
        return sum(max(1, len(re.findall(r"(?m)^PMID {0,2}-", block))) for block in blocks if re.search(
            r"(?m)^[A-Z][A-Z0-9]{1,4} {0,2}-", block))
    if name == "table":
        header = text.lstrip("\n").partition("\n")[0]
        delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", header).count)
        return sum(any(cells) for cells in csv.reader(io.StringIO(text.lstrip("\n"), newline=""), delimiter=delimiter)) - 1
    if re.search(r"(?m)^RT [A-Z]", text):
        return len(re.findall(r"(?m)^RT [A-Z]", text))
    if re.search(r"(?m)^\s{0,2}<\d{1,7}\s?\.?\s?>", text):
        return len(re.findall(r"(?m)^\s{0,2}<\d{1,7}\s?\.?\s?>", text))
    if re.search(r"(?m)^%", text):
        if re.search(r"(?m)^%0", text):
            return len(re.findall(r"(?m)^%0.*\n(?!%0)", text))
        return sum("%" in block for block in re.split(r"\n[ \t]*\n", text))
    return len(re.findall(r"(?m)^ER\s*$", text))


def tally(folder: Path) -> tuple[dict[str, Tally], list[tuple[str, str]]]:
    """Counts per format, and (file, reason) of the files that are refused."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    refused = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.endswith(".expected.json") or path.name == "INDEX.tsv":
            continue
        known = format_of(path)
        if not isinstance(known, Format):
            refused.append((str(path.relative_to(folder)), known))
            continue
        one = tallies[known.name]
        loaded = rejected = 0
        for item in read_items(path):
            if isinstance(item, Record):
                loaded += 1
            elif isinstance(item, Rejection):
                rejected += not item.record_kept
                one.notes["rejected: " + item.field if not item.record_kept else item.field] += 1
        expected = expected_count(path, known.name)
        one.files, one.expected = one.files + 1, one.expected + expected
        one.loaded, one.rejected = one.loaded + loaded, one.rejected + rejected
        if loaded + rejected != expected:
            one.wrong.append(f"{path.relative_to(folder)}: {expected} expected, {loaded} loaded, {rejected} rejected")
    return tallies, refused


_TITLES = ("title", "caseName", "subject", "nameOfAct")
#: Why the differences that remain are none that should be mended.
JUSTIFIED = (
    "Years: LitRAG also takes a year that stands in the publication's own date field in words, or in the source.",
    "DOI: LitRAG also takes a DOI that is the whole of a link or stands in the refer format's %R.",
    "MEDLINEnbib_07: Zotero leaves the title of a book (BTI) out.",
    "RIS_02 and RIS_04 are templates that hold field names as values; Zotero counts editors, translators and others of "
    "a book among its creators, LitRAG keeps authors only, and editors where there are no authors.",
)


# --- Zotero's reading of the same files
def _has_content(item: dict[str, Any]) -> bool:
    return any(item.get(name) for name in (*_TITLES, "abstractNote"))


def differences(folder: Path) -> tuple[int, Counter[str], list[tuple[str, str, str, str]]]:
    """Items compared, agreements per field, and (file, field, Zotero's value, ours) where they part."""
    agree: Counter[str] = Counter()
    parted = []
    items = 0
    for oracle in sorted(folder.rglob("*.expected.json")):
        source = next(p for p in oracle.parent.glob(oracle.name.removesuffix(".expected.json") + ".*") if p != oracle)
        items_of_file = json.loads(oracle.read_text(encoding="utf-8"))
        expected = [one for one in items_of_file if one.get("itemType") != "note" and _has_content(one)]
        records = [item for item in read_items(source) if isinstance(item, Record)]
        if len(records) != len(expected):
            parted.append((source.name, "number of items", str(len(expected)), str(len(records))))
        for theirs, ours in zip(expected, records, strict=False):
            items += 1
            for name, one, other in _pairs(theirs, ours):
                if name == "abstract":
                    other = _with_labels(ours, one)
                if _same(name, one, other):
                    agree[name] += 1
                else:
                    parted.append((source.name, name, str(one)[:160], str(other)[:160]))
    return items, agree, parted


def _pairs(theirs: dict[str, Any], ours: Record) -> Iterator[tuple[str, Any, Any]]:
    title = next((theirs[name] for name in _TITLES if theirs.get(name)), "")
    yield "title", title, ours.title
    yield "DOI", theirs.get("DOI", ""), ours.doi or ""
    # The placeholder dates of templates are no years.
    year = re.search(r"[12]\d{3}", str(theirs.get("date") or theirs.get("issueDate") or ""))
    yield "year", int(year[0]) if year else None, ours.year
    yield "abstract", theirs.get("abstractNote", ""), ours.text
    creators = theirs.get("creators", [])
    people = [one for one in creators if one.get("creatorType") not in ("editor", "translator", "seriesEditor", "contributor")]
    family = [one.get("lastName") or one.get("name") or "" for one in people or creators]
    yield "authors", family, list(ours.authors)


def _with_labels(record: Record, theirs: str) -> str:
    """Our abstract as Zotero writes it, with the labels of its sections in front of them."""
    labelled = "".join(f"{record.section_at(start)}: {record.text[start:end]}" for start, end in _parts(record))
    return labelled if _folded(labelled) == _folded(theirs) else record.text


def _parts(record: Record) -> list[tuple[int, int]]:
    borders = sorted({0, len(record.text), *(s.start for s in record.sections)})
    return list(itertools.pairwise(borders))


def _same(name: str, one: Any, other: Any) -> bool:
    if name == "authors":
        return len(one) == len(other) and all(_folded(b).startswith(_folded(a)) or _folded(a) in _folded(b)
                                              for a, b in zip(one, other, strict=True))
    if name == "year":
        return bool(one == other)
    return _folded(one) == _folded(other)


def _folded(text: Any) -> str:
    plain = re.sub(r"</?\w+[^>]*>", "", str(text))
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", plain)).casefold()


def main() -> None:
    folder = bench_dir() / "bench" / "bibliographic"
    tallies, refused = tally(folder)
    lines = [
        "# Import of real files", "", "Command: `python -m benchmarks.import_report`.", "",
        "Expected records are counted by tags, blocks or rows, without the readers.", "",
        "| format | files | records expected | loaded | rejected with a reason | unaccounted |", "|---|---|---|---|---|---|",
    ]
    for name, one in sorted(tallies.items()):
        lost = one.expected - one.loaded - one.rejected
        lines.append(f"| {name} | {one.files} | {one.expected} | {one.loaded} | {one.rejected} | {lost} |")
    whole = [sum(getattr(one, name) for one in tallies.values()) for name in ("files", "expected", "loaded", "rejected")]
    lines += [f"| all | {whole[0]} | {whole[1]} | {whole[2]} | {whole[3]} | {whole[1] - whole[2] - whole[3]} |", ""]
    wrong = [text for one in tallies.values() for text in one.wrong]
    if wrong:
        lines += ["Files whose counts differ:", "", *(f"- {text}" for text in wrong), ""]
    lines += [f"Refused files ({len(refused)}):", "", *(f"- `{file}` {reason}" for file, reason in refused), ""]
    items, agree, parted = differences(folder)
    lines += [f"## Compared with Zotero's items ({items} items)", "", "| field | agree |", "|---|---|"]
    lines += [f"| {name} | {agree[name]}/{items} |" for name in ("title", "DOI", "year", "authors", "abstract")]
    lines += ["", *(f"- {reason}" for reason in JUSTIFIED), "", "Where they part:", ""]
    lines += ["| file | field | Zotero | LitRAG |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in parted]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("|", "¦").replace("<", "‹"))


if __name__ == "__main__":
    main()
