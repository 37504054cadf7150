"""What the models on a server have in common: the list of models, the context window, and calls
that are made again without what the model refuses.
"""

import json
import threading
from abc import abstractmethod
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

from zkchat_cli.config.schema import ServerSettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import TextDelta, TextWithdrawn
from zkchat_cli.llm import base
from zkchat_cli.llm.base import Delta, Emit, Model, ModelInfo, Request, Window
from zkchat_cli.llm.chat_reader import ChatReader
from zkchat_cli.llm.http_client import UNREADABLE, Endpoint
from zkchat_cli.llm.known_models import usable_window
from zkchat_cli.llm.marked_text import MarkSplitter
from zkchat_cli.llm.model_list import find_listed, read_model_list
from zkchat_cli.llm.model_reports import ModelReport, ModelReports
from zkchat_cli.llm.refusals import Refusal
from zkchat_cli.llm.threaded_stream import StreamLimits, stream_in_thread
from zkchat_cli.llm.written_calls import read_written_calls
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.text.numbers import whole_number

# Longest time in seconds to wait for a count of tokens
COUNT_SECONDS = 20.0
# Keys of a request's body that cost tokens
COUNTED = frozenset({"model", "messages", "input", "system", "tools", "tool_choice", "thinking"})
NO_IMAGES = "pictures"
REMEMBERED = "remembered until the server answers"


@dataclass
class RemoteModel(Model):
    """One model on one server, which a gateway of mojentic calls. `reader` reads what it sends."""

    has_server = True
    plain_excerpts = True
    provider: ClassVar[str]
    # The path of a call, after the server's address
    path: ClassVar[str]
    list_path: ClassVar[str]
    # The path, after `path`, at which the server counts tokens; empty for one that does not
    count_path = ""
    reader: ClassVar[type[ChatReader]]
    # Whether the server counts the tokens of pictures, too
    counts_images: ClassVar[bool] = False
    # The gateway of mojentic: its engine and its decoder, whatever form the server's answer has
    gateway: ClassVar[Literal["openai", "ollama"]] = "openai"
    # What it may refuse, and how a call goes without that
    refusals: ClassVar[tuple[Refusal, ...]] = ()
    model: str
    server: Endpoint
    settings: ServerSettings
    # Seconds before the second attempt if the server names none; twice as long before the third
    first_delay: float = 1.0
    window: Window | None = None
    calls_tools: bool | None = None
    takes_images: bool | None = None
    known_from: str = "its server"
    # The parts that it has refused once; they are not sent again
    refused: list[Refusal] = field(default_factory=list)
    # What servers have said about their models in earlier processes, too
    reports: ModelReports = field(default_factory=ModelReports)
    # The names of the refusals of tools and of pictures
    _refused_kinds: set[str] = field(default_factory=set)
    # Refusals in earlier processes that the user has not been told yet
    _untold: list[Refusal] = field(default_factory=list)
    _prepared: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.name = f"{self.provider}/{self.model}"
        self.exact = False
        self._default_window = self.window

    def find_window(self) -> Window | None:
        """The context window that the server, or a table, names. Raises ProviderError, and
        UNREADABLE for an answer of another form.
        """
        found = find_listed(self.model, self.list_models())
        if found is not None and found.takes_images is not None:
            self.takes_images = found.takes_images
        if found is None or not found.window:
            return None
        return Window(found.window, "the server's list of models")

    def list_models(self) -> tuple[ModelInfo, ...]:
        """The models that the server lists, by name. Raises ProviderError."""
        answer = self.server.fetch(self.list_path)
        try:
            return read_model_list(answer)
        except UNREADABLE as e:
            raise self.server.error(
                "bad_answer",
                "answered with something that is not a list of models",
                self.server.check,
            ) from e

    @abstractmethod
    def full_body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a call, with the parts that the model may have refused."""

    def prepare(self) -> None:
        """Load mojentic, and find the window; only the first call does something.

        As long as the server does not answer, what it said last is valid.
        """
        if self.config_error() is not None:
            # The first call reports it
            return
        # A second thread waits for the window, too: it needs the window to build the same prompt
        with self._lock:
            # Deferred: it takes a second, which no command without a call should pay
            from zkchat_cli.llm.gateways import server_call  # noqa: F401

            if self._prepared:
                return
            self._prepared = True
            self._use_last_report()
            try:
                found = self.find_window()
            except UNREADABLE:
                return  # The first call reports it
            except ProviderError as e:
                # The next turn asks a server again that is only starting
                self._prepared = e.kind not in ("connection", "server")
                return
            self.window = usable_window(found) or self._default_window
            self._use_refused_kinds()
            self._remember()

    @property
    def _no_tools(self) -> str:
        """The name of the refusal of tools, which depends on the API."""
        return f"tools by {self.path}"

    def _use_refused_kinds(self) -> None:
        """What was refused before counts if the server does not list the contrary."""
        if self.calls_tools is None and self._no_tools in self._refused_kinds:
            self.calls_tools = False
            self.known_from = "its server, which has refused tools"
        if self.takes_images is None and NO_IMAGES in self._refused_kinds:
            self.takes_images = False

    def _remember(self) -> None:
        """Remember what is known about the model now for later processes."""
        window = self.window
        report = ModelReport(
            window=None if window is None else window.tokens,
            source="" if window is None else window.source.removesuffix(f", {REMEMBERED}"),
            calls_tools=self.calls_tools,
            takes_images=self.takes_images,
            refused=(*(refusal.name for refusal in self.refused), *sorted(self._refused_kinds)),
        )
        self.reports.remember(self.name, self.server.address, report)

    def _use_last_report(self) -> None:
        """Use what the server said last about this model, until it answers."""
        last = self.reports.find(self.name, self.server.address)
        if last is None:
            return
        if last.window is not None:
            self.window = Window(last.window, f"{last.source}, {REMEMBERED}")
        self.calls_tools = last.calls_tools
        self.takes_images = last.takes_images
        self._refused_kinds.update({self._no_tools, NO_IMAGES} & {*last.refused})
        for refusal in self.refusals:
            if refusal.name in last.refused and refusal not in self.refused:
                self.refused.append(refusal)
                self._untold.append(refusal)

    def config_error(self) -> ProviderError | None:
        """The error, before any call, if the model has no name or its server cannot be called."""
        if not self.model:
            hint = f"Use {self.provider}/NAME; /model and zkchat doctor list the models."
            return ProviderError(
                "unknown_model", f"{self.provider} needs the name of a model", hint
            )
        return self.server.config_error()

    def body(self, request: Request) -> dict[str, Any]:
        """The JSON body of a call, without what the model has refused before."""
        body = self.full_body(base.with_wire_names(request))
        for refusal in self.refused:
            refusal.change(body)
        return body

    def count_tokens(self, request: Request) -> int | None:
        """The tokens of a request by the server's count; None if it does not count. A server that
        turns out not to count is not asked again.
        """
        has_images = any(message.images for message in request.messages)
        if not self.count_path or (has_images and not self.counts_images):
            return None
        try:
            body = self.body(request)
            counted = {name: body[name] for name in body if name in COUNTED}
            return self.ask_count(counted)
        except UNREADABLE:
            self.count_path = ""
        except ProviderError as e:
            if e.kind != "timeout":
                self.count_path = ""
        return None

    def ask_count(self, body: dict[str, Any]) -> int | None:
        """The tokens of a body by the server's count. Raises ProviderError, and one of `UNREADABLE`
        for an answer of another form.
        """
        answer = self.server.fetch(self.path + self.count_path, body, seconds=COUNT_SECONDS)
        return whole_number(answer["input_tokens"], least=1)

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        """The deltas of a call. It is made again without what the model refuses; mojentic repeats
        it after faults that may pass.
        """
        if config_error := self.config_error():
            yield base.StreamFailed(config_error)
            return
        told = self._remembered_refusal(request)
        while True:
            error = yield from self._call(request, told)
            if error is None:
                return
            error = self.interpret_refusal(error, request)
            if error.kind == "no_tools":
                self.calls_tools = False
                self._refused_kinds.add(self._no_tools)
            if error.kind == "no_images":
                self.takes_images = False
                self._refused_kinds.add(NO_IMAGES)
            refusal = self._new_refusal(error)
            if refusal is None:
                if error.kind in ("no_tools", "no_images"):
                    self._remember()
                yield base.StreamFailed(error)
                return
            self.refused.append(refusal)
            self._remember()
            told = refusal if refusal.notice else told

    def interpret_refusal(
        self,
        error: ProviderError,
        request: Request,  # noqa: ARG002
    ) -> ProviderError:
        """The error of a call as another one, if it means something else after earlier refusals."""
        return error

    def _remembered_refusal(self, request: Request) -> Refusal | None:
        """A refusal in an earlier process that changes this request, and is told now."""
        if not self._untold:
            return None
        body = self.full_body(base.with_wire_names(request))
        for refusal in self._untold:
            before = json.dumps(body)
            refusal.change(body)
            if refusal.notice and json.dumps(body) != before:
                self._untold.remove(refusal)
                return refusal
        return None

    def _call(
        self, request: Request, told: Refusal | None
    ) -> Generator[Delta, None, ProviderError | None]:
        """One call: yields its deltas, and returns the error if it failed. `told` is the refusal
        that the end of the answer tells the user.
        """
        names = {base.wire_name(tool.name): tool.name for tool in request.tools}
        limits = StreamLimits(
            self.settings.timeout,
            self.settings.stall_timeout,
            request.options.max_answer_bytes,
        )
        call = partial(self._stream_from_server, request)
        with closing(stream_in_thread(call, self.server, limits)) as deltas:
            for delta in deltas:
                if isinstance(delta, base.StreamFailed):
                    return delta.error
                if isinstance(delta, base.StreamFinished):
                    read = self._read_written(delta, request)
                    yield from read.deltas
                    if read.error is not None:
                        return read.error
                    delta = _with_own_names(read.end, names)
                    if told is not None:
                        delta = delta._replace(
                            notice=delta.notice or told.notice, hint=delta.hint or told.hint
                        )
                yield delta
        return None

    def _read_written(self, end: base.StreamFinished, request: Request) -> "_ReadEnd":
        """The end of an answer with the calls that the model has written as text; or their text, if
        it is an answer; or the error, if they cannot be run.
        """
        if not end.written:
            return _ReadEnd(end)
        read = read_written_calls(end.written, base.with_wire_names(request).tools)
        if read is None:
            text = "\n".join(each.text for each in end.written)
            return _ReadEnd(end._replace(written=()), (TextDelta(text),))
        calls = (*end.calls, *read.calls)
        if calls:
            return _ReadEnd(end._replace(reason="tool_calls", calls=calls, written=()))
        if end.reason == "length":
            return _ReadEnd(end._replace(written=()))
        error = ProviderError(
            "no_tools",
            f"{self.name} wrote a tool call as text, and no tool fits it",
            "zkchat searches the notes for it.",
        )
        return _ReadEnd(end, (TextWithdrawn(),), error)

    def _new_reader(self, request: Request, endpoint: Endpoint) -> ChatReader:
        reader = self.reader(endpoint)
        reader.marks = MarkSplitter(holds_json=bool(request.tools))
        return reader

    def _new_refusal(self, error: ProviderError) -> Refusal | None:
        """The refusal that an error reports, if it did not come before."""
        if error.kind != "bad_request":
            return None
        for refusal in self.refusals:
            if refusal not in self.refused and refusal.wording.search(error.message):
                return refusal
        return None

    async def _stream_from_server(self, request: Request, emit: Emit) -> None:
        # Deferred: see prepare
        from zkchat_cli.llm.gateways.server_call import ServerCall

        body = json.dumps(self.body(request), ensure_ascii=False)
        call = ServerCall(
            self.server,
            self.path,
            body.encode("utf-8", "replace"),
            self.gateway,
            partial(self._new_reader, request),
            self.first_delay,
            self._explain,
        )
        await call.run(emit)

    def _explain(self, error: ProviderError) -> ProviderError:
        """An error with the names of the models that the server has, if it lacks this one."""
        if error.kind == "unknown_model":
            better = self.check()
            if better is not None and better.kind == "unknown_model":
                return better
        return error

    def check(self) -> ProviderError | None:
        """Why a call would fail, as far as the key, the address and the list of models show it."""
        if error := self.config_error():
            return error
        with self._lock:
            try:
                listed = self.list_models()
            except ProviderError as e:
                # A server without a list of models may still answer
                return None if e.kind in ("unknown_model", "bad_answer") else e
        if not listed or find_listed(self.model, listed):
            return None
        return self.server.unknown_model(self.model, [model.name for model in listed])


class _ReadEnd(NamedTuple):
    """The end of an answer with the deltas before it, or the error that it is instead."""

    end: base.StreamFinished
    deltas: tuple[Delta, ...] = ()
    error: ProviderError | None = None


def _with_own_names(end: base.StreamFinished, names: dict[str, str]) -> base.StreamFinished:
    """The end of an answer with zkchat's own names of the tools that it calls."""

    def with_own_name(call: ToolCall) -> ToolCall:
        return call.model_copy(update={"name": names.get(call.name, call.name)})

    return end._replace(calls=tuple(map(with_own_name, end.calls)))
