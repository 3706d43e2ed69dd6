"""The parts of the Corpus page: imports at work and their reports, the records with their statuses, merges, deleting.

An import runs in the background like an answer does, so that leaving the page doesn't break it off.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from litrag import library, pubcrawl, pubmed, status, storage
from litrag.contents import Progress
from litrag.dedup import Merge
from litrag.errors import LitRAGError
from litrag.models import Record
from litrag.readers import Rejection
from litrag.ui.runs import POLL, new_id
from litrag.ui.shell import label as plain
from litrag.ui.shell import workbench
from litrag.ui.workbench import INDEX_STAGES, Job

TYPES = ["xml", "gz", "nbib", "ris", "txt", "nxml", "csv", "tsv", "json", "jsonl", "md", "enw", "ciw", "ovid"]
#: Rows of records that a table shows; the search narrows them.
SHOWN = 500
#: Rejections that are shown as a table whose text wraps.
WRAPPED = 30

log = logging.getLogger(__name__)


# --- loading
def load_view() -> None:
    """Where files are dropped and PubMed is searched, and the import that is at work."""
    running = _import_job()
    with st.container(border=True):
        # Only buttons are disabled while an import runs: what was just typed into a disabled widget would be discarded.
        st.text_input(
            "Import into corpus", key="import-name", value="my library", max_chars=80, width=320,
            help="A new name makes a new corpus; a known one is added to.",
        )
        files, search = st.tabs(["Files", "PubMed"], key="import-from")
        with files:
            _files(disabled=bool(running))
        with search:
            _search(disabled=bool(running))
        if running:
            _follow()
    _explain()


def _files(*, disabled: bool) -> None:
    chosen = st.file_uploader(
        "PubMed XML or .nbib, RIS, EndNote XML, JATS, BioC, CSV, TSV, JSONL and tagged exports; also packed with gzip",
        type=TYPES, accept_multiple_files=True, key="import-files",
    )
    st.button("Import", icon=":material/upload_file:", type="primary", disabled=disabled or not chosen, on_click=_start_files)


def _search(*, disabled: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        query = st.text_input("Query, in PubMed's syntax", key="pubmed-query")
        st.number_input("Records at most", 1, pubmed.MOST, 200, key="pubmed-most", width=180)
    if pubcrawl.at_hand():
        st.toggle(
            "Search by PubCrawl", key="pubmed-by-pubcrawl",
            help=f"Its MCP server gives {pubcrawl.MOST} records at most and tells no retractions; refresh the corpus "
                 "afterwards.",
        )
    with st.container(horizontal=True):
        st.button("Search and import", icon=":material/cloud_download:", type="primary", on_click=_start_search,
                  disabled=disabled or not query.strip())
        st.button("Refresh this corpus", icon=":material/sync:", on_click=_start_refresh, disabled=disabled,
                  help="Fetches the corpus's records anew: new versions, errata, concerns and retractions.")


def _start_files() -> None:
    run_id = new_id()
    folder = workbench().settings.home / "uploads" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, file in enumerate(st.session_state["import-files"]):
        path = folder / str(number) / re.sub(r"[^\w.-]", "_", file.name)[-100:]
        path.parent.mkdir()
        path.write_bytes(file.getvalue())
        paths.append(path)
    name = st.session_state["import-name"].strip()
    _start(run_id, name, lambda progress: library.add(name, paths, progress=progress))


def _start_search() -> None:
    name, query, most = (st.session_state[key] for key in ("import-name", "pubmed-query", "pubmed-most"))
    if st.session_state.get("pubmed-by-pubcrawl"):
        most = min(int(most), pubcrawl.MOST)
        _start(new_id(), name.strip(), lambda progress: pubcrawl.import_query(query, name.strip(), most, progress=progress)[1])
    else:
        _start(new_id(), name.strip(), lambda progress: pubmed.import_query(query, name.strip(), int(most), progress=progress)[1])


def _start_refresh() -> None:
    name = st.session_state["import-name"].strip()
    _start(new_id(), name, lambda progress: pubmed.refresh(name, progress=progress).report)


def _start(run_id: str, name: str, work: Callable[[Progress], library.ImportReport]) -> None:
    """Run an import in the background; its report is kept where `report_view` finds it."""
    def run(job: Job) -> None:
        def tell(share: float, message: str) -> None:
            job.report("indexing", round(100 * share), 100)
            job.message = message

        library.keep_report(work(tell), run_id)

    workbench().start(f"import:{run_id}", INDEX_STAGES, run)
    st.session_state["import-run"] = f"import:{run_id}"
    st.session_state["corpus-awaited"] = name


def _import_job() -> Job | None:
    job = workbench().job(st.session_state.get("import-run", ""))
    return job if job is not None and job.running else None


@st.fragment(run_every=POLL)
def _follow() -> None:
    job = _import_job()
    if job is None:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(job.done, 100), text=plain(job.message or "Waiting for its turn"))
        if st.button("Stop", icon=":material/stop_circle:", key="import-stop"):
            job.stop()
            st.rerun()


def _explain() -> None:
    """How the last import of this session ended, if it gave no report."""
    job = workbench().job(st.session_state.get("import-run", ""))
    if job is None or job.running:
        return
    if job.stopped:
        st.info("The import was stopped; the corpus is as it was.")
    elif isinstance(job.error, LitRAGError):
        st.error(plain(str(job.error)))
    elif job.error is not None:
        log.error("import %s failed", job.run_id, exc_info=job.error)
        st.error(f"The import failed ({type(job.error).__name__}). The server's log says why; the corpus is as it was.")


# --- what there is
def choose() -> str | None:
    """The corpus that the page shows; None when there is none of the user's own."""
    names = [name for name in library.names() if _is_own(name)]
    if not names:
        return None
    if st.session_state.get("corpus-awaited") in names:
        st.session_state["corpus-shown"] = st.session_state.pop("corpus-awaited")
    if st.session_state.get("corpus-shown") not in names:
        st.session_state["corpus-shown"] = names[0]
    return st.selectbox("Show corpus", names, key="corpus-shown", width=320)


def _is_own(name: str) -> bool:
    try:
        library.changeable(name)
    except LitRAGError:
        return False
    return True


def state_view(name: str) -> None:
    """Health of the index, in one line of figures."""
    manifest = storage.read_manifest(library.folder_of(name))
    records = _records(name, manifest.build)
    bare = sum(not record.text for record in records)
    flagged = sum(record.retracted for record in records)
    with st.container(horizontal=True):
        st.metric("Records", f"{len(records):,}")
        st.metric("Passages", f"{manifest.passages:,}")
        st.metric("Without an abstract", f"{bare:,}", help="Kept for browsing; nothing of them is ever used as evidence.")
        st.metric("Retracted or withdrawn", f"{flagged:,}", help="Shown wherever they are cited; not used to answer.")
    st.caption(plain(
        f"The index is complete and unchanged since it was built (model {manifest.model_id}, build {manifest.build[:8]})."))


@st.cache_data(max_entries=4, show_spinner=False)
def _dumped(name: str, build: str) -> list[str]:
    return [record.model_dump_json() for record in library.records_of(name)]


def _records(name: str, build: str) -> list[Record]:
    return [Record.model_validate_json(line) for line in _dumped(name, build)]


def report_view(name: str) -> None:
    """The last import: what was loaded, and everything that was not, with the reason."""
    reports = library.reports_of(name)
    if not reports:
        return
    with st.expander(f"Last import: {plain(reports[0].in_words())}", icon=":material/receipt_long:", key="report-last"):
        report = reports[0]
        st.dataframe([file.model_dump() for file in report.files], hide_index=True, key="report-files")
        _rejections("Not loaded", report.lost)
        _rejections("Loaded, but something was left out", [one for one in report.rejected if one.record_kept])
        st.download_button("Whole report (JSON)", partial(report.model_dump_json, indent=2), f"import-{run_name(name)}.json",
                           on_click="ignore", icon=":material/download:", key="report-download")


def _rejections(title: str, rejected: Sequence[Rejection]) -> None:
    """A few as a table whose text wraps, so that it is read on a phone too; many as one that scrolls."""
    if not rejected:
        return
    st.markdown(f"**{title}**")
    rows = [{"file": Path(one.file).name, "record": one.record, "field": one.field, "reason": one.reason} for one in rejected]
    if len(rows) <= WRAPPED:
        st.table([{plain(name): plain(value) for name, value in row.items()} for row in rows], hide_index=True)
    else:
        st.dataframe(rows[:SHOWN], hide_index=True)
        if len(rows) > SHOWN:
            st.caption(f"The first {SHOWN} of {len(rows):,}; the report holds them all.")


def run_name(name: str) -> str:
    """A corpus name for a file name."""
    return re.sub(r"\W+", "-", name).strip("-") or "corpus"


def records_view(name: str) -> None:
    """Browse and search the records, by status too; picked ones can be deleted."""
    st.subheader("Records", anchor=False)
    records = _records(name, storage.read_manifest(library.folder_of(name)).build)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input("Search titles, abstracts, authors and ids", key="records-words", width=420)
        kinds = sorted({notice.kind for record in records for notice in record.notices}, key=list(status.KINDS).index)
        wanted = st.selectbox("Status", ["", "no abstract", *kinds], key="records-status", width=240,
                              format_func=lambda kind: status.KINDS.get(kind, kind) or "any")
    found = [record for record in records if _matches(record, words) and _has_status(record, wanted)]
    st.caption(f"{len(found):,} of {len(records):,} records" + (f"; the first {SHOWN} are shown" if len(found) > SHOWN else ""))
    with st.container(key="records-table"):
        picked = st.dataframe(
            [_shown(record) for record in found[:SHOWN]], hide_index=True, on_select="rerun", selection_mode="multi-row",
            key=_table_key(record.record_id for record in found[:SHOWN]),
            column_config={"abstract": st.column_config.TextColumn(width="large")},
        )
    chosen = [found[row] for row in picked["selection"]["rows"] if row < len(found)]
    if len(chosen) == 1:
        _one_record(chosen[0])
    st.button(f"Delete {_counted(len(chosen))}" if chosen else "Delete picked records", icon=":material/delete:",
              disabled=not chosen, key="records-delete", on_click=_delete,
              args=(name, [record.record_id for record in chosen]))


def _table_key(ids: Iterable[str]) -> str:
    """A key that changes with the rows: a picked row is a place, where another record may stand after a change."""
    return f"rows-{hashlib.sha256(chr(0).join(ids).encode()).hexdigest()[:16]}"


def _matches(record: Record, words: str) -> bool:
    parts = (record.title, record.text, *record.authors, record.record_id, record.doi or "", record.journal or "")
    text = " ".join(parts).casefold()
    return all(word in text for word in words.casefold().split())


def _has_status(record: Record, wanted: str) -> bool:
    if wanted == "no abstract":
        return not record.text
    return not wanted or any(notice.kind == wanted for notice in record.notices)


def _shown(record: Record) -> dict[str, Any]:
    return {
        "status": ", ".join(dict.fromkeys(status.KINDS.get(n.kind, n.kind) for n in record.notices)),
        "PMID": record.pmid or "", "title": record.title, "authors": ", ".join(record.authors[:3]), "year": record.year,
        "journal": record.journal or "", "abstract": record.text[:300] or "(none)", "id": record.record_id,
    }


def _one_record(record: Record) -> None:
    with st.container(border=True):
        st.text(record.title)
        for notice in record.notices:
            by = f" (notice: PMID {notice.pmid})" if notice.pmid else ""
            st.warning(plain(f"{status.KINDS.get(notice.kind, notice.kind)}{by}. {notice.note}"))
        st.text(record.text or "No abstract: this record can be browsed, but is never used as evidence.")
        for other in record.other_abstracts:
            st.caption(plain(f"Other abstract ({other.language or 'language not given'}), not used as evidence"))
            st.text(other.text)


def _delete(name: str, record_ids: Sequence[str]) -> None:
    _do(lambda: f"{_counted(len(library.delete_records(name, record_ids)))} deleted")


def _counted(records: int) -> str:
    return "1 record" if records == 1 else f"{records:,} records"


# --- merges, and the whole corpus
def merges_view(name: str) -> None:
    """Every merge with its reason, and the way back."""
    merges = library.ledger_of(name).merges
    if not merges:
        return
    st.subheader("Merged duplicates", anchor=False)
    with st.container(key="merges-table"):
        picked = st.dataframe(
            [{"merged": merge.record.title, "as": merge.merged, "into": merge.kept, "because of": merge.reason,
              "from": Path(merge.record.origin.partition(", ")[0]).name} for merge in merges],
            hide_index=True, on_select="rerun", selection_mode="single-row",
            key=_table_key(f"{merge.merged} into {merge.kept}" for merge in merges),
        )
    rows = picked["selection"]["rows"]
    st.button("Undo this merge", icon=":material/undo:", disabled=not rows, key="merges-undo", on_click=_undo,
              args=(name, merges[rows[0]] if rows else None))


def _undo(name: str, merge: Merge | None) -> None:
    if merge is not None:
        _do(lambda: f"{library.undo_merge(name, merge).record_id} stands by itself again")


def delete_view(name: str) -> None:
    """Delete the corpus, after its name was typed."""
    with st.popover("Delete this corpus", icon=":material/delete_forever:", type="tertiary"):
        typed = st.text_input("Type its name to delete it", key="delete-name")
        st.button("Delete for good", disabled=typed != name, key="delete-corpus", on_click=_delete_corpus, args=(name,))


def _delete_corpus(name: str) -> None:
    def delete() -> str:
        library.delete_corpus(name)
        return f"{name} deleted"

    if _do(delete) and st.session_state.get("corpus") == name:
        del st.session_state["corpus"]


def _do(change: Callable[[], str]) -> bool:
    """Carry out a change and say what came of it."""
    try:
        st.toast(plain(change()), icon=":material/check:")
    except LitRAGError as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return False
    return True
