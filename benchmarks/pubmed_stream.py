# ruff: noqa: E501 - the pieces of XML are kept on their lines
"""Speed and memory of reading a large PubMed file, beside pubmed-parser on the same file in the same run.

`python -m benchmarks.pubmed_stream [--records 30000] [--peer-python PATH]` writes a synthetic file in the layout of
PubMed's yearly baseline, with structured and unstructured abstracts, inline markup, formulas, books, notices, other
languages, collective authors, records without an abstract and deletions, and reads it with both. Each reader has a
process of its own; memory is the peak above that process before it reads. `--peer-python` names a Python that has
pubmed-parser, which LitRAG doesn't need. Writes docs/benchmarks/pubmed-stream.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "pubmed-stream.md"
WORDS = (
    "patients treatment trial group dose response risk effect study outcome placebo randomised baseline weeks pain sleep "
    "glucose weight kidney cardiac infection survival relapse adverse events mortality quality score cohort children adults"
).split()

OURS = """
import json, resource, sys, time
from pathlib import Path
from litrag.models import Record
from litrag.readers import read_items
idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, cpu = time.perf_counter(), time.process_time()
counts = {"Record": 0, "Rejection": 0, "Deletion": 0}
for item in read_items(Path(sys.argv[1])):
    counts[type(item).__name__] += 1
print(json.dumps({"records": counts["Record"], "deleted": counts["Deletion"], "seconds": time.perf_counter() - start,
    "cpu": time.process_time() - cpu, "mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - idle) / 1024}))
"""
PEER = """
import json, resource, sys, time
import pubmed_parser
idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start, cpu = time.perf_counter(), time.process_time()
found = list(pubmed_parser.parse_medline_xml(sys.argv[1]))
deleted = sum(bool(one.get("delete")) for one in found)
print(json.dumps({"records": len(found) - deleted, "deleted": deleted, "seconds": time.perf_counter() - start,
    "cpu": time.process_time() - cpu, "mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - idle) / 1024}))
"""


def write_file(path: Path, records: int) -> None:
    """A packed baseline file of `records` articles, always the same for the same number."""
    rng = random.Random(7)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write('<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "pubmed.dtd">\n<PubmedArticleSet>\n')
        for number in range(records):
            file.write(_article(number + 1_000_000, rng))
        file.write("<DeleteCitation>" + "".join(f"<PMID>{n}</PMID>" for n in range(900_001, 900_006)) + "</DeleteCitation>\n")
        file.write("</PubmedArticleSet>\n")


def _article(pmid: int, rng: random.Random) -> str:
    kind = pmid % 20
    types = "Retracted Publication" if kind == 3 else "Journal Article"
    link = '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J. 2020</RefSource><PMID>1</PMID>' \
        "</CommentsCorrections></CommentsCorrectionsList>" if kind == 3 else ""
    other = '<OtherAbstract Type="Publisher" Language="spa"><AbstractText>Resumen.</AbstractText></OtherAbstract>' if kind == 7 else ""
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="1">{pmid}</PMID><DateRevised><Year>2024'
        f"</Year><Month>03</Month><Day>{pmid % 28 + 1:02d}</Day></DateRevised><Article PubModel=\"Print\"><Journal><ISSN>0000-0000"
        f"</ISSN><JournalIssue><Volume>{pmid % 90}</Volume><Issue>{pmid % 12}</Issue><PubDate>{_date(kind, rng)}</PubDate>"
        "</JournalIssue><Title>Journal of Milk</Title><ISOAbbreviation>J Milk</ISOAbbreviation></Journal><ArticleTitle>"
        f"{_title(kind, pmid, rng)}</ArticleTitle><Pagination><MedlinePgn>{pmid % 900}-{pmid % 900 + 9}</MedlinePgn></Pagination>"
        f"{_abstract(kind, rng)}<AuthorList>{_authors(kind, rng)}</AuthorList><Language>eng</Language><PublicationTypeList>"
        f'<PublicationType UI="D016428">{types}</PublicationType></PublicationTypeList></Article>{link}<MeshHeadingList>'
        + "".join(f'<MeshHeading><DescriptorName UI="D{n}">{rng.choice(WORDS).title()}</DescriptorName><QualifierName UI="Q1">'
                  "drug therapy</QualifierName></MeshHeading>" for n in range(8))
        + f'</MeshHeadingList>{other}</MedlineCitation><PubmedData><ReferenceList>'
        + "".join(f"<Reference><Citation>{_words(rng, 9)}</Citation><ArticleIdList><ArticleId IdType=\"pubmed\">{n}</ArticleId>"
                  "</ArticleIdList></Reference>" for n in range(12))
        + f'</ReferenceList><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId><ArticleId IdType="doi">10.5555/{pmid}'
        "</ArticleId></ArticleIdList></PubmedData></PubmedArticle>\n"
    )


def _title(kind: int, pmid: int, rng: random.Random) -> str:
    if kind == 9:
        return "[Not Available]."
    return f"Effect of <i>L.</i> milk number {pmid} on {_words(rng, 8)}."


def _date(kind: int, rng: random.Random) -> str:
    year = rng.randint(1970, 2024)
    return f"<MedlineDate>{year} Nov-Dec</MedlineDate>" if kind == 5 else f"<Year>{year}</Year><Month>May</Month>"


def _abstract(kind: int, rng: random.Random) -> str:
    if kind in (2, 12):
        return ""
    marked = "2 × 10<sup>6</sup>/kg, CO<sub>2</sub>, <i>p</i> &lt; 0.05 and <b>no</b> harm. "
    if kind % 2:
        parts = "".join(f'<AbstractText Label="{label}" NlmCategory="{label}">{marked}{_words(rng, 45)}.</AbstractText>'
                        for label in ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"))
        return f"<Abstract>{parts}</Abstract>"
    return f"<Abstract><AbstractText>{marked}{_words(rng, 180)}.</AbstractText><CopyrightInformation>© X</CopyrightInformation></Abstract>"


def _authors(kind: int, rng: random.Random) -> str:
    people = "".join(f"<Author ValidYN=\"Y\"><LastName>{rng.choice(WORDS).title()}</LastName><ForeName>Ann B</ForeName><Initials>AB"
                     "</Initials><AffiliationInfo><Affiliation>Milk University.</Affiliation></AffiliationInfo></Author>"
                     for _ in range(1 + kind % 9))
    return people + ("<Author><CollectiveName>Milk Group</CollectiveName></Author>" if kind == 11 else "")


def _words(rng: random.Random, number: int) -> str:
    return " ".join(rng.choices(WORDS, k=number))


def run(python: str, program: str, path: Path) -> dict[str, float]:
    done = subprocess.run([python, "-c", program, str(path)], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer-python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pubmed.xml.gz"
        write_file(path, options.records)
        size = path.stat().st_size / 1e6
        # Alternately, so that other work on the machine weighs on both.
        rounds = [(run(sys.executable, OURS, path), run(options.peer_python, PEER, path)) for _ in range(options.rounds)]
    ours, peer = (min((one[n] for one in rounds), key=lambda r: r["cpu"]) for n in (0, 1))
    lines = [
        "# Reading a large PubMed file", "", "Command: `python -m benchmarks.pubmed_stream`.", "",
        f"A synthetic baseline file of {options.records:,} records ({size:.0f} MB packed); best of {options.rounds} alternating "
        "rounds. Memory is the peak above the process before it reads.", "",
        "| reader | records | deletions | CPU seconds | CPU, ratio to the peer | peak memory, MB |", "|---|---|---|---|---|---|",
    ]
    for name, one in (("LitRAG (stream)", ours), ("pubmed-parser 0.5.1", peer)):
        lines.append(f"| {name} | {one['records']:.0f} | {one['deleted']:.0f} | {one['cpu']:.1f} | {one['cpu'] / peer['cpu']:.2f} | "
                     f"{one['mb']:.0f} |")
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
