"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. OpenAI itself is called by its Responses API, the others by chat
completions, unless `openai.api` says otherwise. mojentic makes the calls; `prepare` or the first call loads it.
"""

import re
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import openai_chat, openai_responses
from zkchat_cli.llm.base import Delta, ModelConfig, ModelInfo, Provider, Request, StreamFailed, StreamFinished, Window
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.remote_model import OPENAI, KeyedSettings, RemoteModel, bearer, fetch_models, settings_of

_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "loaded_context_length", "max_context_length")
"""Where servers report a model's window: vLLM, OpenRouter, Groq, LM Studio. llama.cpp has `n_ctx` in a table `meta`."""
_O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""


class OpenAISettings(KeyedSettings):
    base_url: str = Field("", description="URL of a server such as http://localhost:8080/v1; empty: OPENAI_BASE_URL, otherwise OpenAI")
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")
    api: Literal["auto", "responses", "chat"] = Field(
        "auto", description="responses, chat (completions) or auto: responses for OpenAI itself, chat for compatible servers"
    )
    verbosity: Literal["", "low", "medium", "high"] = Field(
        "", description="length of the answers of GPT-5 and later: low, medium or high; empty: the model's default"
    )


@dataclass(frozen=True, slots=True)
class Refusal:
    """An optional part of a request that some models refuse, in the server's words, and what is sent instead."""

    wording: re.Pattern[str]
    instead: Mapping[str, Any]
    """Keys of the body; None leaves one out."""
    notice: str = ""
    hint: str = ""


TOOLS_WITH_REASONING = Refusal(
    re.compile(r"tools with reasoning_effort are not supported", re.IGNORECASE),
    {"reasoning_effort": "none"},
    "does not reason with tools on chat completions, so it was asked to answer without reasoning",
    "For both: zkchat config set openai.api responses",
)
ENCRYPTED_REASONING = Refusal(
    re.compile(r"encrypted content is not supported", re.IGNORECASE), {"include": None, "reasoning.summary": None}
)
SUMMARIES = Refusal(
    re.compile(r"generate reasoning summaries|reasoning\.summary", re.IGNORECASE),
    {"reasoning.summary": None},
    "shows no summary of its reasoning",
    "Answers do not change. OpenAI shows it to verified organizations, for models that have one.",
)


@dataclass
class OpenaiModel(RemoteModel):
    """A model that is called by chat completions. What it has refused once is not sent again."""

    provider = "openai"
    path = "/chat/completions"
    reader: ClassVar[type[ChatReader]] = openai_chat.OpenAIReader
    refusals: ClassVar[tuple[Refusal, ...]] = (TOOLS_WITH_REASONING,)
    settings: OpenAISettings
    refused: list[Refusal] = field(default_factory=list)

    @property
    def official(self) -> bool:
        return self.server.address == OPENAI.address

    @property
    def exact(self) -> bool:
        return self.official and self.model.startswith(_O200K_MODELS)

    def find_window(self) -> Window | None:
        if self.official:
            from zkchat_cli.llm.mojentic_adapter import known_window  # takes a second

            size = known_window(self.model)
            return Window(size, "mojentic's table of OpenAI's models") if size else None
        try:
            size = {model.name: model.window for model in self.list_models()}.get(self.model)
        except ProviderError:
            return None  # the first call reports it
        return Window(size, "the server's list of models") if size else None

    def body(self, request: Request) -> dict[str, Any]:
        body = self.full_body(request)
        for refusal in self.refused:
            _change(body, refusal.instead)
        return body

    def full_body(self, request: Request) -> dict[str, Any]:
        """The body of a call, whatever the model refuses."""
        return openai_chat.request_body(self.model, request, official=self.official, verbosity=self.settings.verbosity)

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """Makes the call again, without it, if the model refuses something that it can do without."""
        told: Refusal | None = None
        while True:
            refusal = None
            with closing(super().stream(request)) as deltas:
                for delta in deltas:
                    match delta:
                        case StreamFailed(error) if refusal := self._find_refusal(error):
                            break
                        case StreamFinished(notice="") if told is not None:
                            delta = replace(delta, notice=told.notice, hint=told.hint)
                    yield delta
            if refusal is None:
                return
            self.refused.append(refusal)
            told = refusal if refusal.notice else told

    def _find_refusal(self, error: ProviderError) -> Refusal | None:
        """What the model has refused with this error, for the first time."""
        if error.kind != "bad_request":
            return None
        return next((each for each in self.refusals if each not in self.refused and each.wording.search(error.message)), None)

    def list_models(self) -> tuple[ModelInfo, ...]:
        return fetch_models(self.server, "/models", _window_in)


@dataclass
class OpenaiResponsesModel(OpenaiModel):
    """A model that is called by the Responses API."""

    path = "/responses"
    reader = openai_responses.ResponsesReader
    refusals = (ENCRYPTED_REASONING, SUMMARIES)

    def full_body(self, request: Request) -> dict[str, Any]:
        return {**openai_responses.request_body(self.model, request, official=self.official, verbosity=self.settings.verbosity)}


def _change(body: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Set keys of a body, or of an object in it (`object.key`), or remove them."""
    for name, value in changes.items():
        place, _, key = name.rpartition(".")
        target = body.get(place, {}) if place else body
        target.pop(key, None)
        if value is not None:
            target[key] = value
        if place and not target:
            body.pop(place, None)


def _window_in(row: Mapping[str, Any]) -> object:
    sizes = [row[name] for name in _WINDOW_FIELDS if row.get(name)]
    return sizes[0] if sizes else (row.get("meta") or {}).get("n_ctx")


def _open(config: ModelConfig) -> OpenaiModel:
    settings = settings_of(config, OpenAISettings)
    server = OPENAI.server(config, settings, bearer)
    responses = settings.api == "responses" or (settings.api == "auto" and server.address == OPENAI.address)
    if settings.api == "responses" and server.address != OPENAI.address:
        server.check += " Without a Responses API it needs openai.api chat."
    return (OpenaiResponsesModel if responses else OpenaiModel)(config.name, server, settings)


PROVIDER = Provider(
    "openai",
    "OpenAI or a compatible server; your prompts are sent there",
    _open,
    OpenAISettings,
    server_info=lambda config: _open(config).server_info(),
)
