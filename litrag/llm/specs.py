"""Naming a model: `provider:model` goes in, where and with which key it is called comes out.

Refuses before any socket is opened: unknown providers, missing keys and every call while LITRAG_OFFLINE is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from litrag.config import Settings
from litrag.errors import InputError, ModelUnavailableError, OfflineError

PROVIDERS = ("anthropic", "anthropic-citations", "openai", "server")


@dataclass(frozen=True)
class Endpoint:
    """Where a model is called. `key` prints as asterisks; `key_setting` and `url_setting` are for messages."""

    provider: str
    model: str
    url: str
    key: SecretStr | None
    key_setting: str
    url_setting: str

    @property
    def spec(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def anthropic(self) -> bool:
        return self.provider.startswith("anthropic")

    @property
    def host(self) -> str:
        """Host and port, without anything secret that a URL may carry."""
        parts = urlsplit(self.url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown: the key, and a password in the URL."""
        found = [self.key.get_secret_value() if self.key else None, urlsplit(self.url).password]
        return tuple(secret for secret in found if secret)


def parse_spec(spec: str) -> tuple[str, str]:
    """Provider and model of `provider:model`; the model may hold further colons, as Ollama's do."""
    provider, _, model = spec.partition(":")
    if provider not in PROVIDERS or not model.strip():
        raise InputError(
            f"no model is called {spec!r}; use '<provider>:<model>' with a provider of {', '.join(PROVIDERS)}"
        )
    return provider, model.strip()


def endpoint(spec: str, settings: Settings) -> Endpoint:
    """Where `spec` is called; ModelUnavailableError when its key is missing."""
    provider, model = parse_spec(spec)
    if provider.startswith("anthropic"):
        place = Endpoint(provider, model, settings.anthropic_url, settings.anthropic_api_key,
                         "ANTHROPIC_API_KEY", "LITRAG_ANTHROPIC_URL")
    elif provider == "openai":
        place = Endpoint(provider, model, settings.openai_url, settings.openai_api_key,
                         "OPENAI_API_KEY", "LITRAG_OPENAI_URL")
    else:
        place = Endpoint(provider, model, settings.server_url, settings.server_api_key,
                         "LITRAG_SERVER_API_KEY", "LITRAG_SERVER_URL")
    if provider != "server" and not (place.key and place.key.get_secret_value().strip()):
        raise ModelUnavailableError(f"{spec} needs a key: set {place.key_setting} in the environment or in .env")
    return place


def refuse_offline(place: Endpoint, settings: Settings) -> None:
    """Raise OfflineError when no call may be made; called right before each one."""
    if settings.offline:
        raise OfflineError(
            f"{place.spec} was not called: LITRAG_OFFLINE is set and refuses every call to a model server; "
            "unset it, or choose the local judge and the extractive generator"
        )


def what_leaves(generator: str, judge: str, settings: Settings) -> str:
    """One plain sentence for the reader: what is sent to whom with these choices."""
    if settings.offline:
        return "Nothing leaves this machine: the offline switch refuses every call to a model server."
    sent = []
    if ":" in generator:
        sent.append(f"the question and the retrieved passages go to {_recipient(generator, settings)}")
    for part in parts(judge):
        if ":" in part and not part.startswith("hf:"):
            sent.append(f"claims, quotes and the abstracts they cite go to {_recipient(part, settings)}")
    sent += _watchers(settings)
    if not sent:
        return "Nothing leaves this machine: answers are extracted and judged here."
    said = " and ".join(dict.fromkeys(sent))
    return f"{said[0].upper()}{said[1:]}. Keys are sent to their own provider only."


def _watchers(settings: Settings) -> list[str]:
    """What is sent to whoever watches the runs."""
    told = "counts, scores and ids of runs" + (" with questions and claims" if settings.langfuse and settings.log_texts else "")
    urls = [settings.langfuse_url] if settings.langfuse else []
    urls += [settings.otlp_url] if settings.otlp_url else []
    return [f"{told} go to {urlsplit(url).hostname}" for url in urls]


def parts(judge: str) -> list[str]:
    """The single judges that a judge spec such as `local>anthropic:m*3+openai:n` is made of."""
    return [one.partition("*")[0].strip() for half in judge.split(">") for one in half.split("+")]


def _recipient(spec: str, settings: Settings) -> str:
    provider, model = parse_spec(spec)
    urls = {"openai": settings.openai_url, "server": settings.server_url}
    host = urlsplit(urls.get(provider, settings.anthropic_url)).hostname
    return f"{host} ({model})"
