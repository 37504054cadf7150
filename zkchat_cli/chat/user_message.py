"""A message of the user before it is stored: the agent that it mentions, the documents that it names, and their text for the prompt."""

import difflib
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.budget import history_budget
from zkchat_cli.errors import PromptTooLarge, UsageError, VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models import ContentChunk, Prompt, ZkChatMessage
from zkchat_cli.references.chunk_format import chunk_tokens
from zkchat_cli.references.file_imports import FileImport, ImportRoots, read_import
from zkchat_cli.references.injection import Injection, InjectionBudget, describe_documents, inject
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.mentions import find_mentioned_documents
from zkchat_cli.text.words import replace_surrogates

SIMILAR = 0.7
"""How similar to an agent's name a word must be to be taken for a misspelling of it: people are addressed by `@name`, too."""
_MENTION = re.compile(r"\s*@([^\W_][\w-]{0,47})(?:[,:]\s+|\s+|$)")


@dataclass(frozen=True, slots=True)
class AgentMention:
    """The agent's name in lower case, the mention as written, and the question after it."""

    name: str
    text: str
    question: str

    def locate(self, text: str, typed: str | None) -> str:
        """The text that finds the mention in a message whose part `typed` starts with it (None: the whole message)."""
        return self.text if typed is None or text.strip() == typed.strip() else f"\n\n{self.text}"


def parse_agent_mention(text: str) -> AgentMention | None:
    """The mention at the start of a message: `@researcher what …`, `@researcher: what …`. `@notes/plan` and `@plan.md` are paths.

    The caller checks whether the agent exists, or a file of that name.
    """
    match = _MENTION.match(text)
    return AgentMention(match[1].lower(), f"@{match[1]}", text[match.end() :]) if match else None


@dataclass(frozen=True, slots=True)
class UserInput:
    """What the user sent. `typed` is the part that was typed, where the rest came through a pipe: only that may import files and mention an
    agent. `mention` is the `@name` in the text that got this turn its agent."""

    text: str
    typed: str | None = None
    mention: str | None = None

    def encodable(self) -> "UserInput":
        return replace(self, text=replace_surrogates(self.text), typed=None if self.typed is None else replace_surrogates(self.typed))

    def with_mention(self, mention: AgentMention) -> "UserInput":
        return replace(self, mention=mention.locate(self.text, self.typed))


def import_roots(services: SessionServices, runtime: Runtime) -> ImportRoots:
    """The folders that a message may import files from."""
    return ImportRoots(services.vault, services.working_folder, 1024 * runtime.settings.references.import_max_kilobytes)


def find_agent_mention(text: str, agent_names: Callable[[], Sequence[str]], roots: ImportRoots) -> tuple[AgentMention | None, list[Notice]]:
    """The agent that a message mentions by `@name`, and what to tell the user about it. A file of that name is imported instead.

    Raises UsageError for a mention without a question.
    """
    mention = parse_agent_mention(text)
    if mention is None:
        return None, []
    names = agent_names()
    file: str | None = None
    with suppress(VaultError):
        file = read_import(FileImport(mention.text, mention.text[1:], 0), roots).relative_path
    if mention.name not in names:
        similar = difflib.get_close_matches(mention.name, names, 1, SIMILAR)
        if not similar or file is not None:
            return None, []
        return None, [Notice(f"no agent and no file is called {mention.text}; the message is sent as it is", f"nearest: @{similar[0]}")]
    if not mention.question.strip():
        hint = f"{mention.text} QUESTION asks it once; --agent {mention.name}, or /agent in the chat, switches to it."
        raise UsageError(f"there is no question for the agent {mention.name}", hint)
    if file is not None:
        hint = f"--agent {mention.name}, or /agent in the chat, switches to the agent"
        return None, [Notice(f"{mention.text} imports the file {file}; the agent is not asked", hint)]
    return mention, [Notice(f"the agent {mention.name} answers this message")]


@dataclass(frozen=True, slots=True)
class UserMessageBuilder:
    services: SessionServices
    state: ConversationState
    prompts: PromptBuilder

    def build(self, runtime: Runtime, user_input: UserInput, references: ReferenceManager) -> tuple[ZkChatMessage, list[Notice]]:
        """The message with the documents that it names, and the problems with them. The text of those that go into the prompt is
        numbered by `references`, and `augmented_token_count` includes it."""
        count = runtime.counter.count_raw
        agent = runtime.agent.name if runtime.agent is not None else None
        bare = self.services.new_message(
            "user", user_input.text, self.state.head, status="pending", agent=agent, addressed=user_input.mention
        )
        text, tokens = bare.prompt_text, count(bare.prompt_text)
        typed = bare.model_copy(update={"content": user_input.typed}).prompt_text if user_input.typed is not None else None
        bare = bare.model_copy(update={"token_count": tokens, "augmented_token_count": tokens})
        try:
            injected = self._inject(runtime, bare, text, typed)
        except VaultError:  # the vault is gone: the scan before has reported it, and the message matters more than its links
            return bare, []
        chunks = references.extract_referenceable_chunks(bare.id, injected.chunks)
        named = injected.number_references(chunks)
        update = {"references": named, "chunks": chunks, "augmented_token_count": tokens + count(describe_documents(named, chunks))}
        return bare.model_copy(update=update), [Notice(*each) for each in injected.warnings]

    def _inject(self, runtime: Runtime, message: ZkChatMessage, text: str, typed: str | None) -> Injection:
        roots, summaries = import_roots(self.services, runtime), self.prompts.summaries
        named = find_mentioned_documents(text, roots, summaries.summary, typed)
        if not named.references:
            return Injection(warnings=tuple(named.warnings))
        return inject(named, text, self._injection_budget(runtime, message))

    def _injection_budget(self, runtime: Runtime, message: ZkChatMessage) -> InjectionBudget:
        """Room for the documents that a message names: what it leaves of the messages' budget without them."""
        in_prompt: dict[str, ContentChunk] = {}
        try:
            prompt = self.prompts.build(runtime, (message,))
            left = history_budget(prompt.usage, runtime.budget)
            in_prompt = self._chunks_in_prompt(prompt)
        except PromptTooLarge:
            left = 0
        return InjectionBudget(
            left=left,
            ratio=runtime.settings.context.injection_ratio,
            cost=lambda chunk: chunk_tokens(chunk, runtime.counter.count),
            in_prompt=in_prompt,
        )

    def _chunks_in_prompt(self, prompt: Prompt) -> dict[str, ContentChunk]:
        """The numbered chunks that earlier messages bring into a prompt unshortened, by id."""
        compaction = self.state.compaction
        shortened = compaction.masked if compaction else ()
        sources = (m.source_ids[0] for m in prompt.messages if m.kind in ("tool_results", "documents") and m.source_ids)
        messages = (self.state.find_message(id_) for id_ in sources if id_ not in shortened)
        return {chunk.id: chunk for message in messages if message for chunk in message.chunks}
