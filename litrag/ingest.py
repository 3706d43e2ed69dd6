"""The ingest station: files become records, records become passages.

In: a file or folder of any supported format (one reader each, in `litrag.readers`). Out: a `ReadReport`,
which is the records and an account of what was refused, and the passages that an index holds of them.
"""

from litrag.passages import TokenCounter, embedded_text, embedded_title, passages
from litrag.readers import ReadReport, Rejection, read_records

__all__ = [
    "ReadReport", "Rejection", "TokenCounter", "embedded_text", "embedded_title", "passages", "read_records",
]
