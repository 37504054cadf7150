"""Settings in layers: defaults < user file < `.zkchat.toml` in the vault < the agent in use < environment < flags.

Each layer is flattened to dotted keys before it is merged, so that every value still knows where it came from: an error can name the
file, the key, the wrong value and the valid ones, and `config show` can say who set what.

A drawer's things may have tables of their own, declared in their files: who knows the drawers passes the whole as `schema`.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, field_validator, model_validator


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: object, info: ValidationInfo) -> object:
        """Python takes true for 1; in a settings file it is a slip."""
        if isinstance(value, bool) and cls.model_fields[info.field_name or ""].annotation in (int, float):
            raise ValueError("true and false are not numbers")
        return value


S = TypeVar("S", bound=Section)


class VaultSettings(Section):
    path: str = Field("", description="folder of notes to chat with; empty: --vault, ZKCHAT_VAULT or the current folder")
    ignore: tuple[str, ...] = Field((), description="globs of notes that are not indexed, as ['Templates/*']")

    git: bool = Field(False, description="commit each change that a model makes with --unsafe, where the vault is in a git repository")

    @field_validator("ignore", mode="before")
    @classmethod
    def _comma_separated(cls, value: object) -> object:
        """An environment variable is one string: `Templates/*,Archive/*`."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class LlmSettings(Section):
    max_tool_rounds: int = Field(10, ge=1, le=100, description="tool calls the model may make in a row before it must answer")
    max_output_tokens: int = Field(0, ge=0, le=10_000_000, description="longest answer in tokens; 0: as long as the model will")
    temperature: float = Field(-1, ge=-1, le=2, description="how freely the model chooses its words; below 0: its own default")
    reasoning_effort: str = Field(
        "",
        pattern="^(|low|medium|high)$",
        description="how long a model that reasons may do so: low, medium or high; empty: its own default",
    )


class ContextSettings(Section):
    strategy: str = Field("hybrid", description="what is sent when the window fills: hybrid, summarize or discard")
    max_tokens: int = Field(
        32768, ge=512, le=1_000_000_000, description="context window in tokens; a known model's own window when not set"
    )
    message_budget_ratio: float = Field(0.6, gt=0, le=1, description="share of the window for messages")
    tool_budget_ratio: float = Field(0.3, ge=0, le=1, description="share of the window for tool descriptions")
    system_budget_ratio: float = Field(0.1, ge=0, le=1, description="share of the window for instructions")
    auto_summarize: bool = Field(True, description="summarise older turns when the window fills")
    summarization_threshold: float = Field(
        0.8,
        gt=0,
        le=1,
        description="share of the limit at which older turns are summarised, if messages have not outgrown their share before",
    )
    recent_messages_to_keep: int = Field(10, ge=0, description="newest messages that a summary leaves word for word")
    summary_ratio: float = Field(0.3, gt=0, le=1, description="largest share of the limit a summary may take")
    injection_ratio: float = Field(0.2, ge=0, le=1, description="largest share of the room left that one document may take whole")
    memory_integration: bool = Field(True, description="send memory with messages, and look through earlier conversations")
    tool_filter: str = Field(
        "auto", pattern="^(auto|off)$", description="leave out tools that a message does not need: auto (where room is scarce) or off"
    )
    show_token_count: bool = Field(True, description="show the budget bar in the toolbar, and below each answer what it took")

    @model_validator(mode="after")
    def _shares_add_up(self) -> "ContextSettings":
        total = self.message_budget_ratio + self.tool_budget_ratio + self.system_budget_ratio
        if total > 1.0001:
            raise ValueError(f"the three budget ratios add up to {total:.2f}; together they may take at most 1")
        return self


class ChatSettings(Section):
    show_reasoning: bool = Field(True, description="show a model's reasoning, dimmed, before its answer")
    model_titles: bool = Field(True, description="let the model name a new conversation, in the background")


class TerminalSettings(Section):
    open_command: str = Field("", description="what /open runs, with {path} and {line}; empty: $VISUAL, $EDITOR or a pager")
    editing_mode: str = Field("emacs", pattern="^(emacs|vi)$", description="keys that edit the line being typed: emacs or vi")
    theme: str = Field(
        "auto",
        pattern="^(auto|dark|light|plain)$",
        description="background that colours are chosen for: auto, dark or light; plain: no colours",
    )
    ascii: bool = Field(False, description="draw bars, lines and marks in ASCII")


class ReferenceSettings(Section):
    max_displayed: int = Field(10, ge=1, description="sources listed after an answer")
    link_style: str = Field(
        "file", pattern="^(file|obsidian|none)$", description="what opens the path of a source: file (the system), obsidian or none"
    )
    model_summaries: bool = Field(False, description="let the model describe notes that say nothing about themselves, in the background")
    import_max_kilobytes: int = Field(512, ge=1, le=1_000_000, description="largest file that @path takes into a message")


class MemorySettings(Section):
    project_file: str = Field(
        "ZKCHAT.md", description="memory file: the vault's is sent with every message, a folder's along with its notes; WILK.md likewise"
    )


class StoreSettings(Section):
    keep_days: int = Field(0, ge=0, le=100_000, description="days after which an untouched conversation is deleted; 0: never")


class SemanticSettings(Section):
    provider: str = Field("none", description="who computes vectors for search by meaning: none, ollama, openai or onnx")
    model: str = Field("", description="embedding model; empty: nomic-embed-text (ollama), text-embedding-3-small (openai)")
    path: str = Field("", description="the model's .onnx file, for onnx; its tokenizer.json lies beside it")


class Config(Section):
    """All settings, validated. Keys and defaults are the ones of the README's table."""

    model: str = Field("offline", description="who answers: PROVIDER or PROVIDER/NAME")
    vault: VaultSettings = VaultSettings()
    llm: LlmSettings = LlmSettings()
    chat: ChatSettings = ChatSettings()
    terminal: TerminalSettings = TerminalSettings()
    context: ContextSettings = ContextSettings()
    references: ReferenceSettings = ReferenceSettings()
    memory: MemorySettings = MemorySettings()
    store: StoreSettings = StoreSettings()
    semantic: SemanticSettings = SemanticSettings()


def with_tables(tables: Mapping[str, type[Section]]) -> type[Config]:
    """The settings with further tables, each by its name; a table without a setting is left out."""
    fields: dict[str, Any] = {name: (table, table()) for name, table in tables.items() if table.model_fields}
    return create_model("Config", __base__=Config, __doc__=Config.__doc__, **fields)
