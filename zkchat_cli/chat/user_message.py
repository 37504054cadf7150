"""A message of the user before it is stored: the agent that it mentions, the documents that it names, and their text for the prompt."""

import difflib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.retrieval import MOST_PASSAGES, SMALL_WINDOW, Retriever
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.budget import MESSAGE_OVERHEAD, history_budget, turn_budget_after_compaction
from zkchat_cli.errors import PromptTooLarge, VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models import ContentChunk, DocumentReference, Prompt, RetrievalMode, ZkChatMessage
from zkchat_cli.references.chunk_format import chunk_tokens, reduce_to_fit
from zkchat_cli.references.injection import UNREADABLE_SHARE, Injection, InjectionBudget, describe_documents, inject
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.mentions import ImportRoots, find_mentions
from zkchat_cli.summarization.sentence_scoring import find_learning_points
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import estimate_tokens

SIMILAR = 0.7
"""How similar to an agent's name a word must be to be taken for a misspelling of it: people are addressed by `@name`, too."""
MOST_NAMED = 3
"""Names that are no files of which the user is told: a pasted text may have many."""
MAX_COUNTED = 20_000
"""Characters up to which a message is counted at each key, in under 2 ms; a longer one is estimated."""
_AGENT_MENTION = re.compile(r"\s*@([^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")
_WRITTEN_NAME = re.compile(r"\[\[[^\[\]\n]+\]\]|(?<!\w)@[^\s]+")


class AgentMention(NamedTuple):
    """The agent's name in lower case, the mention as written, and the question after it."""

    name: str
    text: str
    question: str


def parse_agent_mention(text: str) -> AgentMention | None:
    """What may mention an agent at the start of a message: `@researcher what …`, `@researcher: what …`; not `@notes/plan` or `@plan.md`."""
    match = _AGENT_MENTION.match(text)
    return AgentMention(match[1].lower(), f"@{match[1]}", text[match.end() :]) if match else None


class UserInput(NamedTuple):
    """What the user sent. `typed` is the part that was typed, where the rest came through a pipe: only that may import files, and only a
    message that was typed as a whole may mention an agent."""

    text: str
    typed: str | None = None
    mention: AgentMention | None = None
    retrieval: RetrievalMode | None = None
    """Who is to search the notes, instead of what the settings say."""
    learning_points: tuple[str, ...] | None = None
    """Those of the question that is asked again, as it was typed."""

    @classmethod
    def parse(cls, text: str, typed: str | None = None) -> "UserInput":
        text, typed = replace_surrogates(text), None if typed is None else replace_surrogates(typed)
        return cls(text, typed, parse_agent_mention(text) if typed in (None, text) else None)


@dataclass
class UserMessageBuilder:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder
    retriever: Retriever
    _named: tuple[object, int] = (None, 0)
    """The documents that the message being typed names, and their tokens."""

    def build_bare(self, runtime: Runtime, user_input: UserInput) -> ZkChatMessage:
        """The message without documents: it can be stored before the model's window is known."""
        agent = runtime.agent.name if runtime.agent is not None else None
        mention = user_input.mention.text if user_input.mention is not None else None
        bare = self.services.new_message("user", user_input.text, self.state.head, status="pending", agent=agent, addressed=mention)
        tokens = runtime.counter.count_raw(bare.prompt_text)
        points = user_input.learning_points
        if points is None:
            points = find_learning_points(bare.prompt_text if user_input.typed is None else user_input.typed)
        return bare.model_copy(update={"token_count": tokens, "augmented_token_count": tokens, "learning_points": points})

    def add_documents(
        self, runtime: Runtime, bare: ZkChatMessage, user_input: UserInput, references: ReferenceManager, *, search: bool = True
    ) -> tuple[ZkChatMessage, list[Notice]]:
        """The message with the documents that it names and the passages found for it, and the problems with them. The text that goes into
        the prompt is numbered by `references`, and `augmented_token_count` includes it. Text that an earlier message brings into the prompt
        is left out. Without `search` neither passages are looked for nor the names of files that are like those in the message."""
        mode = runtime.retrieval.mode if runtime.retrieval else None
        plain = runtime.model.plain_excerpts and runtime.window.tokens <= SMALL_WINDOW
        bare = bare.model_copy(update={"retrieval": mode, "plain_excerpts": plain})
        text = bare.prompt_text
        typed = bare.model_copy(update={"content": user_input.typed}).prompt_text if user_input.typed is not None else None
        summary, with_links = self.prompts.summaries.summary, runtime.settings.references.enabled
        roots = ImportRoots(self.services.vault, self.services.working_folder)
        try:
            mentions, names = find_mentions(text, roots, summary, typed, with_links=with_links, compare=search)
        except VaultError:  # the vault is gone: the scan before has reported it, and the message matters more than its links
            return bare, []
        about_named = any(mention.reference.relative_path for mention in mentions)
        found = self.retriever.search(text, about_named=about_named) if search and mode in ("before", "both") else []
        unknown = self._unknown_name_notices(names, user_input.text)
        if not mentions and not found:
            return bare, unknown
        for compacted in (False, True):
            budget = self._injection_budget(runtime, bare, compacted=compacted)
            injected = inject(mentions, text, budget) if mentions else Injection()
            named_ids = {chunk.id for chunk in injected.chunks}
            left = budget.left - sum(map(budget.cost, injected.chunks))
            others = [chunk for chunk in found if chunk.id not in named_ids][:MOST_PASSAGES]
            [passages] = reduce_to_fit((others,), int(runtime.settings.retrieval.ratio * left), runtime.counter.count)
            chunks = references.extract_referenceable_chunks((*injected.chunks, *passages))
            message = with_documents(bare, injected.number_references(chunks), chunks, runtime)
            if not self._lacks_text_above(runtime, message):
                break
        return message, [*unknown, *injected.warnings]

    def count_typed(self, runtime: Runtime, text: str, *, with_documents: bool) -> tuple[int, bool]:
        """Tokens of a message that is being typed, with the documents that it names, and whether they are estimated."""
        counter = runtime.counter
        if len(text) > MAX_COUNTED:
            return estimate_tokens(text), bool(text)
        names = self.state.version, _WRITTEN_NAME.findall(text)
        if with_documents and names != self._named[0]:
            tokens = None
            if names[1]:
                bare, references = self.services.new_message("user", text), self.state.references.copy()
                named, _ = self.add_documents(self.retriever.with_retrieval(runtime), bare, UserInput(text), references, search=False)
                tokens = named.augmented_token_count
            self._named = names, counter.scale(tokens) + MESSAGE_OVERHEAD if tokens else 0
        return counter.count(text) + (self._named[1] if with_documents else 0), bool(text) and counter.estimated

    def _unknown_name_notices(self, names: Sequence[str], text: str) -> list[Notice]:
        """What to tell about each `@name` in a text that is no file; one at the beginning may be meant for an agent."""
        first = parse_agent_mention(text)
        notices = []
        for name in names[:MOST_NAMED]:
            if first is not None and name == first.text:
                similar = difflib.get_close_matches(first.name, self.services.agent_names(), 1, SIMILAR)
                hint = f"nearest: @{similar[0]}" if similar else ""
                notices.append(Notice(f"no agent and no file is called {name}; the message is sent as it is", hint))
            else:
                notices.append(Notice(f"no file is called {name}; it is sent as it is"))
        return notices

    def _injection_budget(self, runtime: Runtime, message: ZkChatMessage, *, compacted: bool) -> InjectionBudget:
        """Room for the documents that a message names: what it leaves of the messages' budget without them; if the turns so far are about
        to be `compacted`, what a summary and the turns that stay will leave of it."""
        left, in_prompt = 0, dict[str, ContentChunk]()
        with suppress(PromptTooLarge):
            if compacted:
                usage = self.prompts.fixed_cost(runtime, self.prompts.inputs(runtime, (message,), self.state.compaction))
                kept = runtime.largest_summary + turn_budget_after_compaction(usage, runtime.budget, runtime.largest_summary)
                left = max(0, history_budget(usage, runtime.budget) - kept)
            else:
                prompt = self.prompts.build(runtime, (message,))
                left = history_budget(prompt.usage, runtime.budget) + prompt.usage.message_breakdown.recalled
                in_prompt = self._chunks_in_prompt(prompt)
        ratio = runtime.settings.context.injection_ratio
        if runtime.retrieval is not None and runtime.retrieval.mode not in ("tools", "both"):  # the model cannot read more of them
            ratio = max(ratio, UNREADABLE_SHARE)
        return InjectionBudget(left, ratio, lambda chunk: chunk_tokens(chunk, runtime.counter.count), in_prompt)

    def _lacks_text_above(self, runtime: Runtime, message: ZkChatMessage) -> bool:
        """Whether the text that a message refers to as above is not in its prompt, or may be shortened or folded by a compaction."""
        above = {number for reference in message.references if reference.above for number in reference.numbers}
        if not above:
            return False
        with suppress(PromptTooLarge):
            prompt = self.prompts.build(runtime, (message,))
            return prompt.usage.compaction.due or not above <= {chunk.number for chunk in self._chunks_in_prompt(prompt).values()}
        return True

    def _chunks_in_prompt(self, prompt: Prompt) -> dict[str, ContentChunk]:
        """The numbered chunks that earlier messages bring into a prompt unshortened, by id."""
        compaction = self.state.compaction
        shortened = compaction.masked if compaction else ()
        sources = (m.source_ids[0] for m in prompt.messages if m.kind in ("tool_results", "documents") and m.source_ids)
        messages = (self.state.find_message(id_) for id_ in sources if id_ not in shortened)
        return {chunk.id: chunk for message in messages if message for chunk in message.chunks}


def with_documents(
    message: ZkChatMessage, references: Sequence[DocumentReference], chunks: Sequence[ContentChunk], runtime: Runtime
) -> ZkChatMessage:
    """The message with these documents and excerpts, and the tokens that it takes with them."""
    text = describe_documents(references, chunks, message.retrieval, as_text=bool(message.plain_excerpts))
    tokens = runtime.counter.count_raw(text)
    update = {"references": tuple(references), "chunks": tuple(chunks), "augmented_token_count": (message.token_count or 0) + tokens}
    return message.model_copy(update=update)
