"""What a call costs: tokens go in, US dollars come out, from a table that the user can edit.

A model of a commercial provider that the table doesn't know is an error as soon as there is a budget to keep; a
server of one's own costs nothing unless the table says so.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from litrag.config import Settings
from litrag.errors import InputError
from litrag.llm.specs import Endpoint

OWN_TABLE = "prices.toml"


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `fresh` is input that was neither read from nor written to a prompt cache."""

    fresh: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.fresh + other.fresh, self.cache_read + other.cache_read,
                     self.cache_write + other.cache_write, self.output + other.output)


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(self, usage: Usage) -> float:
        return (usage.fresh * self.input + usage.cache_read * self.cache_read
                + usage.cache_write * self.cache_write + usage.output * self.output) / 1e6

    def most(self, characters: int, max_tokens: int) -> float:
        """More than any call with that much text can cost: two characters a token, all written to the cache."""
        dearest = max(self.input, self.cache_write)
        return ((characters / 2 + 1000) * dearest + max_tokens * self.output) / 1e6


def price_of(place: Endpoint, settings: Settings) -> Price | None:
    """The price of a model, or None when it costs nothing or nothing is known and no budget needs it."""
    table = _read(Path(__file__).with_name(OWN_TABLE)) | _read_own(settings)
    name = place.spec.replace("anthropic-citations:", "anthropic:")
    matching = [key for key in table if name == key or name.startswith(f"{key}-20")]
    if matching:
        return table[max(matching, key=len)]
    if place.provider == "server" or settings.budget_usd is None:
        return None
    raise InputError(
        f"no price is known for {name!r}, so a budget can't be kept: add it to {_own_path(settings)} "
        "or set LITRAG_BUDGET_USD to none"
    )


def _own_path(settings: Settings) -> Path:
    return settings.price_file or settings.home / OWN_TABLE


def _read_own(settings: Settings) -> dict[str, Price]:
    path = _own_path(settings)
    if settings.price_file is not None and not path.is_file():
        raise InputError(f"LITRAG_PRICE_FILE names {path}, which doesn't exist")
    return _read(path) if path.is_file() else {}


def _read(path: Path) -> dict[str, Price]:
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: _price(row) for name, row in rows.items()}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the price table {path} can't be read: {error}") from error


def _price(row: dict[str, float]) -> Price:
    """A row; without cache prices, a read costs as much as fresh input and so does a write."""
    fresh = float(row["input"])
    return Price(fresh, float(row["output"]), float(row.get("cache_read", fresh)),
                 float(row.get("cache_write", fresh)))
