"""The settings and their defaults, as pydantic models, one for each table of the settings file.

The table of a provider is declared in the provider's own file; `provider_tables` adds it.
"""

from typing import Annotated, Literal

from pydantic import (
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from zkchat_cli.config.prices import parse_price
from zkchat_cli.config.section import S as S
from zkchat_cli.config.section import Section as Section
from zkchat_cli.config.section import TextList as TextList
from zkchat_cli.config.store_settings import StoreSettings
from zkchat_cli.config.vault_settings import VaultSettings

EMBEDDER_NAMES = "<embedders>"
DEFAULT_EMBEDDING_MODELS = "<embedding models>"
"""A placeholder in descriptions, which `describe_setting` replaces: this package cannot import the
embedders.
"""


class LlmSettings(Section):
    """The table [llm]: how models are called."""

    max_tool_rounds: int = Field(
        10, ge=1, le=100, description="rounds of tool calls before the model must answer"
    )
    max_output_tokens: int = Field(
        0, ge=0, le=10_000_000, description="largest answer in tokens; 0: the model's own limit"
    )
    max_answer_bytes: int = Field(
        2_000_000,
        ge=1000,
        le=1_000_000_000,
        description="largest size in bytes of an answer, its reasoning or its tool calls",
    )
    temperature: float = Field(
        -1, ge=-1, le=2, description="sampling temperature; below 0: the model's default"
    )
    reasoning_effort: Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"] = (
        Field(
            "",
            description=(
                "reasoning effort: none, minimal, low, medium, high, xhigh or max; empty: the "
                "model's default"
            ),
        )
    )

    stop_repetition: bool = Field(
        True, description="stop an answer that repeats a passage of 40 tokens four times in a row"
    )
    prices: TextList = Field(
        (),
        description=(
            "your prices of a million tokens in and out: 'ollama/* = 0', "
            "'openai/my-model = 0.5/1.5'"
        ),
    )

    @field_validator("prices")
    @classmethod
    def _prices_are_readable(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        for line in lines:
            parse_price(line)
        return lines


class ContextSettings(Section):
    """The table [context]: the context window and its budgets."""

    strategy: str = Field(
        "hybrid", description="what is sent when the window is full: hybrid, summarize or discard"
    )
    max_tokens: int = Field(
        32768,
        ge=512,
        le=1_000_000_000,
        description=(
            "context window in tokens; if not set, the model's own window where it is known"
        ),
    )
    message_budget_ratio: float = Field(
        0.6, gt=0, le=1, description="share of the window for messages"
    )
    tool_budget_ratio: float = Field(
        0.3, ge=0, le=1, description="share of the window for tool descriptions"
    )
    system_budget_ratio: float = Field(
        0.1, ge=0, le=1, description="share of the window for instructions"
    )
    auto_summarize: bool = Field(True, description="summarize older turns when the window is full")
    summarization_threshold: float = Field(
        0.8,
        gt=0,
        le=1,
        description=(
            "share of the limit from where older turns are summarized; sooner if the message "
            "budget is used up"
        ),
    )
    summary_model: str = Field(
        "", description="model that writes summaries, such as qwen3; empty: the one that answers"
    )
    recent_messages_to_keep: int = Field(
        10, ge=0, description="newest messages that are never summarized"
    )
    summary_ratio: float = Field(
        0.3, gt=0, le=1, description="largest share of the limit for a summary"
    )
    injection_ratio: float = Field(
        0.2,
        ge=0,
        le=1,
        description="largest share of the remaining budget that one document may take in full",
    )
    memory_integration: bool = Field(
        True, description="include memory in prompts, and search earlier conversations"
    )
    tool_filter: Literal["auto", "off"] = Field(
        "auto",
        description=(
            "leave out tools that a message does not need: auto (when the budget is tight) or off"
        ),
    )
    show_token_count: bool = Field(
        True,
        description="show the budget bar, and the tokens used below each answer",
    )

    @model_validator(mode="after")
    def _shares_add_up(self) -> "ContextSettings":
        total = self.message_budget_ratio + self.tool_budget_ratio + self.system_budget_ratio
        if total > 1.0001:
            raise ValueError(f"the three budget ratios add up to {total:.2f}, more than 1")
        return self


class ChatSettings(Section):
    """The table [chat]: what a chat shows besides the answers."""

    show_reasoning: bool = Field(
        True, description="show the model's reasoning, dimmed, before its answer"
    )
    show_details: bool = Field(
        False,
        description=(
            "show all arguments of tool calls, times, tokens and the reasoning of each turn"
        ),
    )
    iterations: int = Field(
        5, ge=1, le=100, description="most answers to work on the goal of one /solve"
    )
    max_cost: float = Field(
        0,
        ge=0,
        le=1_000_000,
        description="ask before a conversation costs more than this, such as 0.5; 0: never",
    )
    evidence: bool | Literal["auto"] = Field(
        "auto",
        description=(
            "quote the notes below an answer without sources: true, false or auto (models "
            "without tools)"
        ),
    )
    show_related: bool = Field(
        True,
        description="offer notes related to an answer in a line below it, if there are good ones",
    )


class TerminalSettings(Section):
    """The table [terminal]: the interactive screen."""

    open_command: str = Field(
        "",
        description=(
            "command that /open runs, with {path} and {line}; empty: $VISUAL, $EDITOR or a pager"
        ),
    )
    editing_mode: Literal["emacs", "vi"] = Field(
        "emacs", description="key bindings of the input line: emacs or vi"
    )
    background: Literal["auto", "dark", "light"] = Field(
        "auto",
        description=(
            "background that colors must be readable on: dark, light or auto (by COLORFGBG, "
            "otherwise either)"
        ),
    )
    accessible: bool = Field(
        False, description="for screen readers: no redrawing, no box characters, states in words"
    )


class ReferenceSettings(Section):
    """The table [references]: the documents behind an answer."""

    enabled: bool = Field(
        True,
        description=(
            "read the notes that a message links to, and keep a list of the documents behind "
            "each answer"
        ),
    )
    summaries: Literal["author", "model"] = Field(
        "author",
        description=(
            "who says in a line what a note is about: its author, or the model where there is no "
            "description"
        ),
    )
    max_displayed: int = Field(10, ge=1, description="number of sources listed after an answer")


class RetrievalSettings(Section):
    """The table [retrieval]: who searches the notes, and how much may be found."""

    mode: Literal["auto", "tools", "before", "both"] = Field(
        "auto",
        description=(
            "who searches the notes: the model (tools), zkchat (before), both, or auto (by the "
            "model)"
        ),
    )
    ratio: float = Field(
        0.3,
        gt=0,
        le=1,
        description="largest share of the remaining budget for passages found before the question",
    )


class MemorySettings(Section):
    """The table [memory]: which memory files go into prompts."""

    user: bool = Field(
        True,
        description=(
            "include your own memory file, ZKCHAT.md in the configuration folder, with any vault"
        ),
    )
    project: bool = Field(
        True, description="include the memory files of the vault and of its folders"
    )
    agent: bool = Field(True, description="include the agent's own memory file")
    project_file: TextList = Field(
        ("ZKCHAT.md", "AGENTS.md", "CLAUDE.md", "WILK.md"),
        description=(
            "names of memory files; the first that is there counts, in the vault and in each folder"
        ),
    )


class SemanticSettings(Section):
    """The table [semantic]: search by meaning."""

    provider: str = Field(
        "builtin",
        description=f"what computes vectors for search by meaning: {EMBEDDER_NAMES}",
    )
    multilingual: bool = Field(
        True,
        description="use a second model for languages that the first one does not know",
    )
    model: str = Field("", description=f"embedding model; empty: {DEFAULT_EMBEDDING_MODELS}")
    path: str = Field(
        "",
        description=(
            "an .onnx file instead of semantic.model, for onnx; its tokenizer.json must be in "
            "the same folder"
        ),
    )


class McpServer(Section):
    """A server of other programs' tools: a `command` with its `args` and `env`, or a `url`."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field({})
    url: str = ""
    headers: dict[str, str] = Field(
        {}, description="headers of each request to the url, such as Authorization"
    )
    tools: tuple[str, ...] | None = Field(
        None, description="tools that are offered to the model; all if not set"
    )
    always: tuple[str, ...] = Field((), description="tools that are called without asking")

    @model_validator(mode="after")
    def _command_or_url(self) -> "McpServer":
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command or a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("a url begins with http:// or https://")
        return self


class McpSettings(Section):
    """The table [mcp]: servers of tools for the model."""

    servers: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,32}$")], McpServer
    ] = Field({}, description="MCP servers with tools for the model, as tables [mcp.servers.NAME]")


class ServerSettings(Section):
    """The settings that every provider with a server has."""

    timeout: float = Field(120, gt=0, le=86_400, description="seconds to wait for the first token")
    stall_timeout: float = Field(
        60, gt=0, le=86_400, description="seconds to wait for each further token"
    )
    allow_insecure: bool = Field(
        False, description="whether a key may go over plain http to another machine"
    )


class KeyedSettings(ServerSettings):
    """The settings that every provider with an API key has: the address of the server, and the
    environment variable with the key. A provider repeats both fields with its own defaults and
    descriptions.
    """

    base_url: str = ""
    key_variable: str


class Config(Section):
    """All settings but those of providers, validated. `config_schema` adds the tables of the
    providers that are used.
    """

    model: str = Field("offline", description="model to use: PROVIDER or PROVIDER/NAME")
    vault: VaultSettings = VaultSettings()
    store: StoreSettings = StoreSettings()
    llm: LlmSettings = LlmSettings()
    chat: ChatSettings = ChatSettings()
    terminal: TerminalSettings = TerminalSettings()
    context: ContextSettings = ContextSettings()
    references: ReferenceSettings = ReferenceSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    memory: MemorySettings = MemorySettings()
    semantic: SemanticSettings = SemanticSettings()
    mcp: McpSettings = McpSettings()
