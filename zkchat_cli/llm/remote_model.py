"""What the models on a server have in common: settings, the stream on its own thread, the model
list, and for some a key.
"""

import logging
import queue
import re
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

from zkchat_cli.config.schema import KeyedSettings, ServerSettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ReasoningDelta, TextDelta, Waiting
from zkchat_cli.llm import base
from zkchat_cli.llm.base import Delta, Emit, Model, ModelConfig, ModelInfo, Request, Window
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.http_client import ROLES_REFUSED, UNREADABLE, Endpoint
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped
from zkchat_cli.text.numbers import whole_number

COUNT_SECONDS = 20.0
# Parts of a request
COUNTED = frozenset({"model", "messages", "input", "system", "tools", "tool_choice", "thinking"})
# The owner of their models, as they list them
LLAMA_CPP = "llamacpp"
LM_STUDIO = "organization_owner"
WINDOW_KEYS = (
    "max_input_tokens",  # Anthropic
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter
    "context_window",  # Groq
    "loaded_context_length",  # LM Studio
    "max_context_length",  # LM Studio
    "n_ctx",  # llama.cpp, in a table `meta`
)
"""Where the servers' lists of models have a model's window."""
MAX_WINDOW = 1_048_576
"""Tokens of a reported window that are used unless the user sets more: a larger figure is more
often a mistake than a window.
"""
# How long a leaving reader waits for the connection to close
CLOSE_SECONDS = 0.1
_LIMITED: dict[type, str] = {
    TextDelta: "the answer",
    ReasoningDelta: "the reasoning",
    int: "the text of the tool calls",
}
Call = Callable[[Emit], Coroutine[Any, Any, None]]
_log = logging.getLogger(__name__)


class Refusal(NamedTuple):
    """A part of a request that some models or their templates refuse: the server's wording, and
    what is changed in the body then.
    """

    wording: re.Pattern[str]
    change: Callable[[dict[str, Any]], object]
    notice: str = ""
    hint: str = ""


def leave_out(*names: str) -> Callable[[dict[str, Any]], object]:
    return lambda body: [body.pop(name, None) for name in names]


def merge_messages(body: dict[str, Any], *, system: str = "system") -> None:
    """Make one message of several in a row of the system or the user. For a template that knows
    only user and assistant, in turn, the `system` is the user: instructions begin the first
    message.
    """
    merged: list[dict[str, Any]] = []
    for message in body["messages"]:
        if message["role"] == "system":
            message["role"] = system
        if (
            merged
            and message["role"] in ("system", "user")
            and merged[-1]["role"] == message["role"]
        ):
            merged[-1]["content"] += f"\n\n{message['content']}"
        else:
            merged.append(message)
    body["messages"] = merged


ONE_SYSTEM_MESSAGE = Refusal(
    re.compile("(?i)system message must be at the beginning"), merge_messages
)
"""Qwen's templates take no second one, such as that with a memory file."""
ROLES_REFUSAL = Refusal(
    ROLES_REFUSED,
    partial(merge_messages, system="user"),
    "takes no system message, so its instructions were sent with the first message",
    "Small models may follow them less closely.",
)


@dataclass
class RemoteModel(Model):
    """One model on one server. mojentic calls it, imported by `prepare` or by the first call, and
    `reader` understands the stream.
    """

    has_server = True
    plain_excerpts = True
    provider: ClassVar[str]
    # Of a call, after the server's address
    path: ClassVar[str]
    list_path: ClassVar[str]
    # Where the server counts tokens, after `path`; empty if it turns out that it does not
    count_path = ""
    reader: ClassVar[type[ChatReader]]
    refusals: ClassVar[tuple[Refusal, ...]] = ()  # what it can do without
    model: str
    server: Endpoint
    settings: ServerSettings
    # Seconds before the second attempt if the server names none; twice as long before the third
    first_delay: float = 1.0
    window: Window | None = None
    calls_tools: bool | None = None
    known_from: str = "its server"
    # What it has refused once is not sent again
    refused: list[Refusal] = field(default_factory=list)
    _prepared: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.name = f"{self.provider}/{self.model}"
        self.exact = False

    def find_window(self) -> Window | None:
        """The context window that the server, or a table, names. Raises ProviderError, and
        UNREADABLE for an answer of another form.
        """
        found = self.find_listed(self.list_models())
        return (
            Window(found.window, "the server's list of models")
            if found is not None and found.window
            else None
        )

    def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the server lists, by name. Raises ProviderError."""
        answer = self.server.fetch(self.list_path)
        found = []
        try:
            # The latter from Ollama
            for row in answer["data" if "data" in answer else "models"] or ():
                # OpenRouter lists what a model can do
                parameters = row.get("supported_parameters")
                calls_tools = "tools" in parameters if isinstance(parameters, list) else None
                tables = [row, meta] if isinstance(meta := row.get("meta"), dict) else [row]
                sizes = [table[key] for table in tables for key in WINDOW_KEYS if table.get(key)]
                window = whole_number(sizes[0], least=1) if sizes else None
                name = row["id"] if "id" in row else row["name"]
                found.append(
                    ModelInfo(str(name), window, calls_tools, str(row.get("owned_by") or ""))
                )
        except UNREADABLE as e:
            raise self.server.error(
                "bad_answer",
                "answered with something that is not a list of models",
                self.server.check,
            ) from e
        return tuple(sorted(found, key=lambda model: model.name))

    @abstractmethod
    def full_body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a call, whatever the model refuses."""

    def find_listed(self, listed: Sequence[ModelInfo]) -> ModelInfo | None:
        """The model in its server's list: Ollama adds a tag, Gemini a folder, and OpenRouter lists
        no routing variants (`vendor/model:nitro`). Whatever it is called, llama.cpp answers with
        the one that it has loaded.
        """
        names = (
            self.model,
            f"{self.model}:latest",
            f"models/{self.model}",
            self.model.rpartition(":")[0],
        )
        found = next((model for name in names for model in listed if model.name == name), None)
        return (
            listed[0]
            if found is None and len(listed) == 1 and listed[0].server == LLAMA_CPP
            else found
        )

    def prepare(self) -> None:
        if self.config_error() is not None:
            return  # the first call reports it
        # Whoever comes second waits for the window, too: a prompt for another one would be another
        # prompt
        with self._lock:
            from zkchat_cli.llm import mojentic_adapter  # noqa: F401

            if self._prepared:
                return
            self._prepared = True
            try:
                found = self.find_window()
            except (ProviderError, *UNREADABLE) as e:
                # The first call reports it; the next turn asks a server again that is only starting
                self._prepared = not (
                    isinstance(e, ProviderError) and e.kind in ("connection", "server")
                )
                return
            if found is not None and found.tokens > MAX_WINDOW:
                found = Window(
                    MAX_WINDOW,
                    f"{found.source} has {found.tokens:,}; set context.max_tokens for more",
                )
            self.window = found or self.window

    def config_error(self) -> ProviderError | None:
        hint = f"Use {self.provider}/NAME; /model and zkchat doctor list the models."
        no_name = (
            None
            if self.model
            else ProviderError("unknown_model", f"{self.provider} needs the name of a model", hint)
        )
        return no_name or self.server.config_error()

    def body(self, request: Request) -> dict[str, Any]:
        body = self.full_body(base.with_wire_names(request))
        for refusal in self.refused:
            refusal.change(body)
        return body

    def count_tokens(self, request: Request) -> int | None:
        """Asks the server, until it turns out not to count."""
        if not self.count_path:
            return None
        try:
            return self.ask_count(
                {name: value for name, value in self.body(request).items() if name in COUNTED}
            )
        except (ProviderError, *UNREADABLE) as e:
            self.count_path = (
                self.count_path if isinstance(e, ProviderError) and e.kind == "timeout" else ""
            )
            return None

    def ask_count(self, body: dict[str, Any]) -> int | None:
        answer = self.server.fetch(self.path + self.count_path, body, seconds=COUNT_SECONDS)
        return whole_number(answer["input_tokens"], least=1)

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """The call is made again without what the model refuses but can do without, and after
        faults that may pass.
        """
        if error := self.config_error():
            yield base.StreamFailed(error)
            return
        names = {base.wire_name(tool.name): tool.name for tool in request.tools}
        limits = (
            self.settings.timeout,
            self.settings.stall_timeout,
            request.options.max_answer_bytes,
        )
        notice = ""
        hint = ""
        attempt = 1
        while True:
            reader = self.reader(self.server)
            with closing(
                stream_in_thread(partial(self._call, request, reader), self.server, *limits)
            ) as deltas:
                for delta in deltas:
                    match delta:
                        case base.StreamFinished():
                            named = (
                                call.model_copy(update={"name": names.get(call.name, call.name)})
                                for call in delta.calls
                            )
                            delta = delta._replace(
                                calls=tuple(named),
                                notice=delta.notice or notice,
                                hint=delta.hint or hint,
                            )
                        case base.StreamFailed(error):
                            break
                    yield delta
                else:
                    return
            if error.kind == "no_tools":
                self.calls_tools = False
            found = (
                each
                for each in self.refusals
                if each not in self.refused and each.wording.search(error.message)
            )
            if error.kind == "bad_request" and (refusal := next(found, None)):
                self.refused.append(refusal)
                notice, hint = (refusal.notice, refusal.hint) if refusal.notice else (notice, hint)
                continue
            from zkchat_cli.llm.mojentic_adapter import retry_delay  # the call has loaded it

            delay = None if reader.started else retry_delay(error, attempt, self.first_delay)
            if delay is None:
                yield base.StreamFailed(error)
                return
            end = time.monotonic() + delay
            attempt = attempt + 1
            while (left := end - time.monotonic()) > 0:
                yield Waiting(left, error.message)
                raise_if_stopped()
                time.sleep(min(1.0, left))

    async def _call(self, request: Request, reader: ChatReader, emit: Emit) -> None:
        from zkchat_cli.llm.mojentic_adapter import stream_chat  # see prepare

        await stream_chat(self, self.body(request), reader, emit)

    def check(self) -> ProviderError | None:
        if error := self.config_error():
            return error
        with self._lock:
            try:
                listed = self.list_models()
            except ProviderError as e:
                # A server without a list may answer all the same
                return None if e.kind in ("unknown_model", "bad_answer") else e
        if not listed or self.find_listed(listed):
            return None
        return self.server.unknown_model(self.model, [model.name for model in listed])


def stream_in_thread(
    call: Call, endpoint: Endpoint, timeout: float, stall_timeout: float, max_bytes: int
) -> Generator[Delta, None, None]:
    """The deltas that `call` emits on a thread of its own, exactly one of them final. Closing the
    generator cancels the call.

    A library may block where no signal reaches it (a slow name lookup, a silent server). The reader
    waits on a queue instead, and leaves within 0.2 s.

    It waits `timeout` seconds for the first delta, for which a model may have to be loaded, and
    `stall_timeout` for each further one. Only text, reasoning and tool calls count: a server that
    sends pings or empty deltas makes no progress. An answer whose text, reasoning or tool calls
    exceed `max_bytes` is cut there and finished with "length".
    """
    # 30 ms, which only a call of a server has to pay
    import asyncio

    deltas: queue.SimpleQueue[Delta | int] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(call(deltas.put))

    def run() -> None:
        try:
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        except ProviderError as e:
            deltas.put(base.StreamFailed(e))
        except Exception as e:  # noqa: BLE001, RUF100
            # A defect in a library or in zkchat must not end the conversation.
            _log.exception("the call failed")
            problem = f"could not be called: {type(e).__name__}: {e}"
            deltas.put(
                base.StreamFailed(endpoint.error("server", problem, "Run it again with --verbose."))
            )
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    thread = threading.Thread(target=run, name="model call", daemon=True)
    thread.start()
    rooms = dict.fromkeys(_LIMITED, max_bytes)
    seconds = timeout
    deadline = time.monotonic() + timeout
    try:
        while True:
            raise_if_stopped()
            try:
                delta = deltas.get(timeout=min(STOP_INTERVAL, seconds))
            except queue.Empty:
                if time.monotonic() < deadline:
                    continue
                delta = base.StreamFailed(endpoint.silent(seconds))
            match delta:
                case int():
                    rooms[int] -= delta
                case TextDelta(text) | ReasoningDelta(text):
                    encoded = text.encode("utf-8", "surrogatepass")
                    room = rooms[type(delta)]
                    rooms[type(delta)] = room - len(encoded)
                    yield (
                        delta
                        if len(encoded) <= room
                        else type(delta)(encoded[:room].decode("utf-8", "ignore"))
                    )
                case _:
                    yield delta
                    return
            if too_long := next((_LIMITED[kind] for kind, room in rooms.items() if room < 0), None):
                notice = f"{too_long} became longer than {max_bytes:,} bytes and was cut there"
                yield base.StreamFinished(
                    "length", notice=notice, hint="llm.max_answer_bytes sets the limit."
                )
                return
            seconds = seconds if isinstance(delta, int) else stall_timeout
            deadline = time.monotonic() + seconds
    finally:
        # The call has ended, and its loop is closed
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(task.cancel)
        thread.join(CLOSE_SECONDS)


class KeyedProvider(NamedTuple):
    """A company with an API at `address` that needs a key; compatible servers elsewhere may need
    none, and are called `other_name`. `headers` makes those for a key, and gets whether it is the
    company's own server.
    """

    name: str
    company: str
    address: str
    other_name: str
    headers: Callable[[str, bool], dict[str, str]]
    # An end of addresses to leave out, which some people copy with them
    path: str
    # What else to check about an address
    check: str = ""

    def server(self, config: ModelConfig, settings: KeyedSettings) -> Endpoint:
        variable = f"{self.name.upper()}_BASE_URL"
        given_address = config.env.get(variable, "").strip() or settings.base_url.strip()
        address = given_address.rstrip("/").removesuffix(self.path) or self.address
        official = address == self.address
        given = config.key.for_address("" if official else address)
        key = given.value or config.env.get(settings.key_variable, "").strip()
        key_name = "the key in zkchat's file" if given.source == "file" else settings.key_variable
        key_error = None
        if official and not key:
            hint = (
                f"Set it, or run zkchat keys set {self.name}; or set {variable} to a server "
                "that needs none."
            )
            key_error = ProviderError(
                "auth", f"{self.company} needs a key, and {settings.key_variable} is not set", hint
            )
        elif not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"{settings.key_variable} contains characters that are not valid in a key"
            key_error = ProviderError("auth", problem, "Set it again, and copy only the key.")
        key_status = f"{key_name} is {'set' if key else 'not set'}"
        if not key and any(config.key.stored.values()):
            key_status += (
                f"; the stored key is for another address (zkchat keys set {self.name} stores "
                "one for this)"
            )
        return Endpoint(
            self.company if official else self.other_name,
            address,
            "Check your network."
            if official
            else f"Is it running? Check {self.name}.base_url or {variable}{self.check}.",
            key=key,
            check_key=f"Check {key_name}.",
            headers=self.headers(key, official),
            table=self.name,
            allow_insecure=settings.allow_insecure,
            key_error=key_error,
            key_status=key_status,
            is_configured=bool(key) or not official,
        )


def bearer(key: str, _official: bool = False) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}
