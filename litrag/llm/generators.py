"""Writing by an LLM: a question and ranked passages go in, statements with quotes or an abstention come out.

`StructuredGenerator` asks any chat model for statements that each name a passage and quote it. `CitationsGenerator`
uses Claude's own citations, whose offsets are checked against the passage. Both stream: a stream that breaks off
before any text is tried again, one that breaks off later ends as GenerationError with what had arrived, so that no
half answer passes for a whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from pydantic import ValidationError
from pydantic_core import from_json

from litrag.errors import GenerationError, InputError, ModelUnavailableError
from litrag.llm.budget import current_budget
from litrag.llm.capabilities import SAMPLING_VERSION, takes_temperature
from litrag.llm.chat import Unusable, asking_for, open_chat_model, reply_of, system_prompt, usage_of
from litrag.llm.judges import anthropic_trouble, anthropic_usage
from litrag.llm.prices import Usage
from litrag.llm.retry import Caller, CallError
from litrag.locate import locate_quote
from litrag.models import Abstention, Citation, Draft, Hit, Record, Statement
from litrag.prompts import (
    ANSWER_SYSTEM,
    ANSWER_VERSION,
    CITED_ANSWER_SYSTEM,
    CITED_ANSWER_VERSION,
    INSUFFICIENT,
    AnswerReply,
    answer_prompt,
    fenced,
    study_facts,
    without_hidden,
)
from litrag.sentences import split

if TYPE_CHECKING:
    from anthropic.types import Message, TextBlock
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import LLMResult

#: Told about the statements that have arrived so far, while the model still writes.
OnPartial = Callable[[tuple[str, ...]], None]

_LIMIT = "LITRAG_GENERATOR_MAX_TOKENS"
_NO_ANSWER = "the model gave no usable answer"


class _Arrivals(BaseCallbackHandler):
    """What has arrived of the try under way: its text so far and, at its end, the message."""

    raise_error = True

    def __init__(self, on_partial: OnPartial | None, read: Callable[[str], tuple[str, ...]]) -> None:
        self._on_partial = on_partial
        self._read = read
        self.text = ""
        self.message: AIMessage | None = None

    def restart(self) -> None:
        self.text, self.message = "", None

    @property
    def partial(self) -> tuple[str, ...]:
        return self._read(self.text)

    @property
    def seen(self) -> bool:
        """Whether a reader watches and has seen text, after which a further try would take it back."""
        return self._on_partial is not None and bool(self.partial)

    def add(self, text: str) -> None:
        if not text:
            return
        self.text += text
        if self._on_partial is not None and (partial := self.partial):
            self._on_partial(partial)

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        self.add(token if isinstance(token, str) else "")

    def on_llm_end(self, response: LLMResult, **_: Any) -> None:
        self.message = getattr(response.generations[0][0], "message", None)


class StructuredGenerator:
    """Any chat model that replies with a schema."""

    def __init__(self, caller: Caller, on_partial: OnPartial | None = None) -> None:
        self._caller = caller
        self._on_partial = on_partial
        self._model: Any = None

    @property
    def generator_id(self) -> str:
        return f"{self._caller.place.spec} ({ANSWER_VERSION})"

    def watched_by(self, on_partial: OnPartial) -> StructuredGenerator:
        """The same generator, telling `on_partial` what has arrived while it writes."""
        return StructuredGenerator(self._caller, on_partial)

    def generate(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> Draft:
        """Write an answer or abstain; GenerationError when the model gives neither."""
        if not hits:
            return _nothing_found(question, self.generator_id)
        system = system_prompt(ANSWER_SYSTEM, AnswerReply, self._caller.place)
        turn = answer_prompt(question, hits, records)
        arrivals = _Arrivals(self._on_partial, _statements_so_far)
        message, usage, cost = _written(
            self._caller, lambda: self._attempt(system, turn, arrivals), arrivals, size=_bytes(system + turn),
        )
        reply = _answer(_usable(reply_of(message, _LIMIT), arrivals), arrivals)
        return _draft(reply, question, hits, self.generator_id, usage, cost)

    def _attempt(self, system: str, turn: str, arrivals: _Arrivals) -> tuple[AIMessage, Usage]:
        """One try. The message is taken where it ends, since a parsed reply wouldn't say why it ended."""
        from langchain_core.exceptions import ModelRefusalError

        arrivals.restart()
        turns = [("system", system), ("human", turn)]
        try:
            for _ in self._opened().stream(turns, config={"callbacks": [arrivals]}):
                pass
            message = arrivals.message
        except ModelRefusalError as refusal:
            message = cast("AIMessage | None", refusal.raw_message)
        if message is None:
            raise ValueError("the stream ended without a message")
        return message, usage_of(message)

    def _opened(self) -> Any:
        if self._model is None:
            place, settings = self._caller.place, self._caller.settings
            model = open_chat_model(
                place, settings, max_tokens=settings.generator_max_tokens, temperature=settings.temperature,
            )
            self._model = asking_for(AnswerReply, model, place, include_raw=False)
        return self._model


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _written(
    caller: Caller, attempt: Callable[[], tuple[Any, Usage]], arrivals: _Arrivals, *, size: int
) -> tuple[Any, Usage, float | None]:
    """One answer through the retries; a failure says what had arrived, a wrong setting is told apart."""
    settings = caller.settings
    try:
        return caller.call(
            attempt, characters=size, max_tokens=settings.generator_max_tokens,
            budget=current_budget(settings.budget_usd), again=lambda: not arrivals.seen,
        )
    except CallError as error:
        if error.setting:
            raise ModelUnavailableError(str(error)) from None
        state = "the answer broke off" if arrivals.partial else _NO_ANSWER
        raise GenerationError(f"{state}: {error}; try again", partial=arrivals.partial) from None


def _usable(reply: str | dict[str, Any] | Unusable, arrivals: _Arrivals) -> str | dict[str, Any]:
    if isinstance(reply, Unusable):
        raise GenerationError(f"{_NO_ANSWER}: {reply.reason}", partial=arrivals.partial)
    return reply


def _answer(reply: str | dict[str, Any], arrivals: _Arrivals) -> AnswerReply:
    """The reply by its schema; a text is taken if it holds exactly the object that was asked for."""
    try:
        if isinstance(reply, dict):
            return AnswerReply.model_validate(reply)
        return AnswerReply.model_validate_json(_without_fence(reply))
    except ValidationError:
        shown = " ".join(str(reply).split())[:200]
        said = f"it replied “{shown}”" if shown else "it replied nothing"
        raise GenerationError(f"{_NO_ANSWER}: {said}", partial=arrivals.partial) from None


def _without_fence(text: str) -> str:
    body = text.strip()
    if body.startswith("```") and body.endswith("```"):
        body = body.removeprefix("```json").removeprefix("```").removesuffix("```")
    return body


def _statements_so_far(text: str) -> tuple[str, ...]:
    """Statement texts in a JSON reply that is still being written."""
    try:
        value = from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return ()
    statements = value.get("statements") if isinstance(value, dict) else None
    if not isinstance(statements, list):
        return ()
    texts = (s.get("text") for s in statements if isinstance(s, dict))
    return tuple(t for t in texts if isinstance(t, str) and t.strip())


def _draft(
    reply: AnswerReply, question: str, hits: Sequence[Hit], generator: str, usage: Usage, cost: float | None
) -> Draft:
    spent = _spent(usage, cost)
    if reply.insufficient_evidence:
        kept = [statement for statement in reply.statements if statement.text.strip()]
        return Draft(generator=generator, abstention=_abstention(question, hits, reply.missing, len(kept)), **spent)
    names = {f"p{number}": hit.passage.passage_id for number, hit in enumerate(hits, start=1)}
    unknown = [c.passage_id for s in reply.statements for c in s.citations if c.passage_id.strip() not in names]
    notes = tuple(f"The model cites a passage {name!r} that it wasn't given." for name in dict.fromkeys(unknown))
    statements = tuple(
        Statement(text=statement.text.strip(), citations=tuple(
            Citation(passage_id=names[c.passage_id.strip()], quote=c.quote)
            for c in statement.citations if c.passage_id.strip() in names and c.quote.strip()
        ))
        for statement in reply.statements if statement.text.strip()
    )
    if not statements:
        raise GenerationError(f"{_NO_ANSWER}: it made no statement and didn't call the evidence insufficient")
    return Draft(statements=statements, notes=notes, generator=generator, **spent)


def _spent(usage: Usage, cost: float | None) -> dict[str, Any]:
    return {"input_tokens": usage.input, "cached_tokens": usage.cache_read, "output_tokens": usage.output,
            "cost_usd": cost}


def _abstention(question: str, hits: Sequence[Hit], missing: Sequence[str], dropped: int = 0) -> Abstention:
    reason = "The model finds the evidence in the retrieved passages insufficient."
    if dropped:
        reason += f" Its reply also held {dropped} statement(s); they aren't shown because it doesn't stand by them."
    named = tuple(text.strip() for text in missing if text.strip())
    return Abstention(reason=reason, missing=named, searched=question, nearest=tuple(hits[:3]))


def _nothing_found(question: str, generator: str) -> Draft:
    return Draft(generator=generator, abstention=Abstention(
        reason="No passage in this corpus comes close enough to answer.", searched=question,
    ))


class CitationsGenerator:
    """Claude with its own citations: each cited span comes with its offsets in the document."""

    def __init__(self, caller: Caller, on_partial: OnPartial | None = None) -> None:
        self._caller = caller
        self._on_partial = on_partial
        self._client: Any = None

    @property
    def generator_id(self) -> str:
        return f"{self._caller.place.spec} ({CITED_ANSWER_VERSION})"

    def watched_by(self, on_partial: OnPartial) -> CitationsGenerator:
        """The same generator, telling `on_partial` what has arrived while it writes."""
        return CitationsGenerator(self._caller, on_partial)

    def generate(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> Draft:
        """Write an answer or abstain; GenerationError when the model gives neither."""
        if not hits:
            return _nothing_found(question, self.generator_id)
        request = self._request(question, hits, records)
        arrivals = _Arrivals(self._on_partial, _sentences_so_far)
        message, usage, cost = _written(
            self._caller, lambda: self._attempt(request, arrivals), arrivals, size=_bytes(str(request)),
        )
        if (trouble := anthropic_trouble(message, _LIMIT)) is not None:
            _usable(trouble, arrivals)
        blocks = [block for block in message.content if block.type == "text"]
        text = "".join(block.text for block in blocks)
        if text.strip().startswith(INSUFFICIENT):
            missing = text.strip().removeprefix(INSUFFICIENT).strip()
            return Draft(generator=self.generator_id, abstention=_abstention(question, hits, [missing]),
                         **_spent(usage, cost))
        statements, notes = _cited_statements(text, blocks, hits)
        if not statements:
            raise GenerationError(f"{_NO_ANSWER}: it replied nothing")
        return Draft(statements=statements, notes=notes, generator=self.generator_id, **_spent(usage, cost))

    def _attempt(self, request: dict[str, Any], arrivals: _Arrivals) -> tuple[Message, Usage]:
        arrivals.restart()
        with self._opened().messages.stream(**request) as stream:
            for text in stream.text_stream:
                arrivals.add(text)
            message: Message = stream.get_final_message()
        return message, anthropic_usage(message)

    def _opened(self) -> Any:
        if self._client is None:
            from anthropic import Anthropic

            place = self._caller.place
            if place.key is None:
                raise InputError(f"{place.spec} needs a key: set {place.key_setting}")
            self._client = Anthropic(
                api_key=place.key.get_secret_value(), base_url=place.url, max_retries=0,
                timeout=self._caller.settings.llm_timeout,
            )
        return self._client

    def _request(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> dict[str, Any]:
        settings, place = self._caller.settings, self._caller.place
        documents: list[dict[str, Any]] = [
            {"type": "document", "title": f"p{number}", "context": study_facts(records[hit.passage.record_id]),
             "source": {"type": "text", "media_type": "text/plain", "data": without_hidden(hit.passage.text)},
             "citations": {"enabled": True}}
            for number, hit in enumerate(hits, start=1)
        ]
        ask = f"{fenced('question', question)}\n\nAnswer the question from the documents."
        request: dict[str, Any] = {
            "model": place.model, "max_tokens": settings.generator_max_tokens, "system": CITED_ANSWER_SYSTEM,
            "messages": [{"role": "user", "content": [*documents, {"type": "text", "text": ask}]}],
        }
        if takes_temperature(place.provider, place.model):
            request |= {"extra_body": {"temperature": settings.temperature}, "extra_headers": SAMPLING_VERSION}
        return request


def _sentences_so_far(text: str) -> tuple[str, ...]:
    return tuple(text[start:end] for start, end in split(text))


def _cited_statements(
    text: str, blocks: Sequence[TextBlock], hits: Sequence[Hit]
) -> tuple[tuple[Statement, ...], tuple[str, ...]]:
    """Sentences of the reply, each with the citations of the text blocks that it is made of, and what is odd."""
    cited: list[tuple[int, int, Citation]] = []
    notes: list[str] = []
    position = 0
    for block in blocks:
        end = position + len(block.text)
        for given in block.citations or ():
            citation, note = _citation(given, hits)
            notes += [note] if note else []
            cited += [(position, end, citation)] if citation else []
        position = end
    statements = []
    for start, stop in split(text):
        sentence = text[start:stop].strip()
        if any(character.isalnum() for character in sentence):
            own = (citation for begin, end, citation in cited if begin < stop and start < end)
            statements.append(Statement(text=sentence, citations=tuple(dict.fromkeys(own))))
    return tuple(statements), tuple(notes)


def _citation(given: Any, hits: Sequence[Hit]) -> tuple[Citation | None, str]:
    """A provider's citation as ours, located again: a note tells where its offsets and its words don't agree."""
    place = getattr(given, "document_index", -1)
    quote = given.cited_text.strip()
    shown = f"“{quote if len(quote) <= 80 else quote[:80] + '…'}”"
    if not 0 <= place < len(hits):
        return None, f"The provider cites {shown} from a document that it wasn't given."
    passage = hits[place].passage
    citation = Citation(passage_id=passage.passage_id, quote=quote)
    start, end = getattr(given, "start_char_index", -1), getattr(given, "end_char_index", -1)
    if without_hidden(passage.text)[max(start, 0) : end].strip() != quote:
        return citation, f"The provider's offsets {start}–{end} hold other words than {shown}, which it cites."
    if not locate_quote(quote, passage.text).found:
        return citation, f"{shown}, cited by the provider, wasn't found again in the passage."
    return citation, ""
