"""Values and sessions for tests: a real vault, a real store, a scripted or offline model, a clock
that ticks and ids that count.
"""

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zkchat_cli import tools
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_assembly import assemble_prompt
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.recall import RecallIndex, recall_passages
from zkchat_cli.context.turns import Turn, TurnHistory, make_turns
from zkchat_cli.errors import UsageError
from zkchat_cli.events import Event, TextDelta, TurnCompleted, TurnFailed, TurnOutcome
from zkchat_cli.llm.base import Delta, Model, Request, StreamFinished, Window
from zkchat_cli.llm.providers.offline import OfflineModel
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ToolCall, ZkChatMessage, split_into_exchanges
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import (
    BudgetStatus,
    CompactionDue,
    ContextUsage,
    Prompt,
    PromptMessage,
)
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault.vault import Vault

NOON = "2025-05-08T12:00:00+00:00"
SERVICES = {field.name for field in fields(SessionServices)}
COUNTER = TokenCounter()
"""One for all tests, because loading the vocabulary takes a quarter of a second."""


@contextmanager
def without_tracer() -> Iterator[None]:
    """Without coverage's tracer, in threads that begin here, too."""
    tracer = sys.gettrace()
    tracer_of_threads = threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.settrace(tracer)
        threading.settrace(tracer_of_threads)  # type: ignore[arg-type]


@contextmanager
def takes_less_than(seconds: float) -> Iterator[None]:
    """Of processor time: a busy machine does not count, nor does coverage's tracer."""
    with without_tracer():
        began = time.process_time()
        yield
        assert time.process_time() - began < seconds


class CountingIds:
    """`m1`, `m2`, …"""

    def __init__(self, prefix: str = "m") -> None:
        self._prefix = prefix
        self._numbers = count(1)

    def __call__(self) -> str:
        return f"{self._prefix}{next(self._numbers)}"


class TickingClock:
    """Monotonic seconds, a millisecond more with each call; `advance` adds some."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 0.001
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


@dataclass
class DeltaModel(Model):
    """A model that streams the given deltas, one list per call and then the last one again, or what
    `answer` makes of a request; it keeps its requests.
    """

    calls: Sequence[Sequence[Delta]] = ()
    name: str = "deltas"
    window: Window | None = None
    exact: bool = True
    requests: list[Request] = field(default_factory=list)
    closed: int = 0
    answer: Callable[[Request], Iterable[Delta]] | None = None

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        self.requests.append(request)
        try:
            yield from (
                self.answer(request)
                if self.answer
                else self.calls[min(len(self.requests), len(self.calls)) - 1]
            )
        finally:
            self.closed += 1


def reply(*texts: str) -> list[Delta]:
    """The deltas of an answer in these pieces."""
    return [*map(TextDelta, texts), StreamFinished("stop")]


def tool_reply(*wanted: ToolCall, text: str = "") -> list[Delta]:
    """The deltas of a reply that calls tools."""
    return [*([TextDelta(text)] if text else []), StreamFinished("tool_calls", calls=wanted)]


def find_call(query: str, id_: str = "call-1-1") -> ToolCall:
    return ToolCall(id=id_, name="find_excerpts", arguments={"query": query})


def cannot_open(name: str, *_: object) -> Any:
    raise UsageError(f"a test without {name}", "Pass `open_model` or `open_agent`.")


def open_store_in_memory() -> ChatSessionStore:
    return ChatSessionStore.open(None)


@dataclass
class AppFixture:
    """The vault, store and settings that the sessions of one test share."""

    vault: Vault
    store: ChatSessionStore
    settings: Config = field(default_factory=Config)
    max_context: int = 32768
    strategy: str = "hybrid"
    new_id: Callable[[], str] = field(default_factory=CountingIds)
    clock: TickingClock = field(default_factory=TickingClock)
    # Opens an empty store, for tests that need many
    new_store: Callable[[], Any] = open_store_in_memory

    def session(
        self, model: Model | None = None, conversation: Conversation | None = None, **changes: Any
    ) -> ZkChatSession:
        return ZkChatSession(self.services(**changes), self.runtime(model, **changes), conversation)

    def services(self, **changes: Any) -> SessionServices:
        values = {
            "vault": self.vault,
            "store": self.store,
            "now": lambda: NOON,
            "clock": self.clock,
            "new_id": self.new_id,
        }
        return SessionServices(
            **values | {name: value for name, value in changes.items() if name in SERVICES}
        )

    def runtime(self, model: Model | None = None, **changes: Any) -> Runtime:
        """`max_context` and `retrieval` are settings, `strategy` a name; the other changes are
        fields of the runtime.

        By default the model searches with tools, however small the window.
        """
        settings = changes.get("settings", self.settings)
        updates = {
            "context": settings.context.model_copy(
                update={"max_tokens": changes.get("max_context", self.max_context)}
            ),
            "retrieval": settings.retrieval.model_copy(
                update={"mode": changes.get("retrieval", "tools")}
            ),
        }
        model = model or OfflineModel()
        values = {
            "model": model,
            # Room in small windows
            "tools": tuple(tool for tool in tools.load_tools() if tool.scope == "notes"),
            "settings": settings.model_copy(update=updates),
            "counter": COUNTER,
            "open_model": cannot_open,
            "open_agent": cannot_open,
        }
        values |= {
            name: value
            for name, value in changes.items()
            if name not in {*SERVICES, "settings", "max_context", "retrieval"}
        }
        return Runtime(
            **values | {"strategy": strategies.strategy(changes.get("strategy", self.strategy))}
        )

    def reopen(
        self, session: ZkChatSession, model: Model | None = None, **changes: Any
    ) -> ZkChatSession:
        """The same conversation, as another process would open it."""
        return self.session(
            model or session.runtime.model,
            self.store.conversation(session.conversation.id),
            **changes,
        )

    def close(self) -> None:
        self.store.close()
        self.vault.close()


def open_vault(folder: Path, index_folder: Path) -> Vault:
    """These notes, with their index."""
    vault = Vault.open(folder, index_folder)
    vault.refresh()
    return vault


def prompt_of(
    history: Sequence[ZkChatMessage] = (),
    question: str = "",
    window: int = 32768,
    strategy: str = "hybrid",
    **more: Any,
) -> Prompt:
    current = (message("user", question, "now", status="pending"),) if question else ()
    inputs = PromptInputs(
        **{
            "instructions": "Cite.",
            "history": make_history(history, COUNTER),
            "current": current,
            **more,
        }
    )
    return assemble_prompt(
        inputs,
        Budget.from_settings(ContextSettings(), window),
        strategies.strategy(strategy),
        COUNTER,
    )


def make_app(
    vault_folder: Path, index_folder: Path, store_file: Path | None = None, **changes: Any
) -> AppFixture:
    return AppFixture(
        open_vault(vault_folder, index_folder),
        open_store(store_file or index_folder.with_name(f"{index_folder.name}-store.db")),
        **changes,
    )


def open_store(file: Path) -> ChatSessionStore:
    """The store at `file`; a new one is a copy of an empty one, because creating its tables takes
    as long as the rest.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_empty_store())
    return ChatSessionStore.open(file)


@cache
def _empty_store() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "store.db"
        ChatSessionStore.open(file).close()
        return file.read_bytes()


def run_turn(turn: Iterator[Event]) -> tuple[list[Event], TurnOutcome]:
    """Run a turn to its end: all events, and the last one."""
    events = list(turn)
    last = events[-1]
    assert isinstance(last, TurnCompleted | TurnFailed)
    return events, last


def report_of(turn: Iterator[Event]) -> TurnReport:
    _, last = run_turn(turn)
    assert isinstance(last, TurnCompleted), last
    return last.report


def answer_to(app: AppFixture, message: str) -> str:
    """The answer to the first message of a new conversation."""
    return report_of(app.session().send(message)).answer


def failure_of(turn: Iterator[Event]) -> TurnFailed:
    _, last = run_turn(turn)
    assert isinstance(last, TurnFailed), last
    return last


def prompt_texts(session: ZkChatSession) -> list[str]:
    return [m.content for m in session.prompt().messages[1:]]


def stored_log(session: ZkChatSession) -> list[tuple[str, str, str]]:
    """Role, status and content of all stored messages."""
    return [(m.role, m.status, m.content) for m in session.store.log(session.conversation.id)]


def run_until(turn: Generator[Event, None, None], wanted: type) -> Any:
    """Run a turn up to the first event of a kind."""
    return next(event for event in turn if isinstance(event, wanted))


def chunk(
    number: int | None = 1, text: str = "Filters say which tasks you want to see.", **more: Any
) -> ContentChunk:
    values: dict[str, Any] = {
        "id": f"c{number}",
        "relative_path": "Filters.md",
        "title": "Filters",
        "start_line": 5,
        "number": number,
        "text": text,
    }
    values |= more
    return ContentChunk.model_validate(
        {"end_line": values["start_line"] + text.count("\n"), **values}
    )


def message(role: str, content: str, id_: str, **more: Any) -> ZkChatMessage:
    return ZkChatMessage.model_validate(
        {"id": id_, "role": role, "content": content, "timestamp": NOON, **more}
    )


def exchanges(*pairs: tuple[str, str], prefix: str = "t") -> tuple[ZkChatMessage, ...]:
    """A history of questions and answers."""
    messages: list[ZkChatMessage] = []
    for i, (question, answer) in enumerate(pairs, 1):
        for role, content in (("user", question), ("assistant", answer)):
            parent = messages[-1].id if messages else None
            messages.append(
                message(
                    role,
                    content,
                    f"{prefix}{i}-{role[0]}",
                    parent_id=parent,
                    timestamp=f"2025-05-{i % 28 + 1:02d}T12:00:00Z",
                )
            )
    return tuple(messages)


def make_history(messages: Iterable[ZkChatMessage], counter: TokenCounter) -> TurnHistory:
    return make_turns(split_into_exchanges(messages), counter)


def split_into_turns(messages: Iterable[ZkChatMessage], counter: TokenCounter) -> tuple[Turn, ...]:
    """The turns that can be sent."""
    return make_history(messages, counter).turns


def turns(*pairs: tuple[str, str]) -> tuple[Turn, ...]:
    return split_into_turns(exchanges(*pairs), COUNTER)


def recall_texts(question: str, among: Sequence[Turn], room: int = 1000) -> list[str]:
    """The passages that recall finds in some turns, with their speakers."""
    index = RecallIndex()
    index.update(among)
    fixed = [id_ for turn in among for id_ in turn.fixed_ids]
    return [
        passage.text_with_speaker
        for passage in recall_passages(index, question, len(among), room, COUNTER, fixed)[0]
    ]


def store_conversation(
    store: ChatSessionStore, id_: str, *messages: ZkChatMessage, vault: str = "/notes", **more: Any
) -> None:
    """Begin a conversation with these messages."""
    store.start(
        Conversation(**{"id": id_, "vault": vault, "created_at": NOON, "updated_at": NOON, **more})
    )
    for each in messages:
        store.add(id_, each)


def resume(app: AppFixture, history: Sequence[ZkChatMessage], **changes: Any) -> ZkChatSession:
    """Store a conversation with this history and open a session on it."""
    id_ = app.new_id()
    store_conversation(app.store, id_, *history, vault=str(app.vault.root))
    return app.session(conversation=app.store.conversation(id_), **changes)


def make_compaction(summary: str | None, last_id: str, **more: Any) -> Compaction:
    tokens = COUNTER.count(summary or "")
    values = {
        "id": "s1",
        "created_at": NOON,
        "last_id": last_id,
        "tokens_before": 9,
        "tokens_after": 8,
        "messages_folded": 2,
    }
    return Compaction.model_validate(
        {**values, "summary": summary, "summary_tokens": tokens, "mode": "extractive", **more}
    )


def compact_session(session: ZkChatSession, compaction: Compaction) -> ZkChatSession:
    """Store this compaction and open the conversation again."""
    session.store.compact(session.conversation.id, compaction)
    return session.open_conversation(session.conversation.id)


def prompt_message(
    role: str, content: str, kind: str = "conversation", **more: Any
) -> PromptMessage:
    values = {
        "role": role,
        "content": content,
        "kind": kind,
        "tokens": 1,
        "source_ids": (content[:8],),
    }
    return PromptMessage.model_validate({**values, **more})


def make_usage(total: int, *, due: bool = False) -> ContextUsage:
    """A window of 32,768 tokens, of which the conversation takes so many."""
    share = BudgetStatus(used=0, budget=1, percentage=0)
    return ContextUsage(
        system_tokens=0,
        tool_tokens=0,
        message_tokens=total,
        total_tokens=total,
        available_tokens=max(0, 29491 - total),
        max_context=32768,
        effective_limit=29491,
        estimated=False,
        message_breakdown={"conversation": total},
        budget_status={"system": share, "tools": share, "messages": share},
        compaction=CompactionDue(due=due, at=23592, tokens=27_000 if due else total),
    )
