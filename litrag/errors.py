"""Errors that LitRAG raises on purpose: each message names the value at fault and the remedy.

Library code raises these; only the command line and the pages catch them and show the message.
"""


class LitRAGError(Exception):
    """Something that the caller can put right; the message says what and how."""


class InputError(LitRAGError):
    """A file, record, question or argument that can't be used as it is."""


class IndexUnusableError(LitRAGError):
    """A saved index that doesn't fit its model, its corpus or itself and has to be rebuilt."""


class ModelUnavailableError(LitRAGError):
    """A local model or remote provider that can't be loaded or reached."""


class StoreError(LitRAGError):
    """The database can't be opened, upgraded or written."""


class OfflineError(ModelUnavailableError):
    """A call was about to leave although LITRAG_OFFLINE forbids it."""


class BudgetExceededError(LitRAGError):
    """The next call could cost more than what is left of the run's budget."""


class GenerationError(LitRAGError):
    """The model gave no usable answer; `partial` is what had arrived: shown as interrupted, never kept."""

    def __init__(self, message: str, *, partial: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.partial = partial
