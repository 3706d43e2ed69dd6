"""What a reader chose: who writes, who judges, and whether anything may leave. Opens both with these choices.

Holds names only, so it may live in a session; keys stay in the settings.
"""

from __future__ import annotations

from dataclasses import dataclass

from langchain_core.embeddings import Embeddings

from litrag.config import Settings
from litrag.generate import Generator, open_generator
from litrag.judges import open_judge
from litrag.llm import open_llm_generator, open_llm_judge
from litrag.llm.specs import parts, what_leaves
from litrag.models import Judge
from litrag.profiles import calibrated


@dataclass(frozen=True)
class Choice:
    """Names of a generator and a judge, and the offline switch."""

    generator: str
    judge: str
    offline: bool = False

    @classmethod
    def configured(cls, settings: Settings) -> Choice:
        """What the settings say."""
        return cls(settings.generator, settings.judge, settings.offline)

    def within(self, settings: Settings) -> Settings:
        """The settings with this choice; a switch that the settings have on can't be turned off here."""
        return settings.model_copy(update={
            "generator": self.generator, "judge": self.judge, "offline": self.offline or settings.offline,
        })

    def what_leaves(self, settings: Settings) -> str:
        """One plain sentence: what is sent to whom."""
        return what_leaves(self.generator, self.judge, self.within(settings))

    def models(self) -> list[str]:
        """The models that would be called, each once."""
        named = [self.generator, *parts(self.judge)]
        return list(dict.fromkeys(name for name in named if ":" in name and not name.startswith("hf:")))

    def open_generator(self, settings: Settings, embeddings: Embeddings) -> Generator:
        """The chosen generator."""
        if ":" in self.generator:
            return open_llm_generator(self.generator, self.within(settings))
        return open_generator(self.generator, embeddings)

    def open_judge(self, settings: Settings) -> Judge:
        """The chosen judge."""
        if ":" in self.judge and (">" in self.judge or "+" in self.judge or not self.judge.startswith("hf:")):
            return calibrated(open_llm_judge(self.judge, self.within(settings)))
        return open_judge(self.judge)
