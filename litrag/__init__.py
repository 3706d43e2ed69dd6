"""LitRAG: answers over medical abstracts whose every claim is located in its source and judged."""

__version__ = "0.1.0"
