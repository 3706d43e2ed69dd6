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
        populate_by_name=True, env_parse_none_str="none",
    )

    home: Path = Field(default=Path(".litrag"), description="Folder for indexes, the database and logs.")
    corpus: str = Field(default="sample", description="Corpus that is asked when none is named.")
    embedding_model: str = Field(
        default="minilm",
        description="`minilm` (carried, runs offline), or id or path of a sentence-transformers model.",
    )
    generator: str = Field(
        default="extractive",
        description="`extractive`, `anthropic:<model>`, `anthropic-citations:<model>`, `openai:<model>` or "
        "`server:<model>` (an OpenAI-compatible server of your own).",
    )
    judge: str = Field(
        default="local",
        description="`local`, `hf:<id or path>`, `anthropic:<model>`, `openai:<model>`, `server:<model>`; "
        "`a>b` asks b where a is unsure, `a+b` is a panel, `a*3` lets one judge vote three times.",
    )
    passages: int = Field(default=12, ge=1, le=100, description="Passages retrieved per question.")
    max_claims: int = Field(default=8, ge=1, le=30, description="Claims in an extractive answer at most.")
    db_url: SecretStr | None = Field(
        default=None, description="SQLAlchemy URL of the store; default is SQLite in the home folder.",
    )
    offline: bool = Field(
        default=False, description="Refuse every call to a model server, also one on this machine.",
    )
    anthropic_api_key: SecretStr | None = Field(
        default=None, description="Key for Claude.",
        validation_alias=AliasChoices("anthropic_api_key", "ANTHROPIC_API_KEY"),
    )
    openai_api_key: SecretStr | None = Field(
        default=None, description="Key for OpenAI.",
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY"),
    )
    server_api_key: SecretStr | None = Field(
        default=None, description="Key for an OpenAI-compatible server, if it asks for one.",
    )
    anthropic_url: str = Field(
        default="https://api.anthropic.com", description="Where `anthropic:` models are called.",
        validation_alias=AliasChoices("anthropic_url", "LITRAG_ANTHROPIC_URL", "ANTHROPIC_BASE_URL"),
    )
    openai_url: str = Field(
        default="https://api.openai.com/v1", description="Where `openai:` models are called.",
        validation_alias=AliasChoices("openai_url", "LITRAG_OPENAI_URL", "OPENAI_BASE_URL"),
    )
    server_url: str = Field(
        default="http://127.0.0.1:11434/v1",
        description="Where `server:` models are called: Ollama, llama.cpp, vLLM or the like.",
    )
    ncbi_api_key: SecretStr | None = Field(
        default=None, description="Key for PubMed's E-utilities: ten requests a second instead of three.",
        validation_alias=AliasChoices("ncbi_api_key", "LITRAG_NCBI_API_KEY", "NCBI_API_KEY"),
    )
    ncbi_email: str = Field(default="", description="Address that NCBI may write to if requests cause trouble.")
    ncbi_url: str = Field(
        default="https://eutils.ncbi.nlm.nih.gov/entrez/eutils", description="Where PubMed is searched.",
    )
    pubcrawl: str = Field(
        default="pubcrawl", description="PubCrawl's MCP server: the command that starts it, or its http(s) address.",
    )
    pubcrawl_timeout: float = Field(default=60.0, gt=0, description="Seconds that PubCrawl may take for one answer.")
    temperature: float = Field(
        default=0.0, ge=0, le=1, description="Sent to the models that take one; others choose their own.",
    )
    generator_max_tokens: int = Field(default=8000, ge=100, description="Longest generated answer.")
    judge_max_tokens: int = Field(default=2000, ge=100, description="Longest judgement, thinking included.")
    llm_timeout: float = Field(default=90.0, gt=0, description="Seconds without an answer before a retry.")
    llm_retries: int = Field(default=4, ge=0, le=10, description="Further tries after a passing failure.")
    llm_first_wait: float = Field(default=0.5, ge=0, description="Seconds before the first retry; doubles.")
    llm_longest_wait: float = Field(
        default=30.0, ge=0, description="Longest wait, also when the provider asks for a longer one.",
    )
    llm_concurrency: int = Field(default=8, ge=1, le=64, description="Calls to one provider at the same time.")
    budget_usd: float | None = Field(
        default=1.0, ge=0, description="US dollars that one answer may cost; none for no limit.",
    )
    price_file: Path | None = Field(
        default=None, description="Your own price table (TOML); default is prices.toml in the home folder.",
    )
    escalate_below: float = Field(
        default=0.7, ge=0, le=1, description="Confidence below which `a>b` asks the second judge.",
    )

    log_events: bool = Field(
        default=True, description="Write what runs did (stages, counts, ids) to logs/events.jsonl in the home folder.",
    )
    log_texts: bool = Field(default=False, description="Also log questions and claims; keys are never logged.")
    log_megabytes: float = Field(default=10.0, gt=0, description="Size at which the log is rotated; five old ones stay.")
    metrics_port: int | None = Field(
        default=None, ge=0, le=65535, description="Port for Prometheus inside the app; none is off.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address on which metrics are served.")
    langfuse: bool = Field(
        default=False, description="Send traces and scores to Langfuse (needs requirements-observability.txt).",
    )
    langfuse_url: str = Field(
        default="https://cloud.langfuse.com", description="Where Langfuse is.",
        validation_alias=AliasChoices("langfuse_url", "LITRAG_LANGFUSE_URL", "LANGFUSE_BASE_URL", "LANGFUSE_HOST"),
    )
    langfuse_public_key: SecretStr | None = Field(
        default=None, description="Langfuse's public key.",
        validation_alias=AliasChoices("langfuse_public_key", "LANGFUSE_PUBLIC_KEY"),
    )
    langfuse_secret_key: SecretStr | None = Field(
        default=None, description="Langfuse's secret key.",
        validation_alias=AliasChoices("langfuse_secret_key", "LANGFUSE_SECRET_KEY"),
    )
    otlp_url: str | None = Field(
        default=None, description="OpenTelemetry collector (OTLP over HTTP, for example "
        "http://127.0.0.1:4318/v1/traces) that gets a span per run, stage and model call; none is off.",
    )

    @property
    def index_dir(self) -> Path:
        return self.home / "index"

    @property
    def judgement_cache(self) -> Path:
        return self.home / "judgements.db"

    @property
    def pubmed_dir(self) -> Path:
        return self.home / "pubmed"

    @property
    def model_dir(self) -> Path:
        return self.home / "models"

    @property
    def table_dir(self) -> Path:
        """Folder of the journals and results of tables of claims."""
        return self.home / "tables"

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
