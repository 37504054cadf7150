"""Claude, from Anthropic or any server that speaks its Messages API: `anthropic/NAME`, at
ANTHROPIC_BASE_URL or anthropic.base_url.

mojentic makes the calls, and Anthropic's SDK puts the messages together; `prepare` or the first
call loads both.
"""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from zkchat_cli.config.schema import KeyedSettings
from zkchat_cli.llm.base import ModelConfig, Provider, Request, Window
from zkchat_cli.llm.keyed_provider import KeyedProvider, bearer
from zkchat_cli.llm.known_models import MIN_WINDOW_OF_CLAUDE, KnownModel, known_models
from zkchat_cli.llm.providers.anthropic.reader import AnthropicReader
from zkchat_cli.llm.providers.anthropic.request import (
    IMAGES,
    build_body,
    claude_version,
    image_rule,
)
from zkchat_cli.llm.refusals import TEMPERATURE_REFUSAL, Refusal, leave_out
from zkchat_cli.llm.remote_model import RemoteModel
from zkchat_cli.tokens.image_rules import ImageRule

API_VERSION = "2023-06-01"
SEARCH_RESULTS_REFUSAL = Refusal(
    "search results", re.compile(r"(?i)search_result|citations"), lambda _: None
)
"""The refusal of a server that does not know search results; `full_body` sends text instead."""
THINKING_REFUSAL = Refusal(
    "thinking",
    re.compile(r"(?i)thinking[. ].*(not supported|not support|not allowed|cannot be|must be)"),
    leave_out("thinking", "output_config"),
    "does not think in the way of llm.reasoning_effort, so it was left out",
    "The model decides how much it thinks.",
)
EFFORT_REFUSAL = Refusal(
    "effort",
    re.compile(r"(?i)effort.*(not support|should be|not permitted)|not support.*effort"),
    leave_out("output_config"),
    "knows no such effort, so llm.reasoning_effort was left out",
    "The model decides how much it thinks.",
)
MIN_WINDOW = Window(200_000, MIN_WINDOW_OF_CLAUDE)


class AnthropicSettings(KeyedSettings):
    """The table [anthropic] of the settings file."""

    base_url: str = Field(
        "",
        description=(
            "URL of Anthropic or a server with its Messages API; empty: ANTHROPIC_BASE_URL, "
            "else Anthropic"
        ),
    )
    key_variable: str = Field(
        "ANTHROPIC_API_KEY", description="environment variable with the API key"
    )
    timeout: float = Field(
        300,
        gt=0,
        le=86_400,
        description="seconds to wait for the first token, while Claude may be thinking",
    )
    stall_timeout: float = Field(
        180,
        gt=0,
        le=86_400,
        description=(
            "seconds to wait for each further token, while Claude may be writing the text of a note"
        ),
    )


@dataclass
class AnthropicModel(RemoteModel):
    """A model called by the Messages API."""

    provider = "anthropic"
    path = "/v1/messages"
    list_path = "/v1/models?limit=1000"
    count_path = "/count_tokens"
    reader = AnthropicReader
    plain_excerpts = False
    refusals = (
        TEMPERATURE_REFUSAL,
        SEARCH_RESULTS_REFUSAL,
        THINKING_REFUSAL,
        EFFORT_REFUSAL,
    )
    settings: AnthropicSettings
    counts_images = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if "claude-" in self.model:
            self.takes_images = claude_version(self.model) >= IMAGES
        self.known: KnownModel | None = known_models().find("anthropic", self.model)
        if self.known is not None:
            self.price = self.known.price

    @property
    def image_rule(self) -> ImageRule | None:
        """See Model."""
        return image_rule(self.model) if super().image_rule else None

    def full_body(self, request: Request) -> dict[str, Any]:
        """A Claude gets excerpts as search results, unless it has refused them, and returns
        citations of them.
        """
        cites = "claude-" in self.model and SEARCH_RESULTS_REFUSAL not in self.refused
        return build_body(request, self.model, self.window, self.known, cites=cites)


def _headers(key: str, official: bool) -> dict[str, str]:
    """Some imitations read one header with the key, some the other, so they get both."""
    headers = {"anthropic-version": API_VERSION}
    if key:
        headers["x-api-key"] = key
    return headers if official else headers | bearer(key)


ANTHROPIC = KeyedProvider(
    name="anthropic",
    company="Anthropic",
    address="https://api.anthropic.com",
    other_name="the server for anthropic",
    headers=_headers,
    path="/v1",
)


def _open(config: ModelConfig) -> AnthropicModel:
    settings: AnthropicSettings = config.settings or AnthropicSettings()
    server = ANTHROPIC.server(config, settings)
    window = MIN_WINDOW if config.name.startswith("claude-") else None
    known = known_models().find_exact("anthropic", config.name)
    if known is not None and server.address == ANTHROPIC.address:
        window = known.find_window() or window
    return AnthropicModel(config.name, server, settings, window=window, reports=config.reports)


PROVIDER = Provider(
    name="anthropic",
    open=_open,
    open_remote=_open,
    settings=AnthropicSettings,
    preferred_models=("claude-sonnet", "claude-opus", "claude-haiku"),
    model_families=("claude",),
)
