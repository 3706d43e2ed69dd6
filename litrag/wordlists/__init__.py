"""The word list that tells a typing error from another word.

`words.txt.gz` holds English words and names of drugs and diagnoses of six letters or more, one a line, lower case,
sorted. README.md beside it says where they come from.
"""

from __future__ import annotations

import gzip
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def known_words() -> frozenset[str]:
    """Every word of the list; read once, on the first doubtful word."""
    packed = files(__package__).joinpath("words.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("ascii").split())
