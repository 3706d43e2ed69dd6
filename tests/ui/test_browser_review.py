"""Review in a real browser: by keyboard alone, blind until saved, two reviewers, adjudication, export."""

import csv
import re

import pytest
from fakes.answers import answer
from ui.conftest import downloaded

from litrag.labels import Kind, Role, Status
from litrag.models import Verdict
from litrag.reviews import item_id_of

pytestmark = pytest.mark.browser

S, P, C, N = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND


class Screen:
    """The Review page of one reviewer in a browser of their own; keeps every frame that the server sent."""

    def __init__(self, app, browser, item_id, reviewer):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
        self.context.set_default_timeout(120_000)
        self.page = self.context.new_page()
        self.frames, self.errors = [], []
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._keep))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{app.url}/review?item={item_id}")
        chooser = self.page.get_by_role("combobox", name="Reviewer")
        chooser.click()
        chooser.fill(reviewer)
        self.page.get_by_role("option", name=reviewer, exact=True).click()
        self.shows(item_id)

    def _keep(self, payload):
        self.frames.append(payload if isinstance(payload, bytes) else payload.encode())

    def shows(self, item_id):
        """Wait until the item is on the screen with all its buttons."""
        self.page.wait_for_selector(f'[data-lr-item="{item_id}"]')
        self.page.get_by_role("button", name="Help", exact=True).wait_for()
        self.settled()

    def settled(self):
        """Wait until the server has finished its run."""
        self.page.wait_for_function(
            "document.querySelector('[data-testid=stApp]').getAttribute('data-test-script-state') === 'notRunning'"
        )

    def press(self, key):
        self.page.keyboard.press(key)

    def label(self, key):
        """Press a label's key and wait for the judge's word."""
        self.press(key)
        self.page.wait_for_selector("[data-lr-revealed]")
        self.settled()

    def seen(self, secret):
        """Whether a text has reached the browser: in the page or in any frame."""
        return secret in self.page.content() or any(secret.encode() in frame for frame in self.frames)

    def close(self):
        assert self.errors == []
        self.context.close()


@pytest.fixture
def screen(app, browser):
    opened = []

    def open_screen(item_id, reviewer):
        opened.append(Screen(app, browser, item_id, reviewer))
        return opened[-1]

    yield open_screen
    for one in opened:
        one.close()


def queued(app, verdicts, *, run_id, **more):
    """Queue an answer for review and return its item ids."""
    app.store.save_run(answer(verdicts, run_id=run_id, **more))
    app.store.send_to_review(run_id)
    return [item_id_of(run_id, f"c{n}", 0) for n in range(1, len(verdicts) + 1)]


def until(page, condition):
    """Wait until the store says so."""
    for _ in range(300):
        if condition():
            return
        page.wait_for_timeout(100)
    pytest.fail("the store didn't change within 30 seconds")


def test_three_claims_by_keyboard_alone_blind_until_saved_then_adjudicated_and_exported(app, screen, picture):
    secret = "The comparator differs (zq7)."
    items = queued(app, [S, S, P, C], run_id="flow", rationale=secret, confidence=0.8137)
    app.store.add_reviewer("Flow A", Role.ADJUDICATOR)
    app.store.add_reviewer("Flow B")
    first = screen(items[0], "Flow A")
    for hidden in (secret, "coin", "81%", "0.8137"):
        assert not first.seen(hidden)
    picture(first.page, "blind")

    first.label("2")
    assert first.seen(secret)
    picture(first.page, "revealed")
    first.press("3")
    until(first.page, lambda: app.store.label(items[0], "Flow A").status is Status.REVISED)
    said = app.store.label(items[0], "Flow A")
    assert (said.blind_verdict, said.verdict) == (P, C)
    assert said.seconds > 0

    first.settled()
    first.frames.clear()
    first.press("n")
    first.shows(items[1])
    assert not first.seen(secret)
    first.label("1")
    first.press("k")
    until(first.page, lambda: app.store.label(items[1], "Flow A").status is Status.KEPT)

    first.settled()
    first.press("n")
    first.shows(items[2])
    first.press("s")
    first.shows(items[3])
    assert app.store.label(items[2], "Flow A").status is Status.SKIPPED
    first.press("u")
    first.shows(items[2])
    assert app.store.label(items[2], "Flow A").status is Status.UNLABELLED
    first.label("4")
    assert app.store.label(items[2], "Flow A").blind_verdict is N
    first.press("f")
    until(first.page, lambda: app.store.label(items[2], "Flow A").flagged)
    first.settled()
    first.press("?")
    first.page.get_by_text("undo your last action").wait_for()
    first.press("Escape")

    second = screen(items[0], "Flow B")
    assert not second.seen(secret)
    second.label("1")

    first.page.get_by_role("combobox", name="Queue").click()
    first.page.get_by_role("option", name="Disagreements").click()
    first.shows(items[0])
    first.page.wait_for_selector(".lr-rv-labels")
    picture(first.page, "adjudicate")
    before = app.store.labels(items[0])
    first.press("1")
    until(first.page, lambda: app.store.gold(items[0]) is S)
    assert app.store.labels(items[0]) == before

    first.settled()
    rows = exported(first.page)
    mine = {(r["claim_index"], r["reviewer_id"]): r for r in rows if r["run_id"] == "flow"}
    assert {key: (r["human_verdict_blind"], r["human_verdict"], r["label_status"]) for key, r in mine.items()} == {
        ("0", "Flow A"): ("partial", "contradicts", "revised"), ("0", "Flow B"): ("supports", "supports", "labelled"),
        ("1", "Flow A"): ("supports", "supports", "kept"),
        ("2", "Flow A"): ("not_found", "not_found", "needs_discussion"), ("3", ""): ("", "", "unlabelled"),
    }
    assert mine["0", "Flow A"]["gold_verdict"] == mine["0", "Flow B"]["gold_verdict"] == "supports"


def exported(page):
    """Open the tools and download the labels."""
    page.get_by_text("Sample, export, import").click()
    with open(downloaded(page, "Labels (CSV)"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_page_before_saving_is_the_same_whatever_the_judge_said(app, screen):
    app.store.add_reviewer("Same")
    texts = []
    for run_id, verdict, more in (
        ("same-a", S, {"rationale": "Yes.", "confidence": 0.99}), ("same-b", C, {"rationale": "No.", "confidence": 0.51}),
        ("same-c", None, {}),
    ):
        item_id = queued(app, [verdict], run_id=run_id, **more)[0]
        page = screen(item_id, "Same").page
        html = "".join(page.locator(".stMain .lr").evaluate_all("nodes => nodes.map(n => n.outerHTML)"))
        texts.append((html.replace(item_id, ""), re.sub(r"\d+ to go", "", page.inner_text(".stMain"))))
    assert texts[0] == texts[1] == texts[2]


def test_labels_given_in_quick_succession_all_arrive_under_their_items(app, screen):
    items = queued(app, [S] * 4, run_id="quick")
    app.store.add_reviewer("Quick")
    one = screen(items[0], "Quick")
    for place, key in enumerate("1234"):
        one.shows(items[place])
        one.label(key)
        if place < 3:
            one.press("n")
    one.page.goto(one.page.url.split("?")[0] + f"?item={items[0]}")
    one = screen(items[0], "Quick")
    one.page.wait_for_selector("[data-lr-revealed]")
    one.press("5")
    until(one.page, lambda: app.store.label(items[0], "Quick").verdict is Verdict.HALLUCINATED_QUOTE)
    assert [app.store.label(item, "Quick").verdict for item in items[1:]] == [P, C, N]
    assert app.store.label(items[0], "Quick").blind_verdict is S


def test_a_double_click_and_a_held_key_label_once(app, screen):
    items = queued(app, [S], run_id="double")
    app.store.add_reviewer("Double")
    one = screen(items[0], "Double")
    one.page.get_by_role("button", name=re.compile("Contradicts")).dblclick()
    one.page.wait_for_selector("[data-lr-revealed]")
    one.settled()
    assert [event.kind for event in app.store.events(items[0], "Double")] == [Kind.LABEL]


def test_of_two_claims_with_the_same_words_only_the_one_on_the_screen_changes(app, screen):
    items = queued(app, [S, S, S], run_id="twins", claim="Pain fell.")
    app.store.add_reviewer("Twin")
    one = screen(items[1], "Twin")
    one.label("3")
    assert [app.store.label(item, "Twin").verdict for item in items] == [None, C, None]


def test_assisted_mode_shows_the_judge_first_and_the_label_is_not_blind(app, screen):
    items = queued(app, [S], run_id="assisted", rationale="Assisted reason (zq8).")
    app.store.add_reviewer("Assisted")
    one = screen(items[0], "Assisted")
    one.page.get_by_text("Assisted: show the judge first").click()
    one.page.get_by_text("this label will not count as blind").wait_for()
    assert one.seen("Assisted reason (zq8).")
    one.settled()
    one.press("1")
    until(one.page, lambda: app.store.label(items[0], "Assisted").verdict is S)
    assert app.store.label(items[0], "Assisted").blind_verdict is None


def test_keys_do_not_label_while_a_comment_is_typed_and_the_comment_is_kept(app, screen):
    items = queued(app, [S], run_id="comment")
    app.store.add_reviewer("Comment")
    one = screen(items[0], "Comment")
    one.page.get_by_label("Comment").fill("")
    one.page.get_by_label("Comment").press_sequentially("see table 2? 1 of 3")
    assert app.store.events(items[0], "Comment") == []
    one.page.get_by_role("radio", name="High").click()
    one.settled()
    one.label("2")
    said = app.store.label(items[0], "Comment")
    assert (said.comment, said.confidence, said.verdict) == ("see table 2? 1 of 3", "high", P)
    one.page.get_by_role("radio", name="Overreach").click()
    until(one.page, lambda: app.store.label(items[0], "Comment").reason_code == "overreach")


def test_every_character_of_a_claim_is_shown_as_typed(app, screen):
    claim = "Cost was $120 in A and $95 in B; (~5 kg) and (~3 kg); SNP*2 *rose* in C_max. <b>x</b> <script>alert(1)</script>"
    items = queued(app, [S], run_id="hostile-review", claim=claim)
    app.store.add_reviewer("*_Hostile_* <b>")
    one = screen(items[0], "*_Hostile_* <b>")
    assert one.page.inner_text(".lr-rv-claim") == claim
    assert one.page.locator(".lr-rv b, .lr-rv script").count() == 0


def test_an_unknown_item_is_named_and_the_queue_goes_on(app, screen, visit):
    items = queued(app, [S], run_id="unknown")
    app.store.add_reviewer("Unknown")
    one = screen(items[0], "Unknown")
    one.page.goto(f"{app.url}/review?item=it-nope")
    chooser = one.page.get_by_role("combobox", name="Reviewer")
    chooser.click()
    chooser.fill("Unknown")
    one.page.get_by_role("option", name="Unknown", exact=True).click()
    one.page.get_by_text("There is no item 'it-nope'").wait_for()
    one.page.wait_for_selector("[data-lr-item]")
