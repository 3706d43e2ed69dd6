"""Calibrate: how often is this judge wrong, by reviewers' blind labels; profiles, comparison, report."""

from litrag.profiles import open_history
from litrag.ui import calibrate as view
from litrag.ui.calibration_labels import labels_in
from litrag.ui.reviewer import may_calibrate
from litrag.ui.shell import heading, workbench

heading("Calibrate")
store = workbench().store
if may_calibrate(store):
    desk = view.open_desk(store, open_history())
    view.trust_view(desk)
    view.actions(desk)
    view.labels_view(desk)
    labels_in(store)
    view.errors_view(desk)
    view.confidence_view(desk)
    view.agreement_view(desk)
    view.compare_view(desk)
    view.examples_view(desk)
    view.history_view(desk)
    view.report_view(desk)
