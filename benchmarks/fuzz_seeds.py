# ruff: noqa: E501 - the lines of the files are kept whole
"""One small file of every format that the readers know: what the fuzzing begins with."""

from __future__ import annotations

from dataclasses import dataclass

PUBMED = b"""<?xml version="1.0" encoding="utf-8"?>
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">7001</PMID><DateRevised><Year>2024</Year><Month>1</Month>
<Day>2</Day></DateRevised><Article><Journal><JournalIssue><PubDate><MedlineDate>1998 Nov-Dec</MedlineDate></PubDate></JournalIssue>
</Journal><ArticleTitle>Milk <i>at</i> night.</ArticleTitle><Abstract><AbstractText Label="RESULTS">2 \xc3\x97 10<sup>6</sup>
<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac></mml:math>
&lt; 5</AbstractText></Abstract><AuthorList><Author><LastName>Lind</LastName><Initials>B</Initials></Author></AuthorList>
<PublicationTypeList><PublicationType>Retracted Publication</PublicationType></PublicationTypeList></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>9</PMID></CommentsCorrections></CommentsCorrectionsList>
</MedlineCitation><PubmedData><ArticleIdList><ArticleId IdType="doi">10.1000/x</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle><DeleteCitation><PMID>12</PMID></DeleteCitation></PubmedArticleSet>"""

SEEDS: dict[str, bytes] = {
    "PubMed XML": PUBMED,
    "book": b"<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>9</PMID><Book><BookTitle>B</BookTitle></Book><Abstract>"
            b"<AbstractText>Text.</AbstractText></Abstract></BookDocument></PubmedBookArticle></PubmedArticleSet>",
    "JATS XML": b"<article xmlns:xlink='http://www.w3.org/1999/xlink'><front><article-meta><article-id pub-id-type='pmid'>74</article-id>"
                b"<title-group><article-title>Milk</article-title></title-group><abstract><sec><title>R</title><p>It rose.</p></sec>"
                b"</abstract></article-meta></front><body><sec><title>M</title><p>We <sup>1</sup> gave.</p></sec></body></article>",
    "EndNote XML": b"<xml><records><record><titles><title><style face='superscript'>6</style></title></titles><abstract><style>A."
                   b"</style></abstract><dates><year>2001</year></dates></record></records></xml>",
    "BioC XML": b"<collection><source>P</source><document><id>76</id><passage><infon key='type'>title</infon><text>Milk</text>"
                b"</passage><passage><infon key='type'>abstract</infon><text>It helps.</text></passage></document></collection>",
    "BioC JSON": b'{"documents": [{"id": "76", "passages": [{"infons": {"type": "title"}, "text": "Milk"}, '
                 b'{"infons": {"type": "abstract"}, "text": "It helps."}]}]}',
    "JSON Lines": b'{"pmid": "81", "title": "A", "abstract": "One."}\n{"id": "x", "title": "B", "sections": [{"label": "R", "text": "T."}]}\n',
    "Markdown": b"---\npmid: '31'\ntitle: Milk\nauthors: [Lind B]\n---\n## Results\nIt rose.\n",
    "RIS": b"\xef\xbb\xbfTY  - JOUR\nTI  - Milk\nAU  - Lind, Bo\nAB  - It rose.\n  More.\nDO  - 10.1000/x\nN1  - PMID: 12\nER  - \n\nnoise\n",
    "MEDLINE": b"PMID- 73\nTI  - Milk at\n      night.\nAB  - METHODS: We. RESULTS: They.\nAU  - Lind B\nRIN - J. PMID: 9\nPT  - Review\n\n",
    "table": b"Title,Abstract,Authors,Year\n\"Milk, warm\",It rose.,\"Lind, B; Okafor, A\",2001\n",
    "Ovid": b"<1. >\nVN  - Ovid Technologies\nAU  - Lind, Bo [Author]\nTI  - Milk. [Article]\nSO  - J Milk. 3(4):5-6, 2001.\nAB  - It rose.\n",
    "Ovid, long": b"<8>\nAuthor\n  Lind, B;  Okafor, A\nTitle\n  Milk\nSource\n  J Milk. 3(4):5-6, 2001.\nAbstract\n  It rose.\n",
    "Web of Science": b"FN ISI Export Format\nVR 1.0\nPT J\nAU Lind, B\n   Okafor, A\nTI Milk\nAB It rose.\nUT MEDLINE:12\nER\n\nEF\n",
    "RefWorks": b"RT Journal Article\nA1 Lind,Bo\nT1 Milk\nAB It rose.\nYR 2002\n",
    "refer": b"%0 Journal Article\n%A Lind, Bo\n%T Milk\n%X It rose.\n%D 2001\n",
}

@dataclass(frozen=True)
class Frame:
    """Two whole records of a format between which a broken one is put, and what stands around them in the file.

    In a format that marks nothing but where a record begins, a record without this mark is a part of the one before it;
    there the mark (`lead`) stands before the broken record.
    """

    start: bytes
    before: bytes
    after: bytes
    end: bytes
    lead: bytes = b""

    def around(self, broken: bytes) -> bytes:
        return self.start + self.before + self.lead + broken + b"\n" + self.after + self.end

    def empty(self) -> bytes:
        return self.start + self.before + self.after + self.end


def _pubmed(pmid: bytes, title: bytes) -> bytes:
    return (b"<PubmedArticle><MedlineCitation><PMID>" + pmid + b"</PMID><Article><ArticleTitle>" + title + b"</ArticleTitle><Abstract>"
            b"<AbstractText>Sleep rose by 4 % in " + title + b".</AbstractText></Abstract></Article></MedlineCitation><PubmedData>"
            b"<ArticleIdList><ArticleId IdType='doi'>10.1000/" + pmid + b"</ArticleId></ArticleIdList></PubmedData></PubmedArticle>\n")


def _jats(pmid: bytes, title: bytes) -> bytes:
    return (b"<article><front><article-meta><article-id pub-id-type='pmid'>" + pmid + b"</article-id><title-group><article-title>"
            + title + b"</article-title></title-group><abstract><p>Sleep rose by 4 %.</p></abstract></article-meta></front></article>\n")


def _endnote(title: bytes) -> bytes:
    return (b"<record><titles><title>" + title + b"</title></titles><abstract>Sleep rose by 4 %.</abstract><dates><year>2001</year>"
            b"</dates></record>\n")


def _bioc(pmid: bytes, title: bytes) -> bytes:
    return (b"<document><id>" + pmid + b"</id><passage><infon key='type'>title</infon><text>" + title + b"</text></passage><passage>"
            b"<infon key='type'>abstract</infon><text>Sleep rose by 4 %.</text></passage></document>\n")


#: Around the seeds of the same name. Markdown and BioC JSON hold one document each.
FRAMES = {
    "PubMed XML": Frame(b"<?xml version='1.0' encoding='utf-8'?>\n<PubmedArticleSet>\n", _pubmed(b"8001", b"wards"),
                        _pubmed(b"8002", b"caf\xc3\xa9s"), b"</PubmedArticleSet>\n"),
    "JATS XML": Frame(b"<pmc-articleset>\n", _jats(b"8001", b"Wards"), _jats(b"8002", b"Caf\xc3\xa9s"), b"</pmc-articleset>\n"),
    "EndNote XML": Frame(b"<xml><records>\n", _endnote(b"Wards"), _endnote(b"Caf\xc3\xa9s"), b"</records></xml>\n"),
    "BioC XML": Frame(b"<collection><source>P</source>\n", _bioc(b"8001", b"Wards"), _bioc(b"8002", b"Caf\xc3\xa9s"), b"</collection>\n"),
    "JSON Lines": Frame(b"", b'{"id": "w", "title": "Wards", "abstract": "Sleep rose by 4 %."}\n',
                        b'{"id": "c", "title": "Caf\xc3\xa9s", "abstract": "Sleep rose by 5 %."}\n', b""),
    "RIS": Frame(b"", b"TY  - JOUR\nTI  - Wards\nAB  - Sleep rose by 4 %.\nER  - \n\n",
                 b"TY  - JOUR\nTI  - Caf\xc3\xa9s\nAB  - Sleep rose by 5 %.\nER  - \n\n", b""),
    "MEDLINE": Frame(b"", b"PMID- 8001\nTI  - Wards.\nAB  - Sleep rose by 4 %.\nAU  - Lind B\n\n",
                     b"PMID- 8002\nTI  - Caf\xc3\xa9s.\nAB  - Sleep rose by 5 %.\nAU  - Lind B\n\n", b"", b"PMID- 8003\n"),
    "table": Frame(b"Title,Abstract,Authors,Year\n", b"Wards,Sleep rose by 4 %.,\"Lind, B\",2001\n",
                   b"Caf\xc3\xa9s,Sleep rose by 5 %.,\"Lind, B\",2001\n", b""),
    "Ovid": Frame(b"", b"<1. >\nVN  - Ovid Technologies\nTI  - Wards.\nSO  - J Milk. 3(4):5-6, 2001.\nAB  - Sleep rose by 4 %.\n\n",
                  b"<3. >\nVN  - Ovid Technologies\nTI  - Caf\xc3\xa9s.\nSO  - J Milk. 3(4):7-8, 2001.\nAB  - Sleep rose by 5 %.\n", b"", b"<2. >\n"),
    "Web of Science": Frame(b"FN ISI Export Format\nVR 1.0\n", b"PT J\nTI Wards\nAB Sleep rose by 4 %.\nER\n\n",
                            b"PT J\nTI Caf\xc3\xa9s\nAB Sleep rose by 5 %.\nER\n\n", b"EF\n"),
    "RefWorks": Frame(b"", b"RT Journal Article\nT1 Wards\nAB Sleep rose by 4 %.\n\n",
                      b"RT Journal Article\nT1 Caf\xc3\xa9s\nAB Sleep rose by 5 %.\n\n", b"", b"RT Generic\n"),
    "refer": Frame(b"", b"%0 Journal Article\n%T Wards\n%X Sleep rose by 4 %.\n\n",
                   b"%0 Journal Article\n%T Caf\xc3\xa9s\n%X Sleep rose by 5 %.\n\n", b"", b"%0 Generic\n"),
}
