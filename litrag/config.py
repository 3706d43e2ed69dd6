"""Settings: the only place that reads the environment and `.env`.

Every setting is `LITRAG_<NAME>`; provider keys keep the names that their own clients use. Secrets are
`SecretStr` so that they can't reach a log, an export or a page by being printed.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent
SAMPLE_CORPUS = PROJECT / "data" / "semaglutide"


class Settings(BaseSettings):
    """What can be configured; frozen, one per process."""

    model_config = SettingsConfigDict(
        env_prefix="LITRAG_", env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True,
        populate_by_name=True,
    )

    home: Path = Field(default=Path(".litrag"), description="Folder for indexes, the database and logs.")
    corpus: str = Field(default="sample", description="Corpus that is asked when none is named.")
    embedding_model: str = Field(
        default="minilm",
        description="`minilm` (carried, runs offline), or id or path of a sentence-transformers model.",
    )
    generator: str = Field(
        default="extractive", description="`extractive`, `anthropic:<model>`, `openai:<model>`.",
    )
    judge: str = Field(
        default="local", description="`local`, `hf:<id or path>`, `anthropic:<model>`, `openai:<model>`.",
    )
    passages: int = Field(default=12, ge=1, le=100, description="Passages retrieved per question.")
    max_claims: int = Field(default=6, ge=1, le=30, description="Claims in an extractive answer at most.")
    db_url: SecretStr | None = Field(
        default=None, description="SQLAlchemy URL of the store; default is SQLite in the home folder.",
    )
    offline: bool = Field(default=False, description="Refuse every outgoing call.")
    anthropic_api_key: SecretStr | None = Field(
        default=None, description="Key for Claude.",
        validation_alias=AliasChoices("anthropic_api_key", "ANTHROPIC_API_KEY"),
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key for OpenAI.",
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY"),
    )

    @property
    def index_dir(self) -> Path:
        return self.home / "index"

    @property
    def model_dir(self) -> Path:
        return self.home / "models"

    @property
    def database_url(self) -> str:
        """URL of the store, secrets included: for the engine only, never for display."""
        if self.db_url is not None:
            return self.db_url.get_secret_value()
        return f"sqlite:///{self.home / 'litrag.db'}"


@lru_cache(maxsize=1)
def settings() -> Settings:
    """The process's settings, read once."""
    return Settings()
