"""The Corpus page in a real browser: files are dropped, reported, browsed, deleted, and a merge is undone."""

import json
import re

import pytest
from ui.conftest import downloaded, settled, visiting

pytestmark = pytest.mark.browser

MILK = "Milk before sleep in night nurses"
ENTRY = "TY  - JOUR\nTI  - {title}\nAU  - Lind, B\nPY  - 2019\nAB  - {text}\n{more}ER  - \n"
RIS = "".join([
    ENTRY.format(title=MILK, text="Warm milk lengthened sleep by 26 minutes in night nurses.", more=""),
    ENTRY.format(title=MILK, text="Warm milk lengthened sleep by 26 minutes.", more="DO  - 10.1000/milk\n"),
    ENTRY.format(title="Coffee, of which nothing is told", text="", more=""), "TY  - JOUR\nER  - \n",
])
XML = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000101</PMID><Article><Journal><Title>Journal of Tea</Title>"
    "<JournalIssue><PubDate><Year>2018</Year></PubDate></JournalIssue></Journal><ArticleTitle>Tea for day nurses: a randomised "
    "trial</ArticleTitle><Abstract><AbstractText>Tea shortened sleep by 12 minutes.</AbstractText></Abstract>"
    "<PublicationTypeList><PublicationType>Retracted Publication</PublicationType></PublicationTypeList></Article>"
    '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>99000999</PMID></CommentsCorrections>'
    "</CommentsCorrectionsList></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
FILES = {"nurses.ris": RIS, "tea.xml": XML, "page.csv": "<!doctype html><html><body>Sign in</body></html>"}

WATCH = """() => {
  window.seenProgress = [];
  new MutationObserver(() => {
    const bar = document.querySelector("[data-testid=stProgress]");
    if (bar) window.seenProgress.push(bar.innerText);
  }).observe(document.body, {subtree: true, childList: true, characterData: true});
}"""


def drop(page, folder):
    """Drag the files over the page and let them fall, as a hand does it: the browser sends its own events."""
    paths = []
    for name, content in FILES.items():
        paths.append(str(folder / name))
        (folder / name).write_text(content, encoding="utf-8")
    box = page.get_by_test_id("stFileUploaderDropzone").bounding_box()
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {
            "type": kind, "x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2,
            "data": {"items": [], "files": paths, "dragOperationsMask": 1},
        })


def cells(page, key):
    """The texts of a table, which is painted on a canvas and told to screen readers as a grid."""
    table = page.locator(f".st-key-{key}")
    table.locator("canvas[data-testid=data-grid-canvas]").wait_for()
    table.scroll_into_view_if_needed()
    table.locator("[role=gridcell]").first.wait_for(state="attached")
    return table.locator("[role=gridcell]").all_text_contents()


def pick(page, key, row):
    """Tick a row of a table."""
    grid = page.locator(f".st-key-{key} .dvn-scroller")  # lies over the canvas and takes the clicks
    grid.scroll_into_view_if_needed()
    grid.click(position={"x": 16, "y": 35 + 35 * row + 17})
    settled(page)


def drop_and_import(page, tmp_path):
    page.evaluate(WATCH)
    page.get_by_role("textbox", name="Import into corpus").fill("Night shift")
    drop(page, tmp_path)
    for name in FILES:
        page.get_by_test_id("stFileUploader").get_by_text(name, exact=True).wait_for()
    settled(page)
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Last import: 4 records read").wait_for()
    settled(page)


def test_dropped_files_are_imported_reported_browsed_deleted_and_unmerged(stocked, browser, picture, tmp_path):
    with visiting(stocked, browser) as visit:
        used(visit("/corpus"), picture, tmp_path)


def used(page, picture, tmp_path):
    drop_and_import(page, tmp_path)
    assert any(text.strip() for text in page.evaluate("window.seenProgress")), "the import shows how far it is"
    summary = page.get_by_text("Last import:")
    assert re.search(r"4 records read, 3 new, 1 merged as duplicates, 1 without an abstract, 2 rejected", summary.inner_text())
    page.get_by_test_id("stMetricValue").nth(3).wait_for()
    metrics = dict(zip(page.get_by_test_id("stMetricLabel").all_inner_texts(),
                       page.get_by_test_id("stMetricValue").all_inner_texts(), strict=True))
    assert metrics == {"Records": "3", "Passages": "2", "Without an abstract": "1", "Retracted or withdrawn": "1"}

    summary.click()
    refused = page.get_by_test_id("stTable").first
    refused.get_by_text("page.csv").wait_for()
    lost = refused.locator("td").all_inner_texts()
    for told in ("page.csv", "is a web page; export the records from the database instead", "nurses.ris",
                 "neither a title nor an abstract; a record needs one of them", "title"):
        assert told in lost
    report = json.loads(downloaded(page, "Whole report (JSON)").read_text("utf-8"))
    assert (report["loaded"], len(report["merges"]), report["without_abstract"]) == (3, 1, 1)
    rejected = {(one["field"], one["record_kept"]) for one in report["rejected"]}
    assert rejected == {("file", False), ("title", False), ("text", True)}
    picture(page, "report")
    summary.click()

    settled(page)
    chooser = page.get_by_role("combobox", name="Status")
    chooser.click()
    chooser.fill("Retracted")
    page.get_by_role("option", name="Retracted").click()
    page.get_by_text("1 of 3 records").wait_for()
    assert {"Retracted", "99000101"} <= set(cells(page, "records-table"))
    pick(page, "records-table", 0)
    page.get_by_text("Retracted (notice: PMID 99000999).").wait_for()
    picture(page, "record")
    page.get_by_role("button", name="Delete 1 record").click()
    page.get_by_text("1 record deleted").wait_for()
    page.get_by_text("of 2 records").wait_for()
    settled(page)
    assert page.get_by_role("button", name="Delete picked records").is_disabled(), "no other record is picked in its place"

    assert any(MILK in text for text in cells(page, "merges-table"))
    pick(page, "merges-table", 0)
    page.get_by_role("button", name="Undo this merge").click()
    page.get_by_text("stands by itself again").wait_for()
    page.get_by_text("of 3 records").wait_for()
    page.get_by_label("Search titles, abstracts, authors and ids").fill("coffee nothing")
    page.keyboard.press("Enter")
    page.get_by_text("1 of 3 records").wait_for()
