"""LitRAG: answers over medical abstracts whose every claim is located in its source and judged.

The names below are the public interface; each is imported when it is first used, so that `import litrag` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litrag.index import build_index, open_index
    from litrag.ingest import read_records
    from litrag.judges import open_judge
    from litrag.locate import locate_quote
    from litrag.pipeline import ask, verify

__version__ = "0.1.0"

_HOMES = {
    "ask": "pipeline", "verify": "pipeline", "open_judge": "judges", "open_index": "index", "build_index": "index",
    "read_records": "ingest", "locate_quote": "locate",
}

__all__ = [
    "__version__", "ask", "build_index", "locate_quote", "open_index", "open_judge", "read_records", "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'litrag' has no attribute {name!r}")
    return getattr(import_module(f"litrag.{_HOMES[name]}"), name)
