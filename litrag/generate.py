"""Writing an answer: a question and ranked passages go in, a draft of cited statements or an abstention comes out.

Every generator returns statements with `(passage id, quote)` citations; the [n] are written later, from structure,
so that an index can't be out of range, skipped or invented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from langchain_core.embeddings import Embeddings

from litrag.config import settings
from litrag.errors import InputError
from litrag.models import Draft, Hit, Record


class Generator(Protocol):
    """Anything that drafts an answer from passages."""

    @property
    def generator_id(self) -> str: ...

    def generate(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> Draft: ...


def open_generator(spec: str, embeddings: Embeddings) -> Generator:
    """`extractive`, or `anthropic:<model>` / `openai:<model>` / … ; InputError for anything else."""
    if spec == "extractive":
        from litrag.extractive import ExtractiveGenerator

        return ExtractiveGenerator(embeddings, max_claims=settings().max_claims)
    if ":" not in spec:
        raise InputError(f"no generator is called {spec!r}; use 'extractive' or '<provider>:<model>'")
    from litrag.llm import open_llm_generator

    return open_llm_generator(spec, settings())
