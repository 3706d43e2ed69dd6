# ruff: noqa: E501 - the lines of the files are kept whole
"""One small file of every format that the readers know: what the fuzzing begins with."""

from __future__ import annotations

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
