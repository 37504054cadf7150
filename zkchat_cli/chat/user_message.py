"""A message of the user before it is stored: the agent that it mentions, the documents that it
names, and their text for the prompt.

Passages of the notes reach a turn in two ways: the model searches with tools, or zkchat searches
before the model is called. `choose_retrieval` decides by the setting, the model and its window.
"""

import difflib
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.budget import history_budget
from zkchat_cli.errors import PromptTooLarge, VaultError
from zkchat_cli.events import Notice
from zkchat_cli.llm.base import Model
from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.models.messages import RetrievalMode, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptMessage, Retrieval
from zkchat_cli.references.chunk_budget import rank_chunks, reduce_to_fit
from zkchat_cli.references.excerpts import chunk_tokens
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.references.injection import UNREADABLE_SHARE, describe_documents, inject
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.mentions import find_mentions
from zkchat_cli.summarization.sentence_scoring import find_learning_points
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, estimate_tokens
from zkchat_cli.tools.base import Tool

if TYPE_CHECKING:
    from zkchat_cli.llm.offline.question import AnalyzedQuestion

SMALL_WINDOW = 16_384
"""Tokens of a window up to which a model counts as small, and passages are found before the
question: tools would fill it.
"""
# Answers without a tool call after which a model counts as one that calls none
FIRST_ANSWERS = 2
# Answers of a model that are looked at for that
MOST_JUDGED = 10
# Results of a search, as in the offline provider
MOST_PASSAGES = 10
# Questions in which the subject of a follow-up is looked for
EARLIER_QUESTIONS = 5
# How similar to an agent's name a word must be to be taken for a misspelling of it: people are
# addressed by `@name`, too
SIMILAR = 0.7
# Names that are no files of which the user is told: a pasted text may have many
MOST_NAMED = 3
# Characters up to which a message is counted at each key, in under 2 ms; a longer one is estimated
MAX_COUNTED = 20_000
_AGENT_MENTION = re.compile(r"\s*(@[^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")
_WRITTEN_NAME = re.compile(rf"{WIKILINK}|(?<!\w)@[^\s]+")


def parse_agent_mention(text: str) -> str | None:
    """What may mention an agent at the start of a message: `@researcher what …`, `@researcher: what
    …`; not `@notes/plan` or `@plan.md`.
    """
    match = _AGENT_MENTION.match(text)
    return match[1] if match else None


class UserInput(NamedTuple):
    """What the user sent. `typed` is the part that was typed, where the rest came through a pipe:
    only that may import files, and only a message that was typed as a whole may mention an agent.
    """

    text: str
    typed: str | None = None
    mention: str | None = None
    # Who is to search the notes, instead of what the settings say
    retrieval: RetrievalMode | None = None
    # Those of the question that is asked again, as it was typed
    learning_points: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, text: str, typed: str | None = None) -> "UserInput":
        text = replace_surrogates(text)
        typed = None if typed is None else replace_surrogates(typed)
        return cls(text, typed, parse_agent_mention(text) if typed in (None, text) else None)


def choose_retrieval(
    wanted: RetrievalMode | Literal["auto"],
    model: Model,
    tools: Sequence[Tool],
    window: int,
    problem: str = "",
) -> Retrieval:
    """The mode for a value of `retrieval.mode`, and the reason. `problem` says why the model's tool
    calls are of no use.
    """
    if model.name == "offline":
        return Retrieval(mode="tools", reason="the offline provider searches by itself")
    if wanted != "auto":
        if tools or wanted == "before":
            return Retrieval(mode=wanted, reason="retrieval.mode")
        return Retrieval(
            mode="before" if wanted == "both" else "none",
            reason=f"retrieval.mode = {wanted}, without any tools",
        )
    if not tools:
        return Retrieval(mode="none", reason="this agent has no tools")
    if model.calls_tools is False:
        return Retrieval(
            mode="before", reason=f"{model.name} cannot call tools, as {model.known_from} says"
        )
    if problem:
        return Retrieval(mode="before", reason=problem)
    if window <= SMALL_WINDOW:
        writes = any(tool.writes for tool in tools)
        return Retrieval(
            mode="both" if writes else "before",
            reason=f"a window of {window:,} tokens is too small for tools alone",
        )
    return Retrieval(
        mode="tools", reason=f"the model can call tools, in a window of {window:,} tokens"
    )


class UserMessageBuilder:
    def __init__(
        self, services: SessionServices, state: ConversationState, prompts: PromptBuilder
    ) -> None:
        self._services = services
        self._state = state
        self._prompts = prompts
        # Whether the notes have passages for a question, by its id
        self._found: dict[str, bool] = {}
        # The documents that the message being typed names, and their tokens
        self._named: tuple[object, int] = (None, 0)

    def build_bare(self, runtime: Runtime, user_input: UserInput) -> ZkChatMessage:
        """The message without documents: it can be stored before the model's window is known."""
        agent = runtime.agent.name if runtime.agent is not None else None
        fields = {"status": "pending", "agent": agent, "addressed": user_input.mention}
        bare = self._services.new_message("user", user_input.text, self._state.head, **fields)
        tokens = runtime.counter.count_raw(bare.prompt_text)
        points = user_input.learning_points
        if points is None:
            points = find_learning_points(
                bare.prompt_text if user_input.typed is None else user_input.typed
            )
        return bare.model_copy(
            update={
                "token_count": tokens,
                "augmented_token_count": tokens,
                "learning_points": points,
            }
        )

    def add_documents(
        self,
        runtime: Runtime,
        bare: ZkChatMessage,
        user_input: UserInput,
        references: ReferenceManager,
        *,
        search: bool = True,
    ) -> tuple[ZkChatMessage, list[Notice]]:
        """The message with the documents that it names and the passages found for it, and the
        problems with them. The text that goes into the prompt is numbered by `references`, and
        `augmented_token_count` includes it. Without `search` neither passages nor similar names of
        files are looked for.
        """
        settings = runtime.settings
        count = runtime.counter.count
        mode = runtime.retrieval.mode if runtime.retrieval else None
        plain = runtime.model.plain_excerpts and runtime.window.tokens <= SMALL_WINDOW
        bare = bare.model_copy(update={"retrieval": mode, "plain_excerpts": plain})
        text = bare.prompt_text
        typed = (
            bare.model_copy(update={"content": user_input.typed}).prompt_text
            if user_input.typed is not None
            else None
        )
        summary = self._prompts.summaries.summary
        with_links = settings.references.enabled
        roots = ImportRoots(self._services.vault, self._services.working_folder)
        try:
            mentions, names = find_mentions(
                text, roots, summary, typed, with_links=with_links, compare=search
            )
        except VaultError:
            # The vault is gone: the scan before has reported it, and the message matters more than
            # its links
            return bare, []
        about_named = any(mention.reference.relative_path for mention in mentions)
        found = (
            self.search(text, about_named=about_named)
            if search and mode in ("before", "both")
            else []
        )
        unknown = [self._unknown_name_notice(name) for name in names[:MOST_NAMED]]
        if not mentions and not found:
            return bare, unknown
        left = 0  # of the messages' budget
        with suppress(PromptTooLarge):
            usage = self._prompts.build(runtime, (bare,)).usage
            left = history_budget(usage, runtime.budget) + usage.message_breakdown["recalled"]
        # the model cannot read more of the documents than it gets, if it has no tools
        ratio = max(
            settings.context.injection_ratio,
            0 if mode in ("tools", "both", None) else UNREADABLE_SHARE,
        )
        cost = partial(chunk_tokens, count=count)
        injected = inject(mentions, text, left, ratio, cost)
        named_ids = {chunk.id for chunk in injected.chunks}
        left -= sum(map(cost, injected.chunks))
        others = [chunk for chunk in found if chunk.id not in named_ids][:MOST_PASSAGES]
        [passages] = reduce_to_fit((others,), int(settings.retrieval.ratio * left), count)
        chunks = references.extract_referenceable_chunks((*injected.chunks, *passages))
        named = injected.number_references(chunks)
        tokens = runtime.counter.count_raw(describe_documents(named, chunks, mode, as_text=plain))
        update = {
            "references": named,
            "chunks": chunks,
            "augmented_token_count": (bare.token_count or 0) + tokens,
        }
        return bare.model_copy(update=update), [*unknown, *injected.warnings]

    def count_typed(self, runtime: Runtime, text: str, *, with_documents: bool) -> tuple[int, bool]:
        """Tokens of a message that is being typed, with the documents that it names, and whether
        they are estimated.
        """
        counter = runtime.counter
        if len(text) > MAX_COUNTED:
            return estimate_tokens(text), bool(text)
        names = self._state.version, _WRITTEN_NAME.findall(text)
        if with_documents and names != self._named[0]:
            tokens = None
            if names[1]:
                bare = self._services.new_message("user", text)
                references = self._state.references.snapshot()
                named, _ = self.add_documents(
                    self.with_retrieval(runtime), bare, UserInput(text), references, search=False
                )
                tokens = named.augmented_token_count
            self._named = names, counter.scale(tokens) + MESSAGE_OVERHEAD if tokens else 0
        return counter.count(text) + (self._named[1] if with_documents else 0), bool(
            text
        ) and counter.estimated

    def _unknown_name_notice(self, name: str) -> Notice:
        """What to tell about an `@name` in a text that is no file; it may be meant for an agent."""
        similar = difflib.get_close_matches(
            name[1:].lower(), self._services.agent_names(), 1, SIMILAR
        )
        hint = f"nearest: @{similar[0]}" if similar else ""
        return Notice(f"no agent and no file is called {name}; the message is sent as it is", hint)

    def warm_up(self) -> None:
        """Load in advance what the first search for a question needs."""
        self._analyze("…", follows=False)

    def with_retrieval(self, runtime: Runtime, wanted: RetrievalMode | None = None) -> Runtime:
        """The runtime with the mode of its next turn: `wanted`, or what the settings say."""
        setting = wanted or runtime.settings.retrieval.mode
        problem = self._tool_problem(runtime) if setting == "auto" else ""
        return runtime.with_retrieval(
            choose_retrieval(setting, runtime.model, runtime.tools, runtime.window.tokens, problem)
        )

    def _tool_problem(self, runtime: Runtime) -> str:
        """Why the model's tool calls are of no use, by its first answers in this conversation;
        empty if they are, or nothing shows it.
        """
        name = runtime.model.name
        without = 0
        answered = (
            each
            for each in self._state.exchanges
            if each[0].retrieval == "tools" and each[-1].model == name
        )
        for question, *answer in islice(answered, MOST_JUDGED):
            if calls := [call for message in answer for call in message.tool_calls]:
                unreadable = all(call.malformed is not None for call in calls)
                return f"{name} called tools with unreadable arguments" if unreadable else ""
            if question.id not in self._found:
                self._found[question.id] = not question.chunks and bool(
                    self.search(question.prompt_text, follows=False)
                )
            without += self._found[question.id]  # it needed a call
            if without == FIRST_ANSWERS:
                return f"{name} called no tool in its first {FIRST_ANSWERS} answers"
        return ""

    def search(
        self, text: str, *, follows: bool = True, about_named: bool = False
    ) -> list[ContentChunk]:
        """The passages for a question, best first; of a follow-up also by the words of the question
        before it. None for small talk, for a question about documents as a whole that it names
        (`about_named`), or if the vault is gone.
        """
        question = self._analyze(text, follows=follows)
        if question is None or (about_named and question.about_document):
            return []
        try:
            found = [
                self._services.vault.search(query, MOST_PASSAGES) for query in question.searches
            ]
        except VaultError:  # the scan before has reported it
            return []
        return list(
            {found[call][rank].id: found[call][rank] for call, rank in rank_chunks(found)}.values()
        )

    def _analyze(self, text: str, *, follows: bool) -> "AnalyzedQuestion | None":
        """What a question asks for, of a follow-up with what was asked before; None for small
        talk.
        """
        # only a turn that searches needs this, and it would delay the start
        from zkchat_cli.llm.offline.question import analyze_question, reply_to_small_talk

        if reply_to_small_talk(text, (), ()) is not None:
            return None
        questions = (
            [message for message in self._state.history if message.role == "user"]
            if follows
            else []
        )
        asked = [
            *((message.id, message.prompt_text) for message in questions[-EARLIER_QUESTIONS:]),
            ("", text),
        ]
        messages = [
            PromptMessage(
                role="user", content=content, tokens=0, kind="conversation", source_ids=(id_,)
            )
            for id_, content in asked
        ]
        return analyze_question(messages, len(messages) - 1)
