"""Makes the pictures of the documentation from the real app, in a home of its own, without a key or a network.

    python docs/make_screenshots.py [ask verify review calibrate]

Needs what the browser tests need: requirements-dev.txt and Debian's chromium. Do it again when a page or the judge changes.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

PROJECT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests")]

from ui.conftest import BROWSER_FLAGS, serving  # noqa: E402

from litrag.config import SAMPLE_CORPUS  # noqa: E402
from litrag.foreign_labels import Mapped, import_foreign  # noqa: E402
from litrag.ingest import read_records  # noqa: E402
from litrag.judges import open_judge  # noqa: E402
from litrag.label_import import TableRow  # noqa: E402
from litrag.recalibration import rescore  # noqa: E402
from litrag.reviews import Store, open_store  # noqa: E402

IMAGES = PROJECT / "docs" / "images"
QUESTION = "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"
READY = "[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])"
REVIEWER = "Dr Example"

#: Bytes; a README with larger pictures is slow to open.
LARGEST = 350_000


def ask(page: Page, url: str) -> None:
    """The answer to the sample question with one excerpt open."""
    page.goto(url)
    page.wait_for_selector(READY)
    page.get_by_placeholder("For example").fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".lr-claim")
    _open_card(page, 0)


def verify(page: Page, url: str) -> None:
    """A prepared answer with planted faults, and where an altered quote departs from its source."""
    page.goto(f"{url}/verify")
    page.wait_for_selector(READY)
    page.get_by_text("Prepared answers", exact=True).click()
    page.get_by_role("button", name="Kidneys and eyes").click()
    page.wait_for_selector(".lr-claim")
    page.locator(".lr-hallucinated_quote.lr-claim").first.scroll_into_view_if_needed()
    _open_card(page, 2)


def review(page: Page, url: str) -> None:
    """A claim to be labelled, with the judge's verdict still hidden."""
    verify(page, url)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Send all to review").click()
    page.get_by_text("sent to review").wait_for()
    page.goto(f"{url}/review")
    chooser = page.get_by_role("combobox", name="Reviewer")
    chooser.click()
    chooser.fill(REVIEWER)
    page.get_by_role("option", name=REVIEWER, exact=True).click()
    page.wait_for_selector("[data-lr-item]")


def calibrate(page: Page, url: str) -> None:
    """How often the local judge errs, by the labels that `labelled` brought in."""
    page.goto(f"{url}/calibrate")
    page.get_by_role("button", name="Calibrate", exact=True).click()
    page.wait_for_selector(".lr-cb-grave .lr-cb-cell")
    page.get_by_text("that reviewers checked blind were wrong").scroll_into_view_if_needed()


def labelled(store: Store) -> None:
    """Claims about the sample records whose verdicts are known, judged by the local judge."""
    texts = {record.pmid: record.text for record in read_records(SAMPLE_CORPUS).records}
    cases = [json.loads(line) for line in (PROJECT / "data" / "judge_cases.jsonl").read_text("utf-8").splitlines()]
    columns = {"claim_text": "claim", "passage_text": "text", "human_verdict": "expected", "question": "pmid", "pmid": "pmid"}
    rows = [TableRow(line, {**{name: case[name] for name in ("claim", "expected", "pmid")}, "text": texts[case["pmid"]]})
            for line, case in enumerate(cases, start=2)]
    import_foreign(store, rows, Mapped(columns=columns, reviewer_id="cases", blind=True))
    rescore(store, open_judge("local"))


def _open_card(page: Page, place: int) -> None:
    """Open the excerpt of a claim's first citation, once the page stands still."""
    page.wait_for_timeout(1500)
    page.locator(f'.lr-claim[data-lr-place="{place}"] .lr-ref').first.click()
    page.wait_for_selector(".lr-card:popover-open")


PICTURES: dict[str, Callable[[Page, str], None]] = {"ask": ask, "verify": verify, "review": review, "calibrate": calibrate}


def save(page: Page, path: Path) -> None:
    """Write what the window shows as a compact PNG; ValueError when it is too large for a README."""
    page.wait_for_function("document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'")
    page.mouse.move(4, 400)
    page.wait_for_timeout(1500)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST:
        raise ValueError(f"{path} has {size:,} bytes; {LARGEST:,} are the most that a README should load")
    print(f"{path.relative_to(PROJECT)}: {picture.width} × {picture.height}, {size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", choices=[*PICTURES, []], help="which; all when none is named")
    parser.add_argument("--home", type=Path, help="folder to keep, so that the next time needs no new index")
    options = parser.parse_args()
    wanted = options.pictures or list(PICTURES)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = (options.home or Path(folder)).resolve()
        home.mkdir(parents=True, exist_ok=True)
        store = open_store(f"sqlite:///{home / 'litrag.db'}")
        store.add_reviewer(REVIEWER)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER_FLAGS))
        with serving(home) as url:
            for name in sorted(wanted, key=list(PICTURES).index):
                if name == "calibrate":  # last, so that no other picture shows its labels
                    labelled(store)
                page = browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light")
                page.set_default_timeout(600_000)
                PICTURES[name](page, url)
                save(page, IMAGES / f"{name}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
