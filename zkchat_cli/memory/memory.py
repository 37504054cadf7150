"""Memory of one conversation: the vault's memory files, remembered facts, and earlier
conversations.

With `context.memory_integration` off nothing goes into prompts and nothing is stored; stored facts
can still be listed and forgotten.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from zkchat_cli.agents.loader import Agent
from zkchat_cli.config.schema import Config
from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.memory import facts, project
from zkchat_cli.memory.facts import StoredMemory
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store.port import SessionStore
from zkchat_cli.text.truncate import truncate_to_minute
from zkchat_cli.text.words import detect_languages, terms
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.links.wikilinks import write_link
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.vault import Vault

SHARE = 0.2
ROOT_SHARE = 0.12
PRIVATE_SHARE = 0.04
FOLDER_SHARE = 0.04
"""Shares of the messages' budget: all of memory, root files, the user's and the agent's file each,
folder files. Facts get the rest.
"""
MAX_RECALLED_MESSAGES = 20
# Characters of a message in an excerpt
MAX_EXCERPT = 700


class Memory:
    """What outlasts the conversation, as this conversation uses it. `about` gives the one-line
    summary of a note; `semantic` is a model on this machine, which stored vectors of facts are
    compared by.
    """

    def __init__(
        self,
        vault: Vault,
        store: SessionStore,
        settings: Config,
        now: Callable[[], str],
        *,
        about: Callable[[str], str | None] = lambda _: None,
        agent: Agent | None = None,
        agents_folder: Path | None = None,
        semantic: SemanticSearch | None = None,
    ) -> None:
        self._vault = vault
        self._store = store
        self._now = now
        self._about = about
        self._agent = agent
        self._semantic = semantic
        self._vault_key = str(vault.root)
        self.enabled = settings.context.memory_integration
        self._file_names = project.memory_file_names(settings.memory)
        self.memory_paths = project.MemoryPaths(vault.root, self._file_names, agents_folder)
        self.switches = settings.memory
        self._chosen: (
            tuple[tuple[str, int, TokenCounter], tuple[project.MemoryItem, ...]] | None
        ) = None
        self._in_turn = False
        self._facts: tuple[Fact, ...] = ()
        self._facts_version: tuple[int, int] | None = None
        self._notified: set[str] = set()
        self._notices: list[tuple[str, str]] = []
        # The memory files outside the vault, as far as they are switched on
        self.private: dict[project.MemoryKind, Path] = {}
        if self.enabled and agents_folder is not None and settings.memory.user:
            self.private["user"] = agents_folder.parent / project.USER_FILE
        if (
            self.enabled
            and agent is not None
            and agent.memory_file is not None
            and settings.memory.agent
        ):
            self.private["agent"] = agent.memory_file
        self.conversation_id: str | None = None
        self.message_id: str | None = None
        with suppress(StoreError):
            self.facts()

    # in the prompt

    def project_items(self, budget: int, counter: TokenCounter) -> tuple[project.MemoryItem, ...]:
        """The memory files in the vault's root; `budget` are the tokens for all messages."""
        if not self.enabled or not self.switches.project:
            return ()
        return project.MemoryLoader(
            self._vault.root, self.notify, int(ROOT_SHARE * budget), counter, self._file_names
        ).load_root()

    def fixed_items(self, budget: int, counter: TokenCounter) -> tuple[project.MemoryItem, ...]:
        """The memory at the front of every prompt: the user's, the vault's, then the agent's
        own.
        """
        limit = int(PRIVATE_SHARE * budget)
        private = {}
        for kind, file in self.private.items():
            private[kind] = project.MemoryLoader(
                file.parent, self.notify, limit, counter
            ).load_private(kind, file)
        return (
            *private.get("user", ()),
            *self.project_items(budget, counter),
            *private.get("agent", ()),
        )

    def contextual_items(
        self,
        current: Sequence[ZkChatMessage],
        recent: Sequence[ZkChatMessage],
        budget: int,
        counter: TokenCounter,
    ) -> tuple[project.MemoryItem, ...]:
        """The memory for this turn only: of the active notes' folders, then what is relevant to the
        question, which is chosen once in a turn, so that its prompts begin alike.
        """
        if not self.enabled:
            return ()
        fixed = self.fixed_items(budget, counter)
        notes = project.find_active_notes(current, recent) if self.switches.project else []
        limit = int(FOLDER_SHARE * budget)
        loaded = {item.relative_path for item in fixed}
        folders = project.MemoryLoader(
            self._vault.root, self.notify, limit, counter, self._file_names, loaded
        ).load_folders(notes)
        question = next((m.prompt_text for m in current if m.role == "user"), "")
        left = int(SHARE * budget) - sum(item.tokens for item in (*fixed, *folders))
        inputs = (question, left, counter)
        # Another thread, which looks ahead, may set it meanwhile
        chosen = self._chosen
        if chosen is None or chosen[0] != inputs or not self._in_turn:
            try:
                self._chosen = chosen = (
                    inputs,
                    facts.choose_for_prompt(self.rank(question), left, counter),
                )
            except StoreError as e:
                self.notify(e.message, e.hint)
                return folders
            except VaultError:  # the turn has reported it
                return folders
        return (*folders, *chosen[1])

    def begin_turn(self, conversation_id: str, message_id: str) -> None:
        """Facts remembered from now on come from this message."""
        self.conversation_id = conversation_id
        self.message_id = message_id
        self._chosen = None
        self._in_turn = True

    def finish_turn(self) -> tuple[str, ...]:
        """The keys of the facts this turn used, without those already marked as used today."""
        keys = (
            {item.key for item in self._chosen[1] if item.kind == "fact"} if self._chosen else set()
        )
        self._in_turn = False
        today = self._now()[:10] if keys else ""
        return tuple(
            fact.key
            for fact in self._facts
            if fact.key in keys and (fact.last_accessed or "")[:10] != today
        )

    def pop_notices(self) -> list[tuple[str, str]]:
        """Messages for the user since the last call, each with what to do: problems with memory,
        and what the model remembered.
        """
        notices = self._notices
        self._notices = []
        return notices

    def notify(self, message: str, hint: str) -> None:
        """Show the user a message, once."""
        if message not in self._notified:
            self._notified.add(message)
            self._notices.append((message, hint))

    # facts

    def facts(self) -> tuple[Fact, ...]:
        """The current facts of all agents, newest first; read again when another process may have
        changed them.
        """
        version = self._store.changes()
        if version != self._facts_version:
            self._facts = self._store.facts.current(self._vault_key)
            self._facts_version = version
        return self._facts

    def fact_keys(self) -> list[str]:
        """The keys of the facts when they were last read; safe to call from any thread."""
        return [fact.key for fact in self._facts]

    @cached_property
    def _cited_notes(self) -> tuple[NoteUsage, ...]:
        """The notes that several conversations had cited when this one began."""
        return self._store.facts.often_cited(self._vault_key)

    def _is_note(self, path: str) -> bool:
        with suppress(VaultError, OSError):
            return filesystem.resolve_inside(self._vault.root, path).is_file()
        return False

    def rank(
        self, text: str, *, compute: bool = False, all_agents: bool = False
    ) -> tuple[StoredMemory, ...]:
        """The shared facts, the agent's own (or those of all agents) and cited notes that share a
        word with the text or mean something similar, best first. Items without vectors are compared
        by meaning only if they may be computed (`compute`).
        """
        owners = (None, self._agent.name if self._agent is not None else None)
        remembered = {
            fact.key: facts.recall_fact(fact)
            for fact in self.facts()
            if all_agents or fact.agent in owners
        }
        cited = [note for note in self._cited_notes if self._is_note(note.relative_path)]
        every = (
            *remembered.values(),
            *(facts.recall_cited_note(note, self._about(note.relative_path)) for note in cited),
        )
        if not every or not terms(text):
            return ()
        cosines: dict[StoredMemory, float] = {}
        if remembered and self._semantic is not None:
            with self._semantic.failures_reported():
                packed = self._store.vectors.of_facts(self._vault_key, self._semantic.embedder.id)
                stored = self._semantic.stored_similarities(text, packed)
                cosines = {
                    remembered[key]: cosine for key, cosine in stored.items() if key in remembered
                }
        others = (
            [item for item in every if item not in cosines][: facts.MAX_WITHOUT_VECTOR]
            if compute
            else []
        )
        cosines.update(
            zip(
                others,
                self._vault.similarities(text, [item.content for item in others]) or (),
                strict=False,
            )
        )
        return facts.rank_by_relevance(text, every, self._now(), self._vault.languages(), cosines)

    def remember(
        self, text: str, *, key: str = "", source: str = "user"
    ) -> tuple[Fact, Fact | None]:
        """Store a fact; returns it and the one with the same key that it replaced. Raises
        UsageError, also if memory is off.
        """
        if not self.enabled:
            raise UsageError(
                "memory is switched off",
                "Switch it on: zkchat config set context.memory_integration true",
            )
        content = facts.clean_fact(text)
        if not any(c.isalnum() for c in content):
            raise UsageError(
                "there is nothing to remember",
                "Give a fact, such as: the roofer's number is 0171 5550",
            )
        if len(content) > facts.MAX_FACT:
            problem = (
                f"that is too long to remember: {len(content)} characters of at most "
                f"{facts.MAX_FACT}"
            )
            raise UsageError(
                problem, "Write a note and remember where it is: notes can be searched."
            )
        agent = (
            self._agent.name
            if self._agent is not None and self._agent.owns_facts and source == "model"
            else None
        )
        prefix = f"{facts.slugify(agent)}-" if agent else ""
        others = {
            fact.key.removeprefix(prefix): fact.content
            for fact in self.facts()
            if fact.agent == agent
        }
        key = prefix + (
            facts.slugify(key).removeprefix(prefix) or facts.suggest_key(content, others)
        )
        place = {"conversation_id": self.conversation_id, "message_id": self.message_id}
        fact = Fact(
            key=key, content=content, source=source, created_at=self._now(), agent=agent, **place
        )
        replaced = self._store.facts.remember(self._vault_key, fact)
        if source == "model":
            instead = (
                f", in place of: {replaced.content}"
                if replaced and replaced.content != content
                else ""
            )
            undo = f"/forget {key}, or zkchat memory forget {key}, takes it back"
            self._notices.append((f"remembered as {key}: {content}{instead}", undo))
        return fact, replaced

    def find_sources(self, sent: Iterable[str]) -> dict[str, str]:
        """The files in the vault that memory in a prompt came from, and what facts say that were
        imported from them. `sent` are the ids of memory in a prompt.
        """
        known = {f"fact:{fact.key}": fact for fact in self._facts}
        sources: dict[str, str] = {}
        for id_ in sent:
            path, content = (known[id_].source, known[id_].content) if id_ in known else (id_, "")
            if self._is_note(path):
                sources.setdefault(path, content)
        return sources

    def find_fact(self, key: str) -> Fact:
        """The fact with this key or prefix of a key. Raises UsageError that names the nearest keys
        if that is not one fact.
        """
        known = {fact.key: fact for fact in self.facts()}
        prefix = key if key in known else facts.slugify(key)
        matches = (
            [prefix]
            if prefix in known
            else [key for key in known if prefix and key.startswith(prefix)]
        )
        if len(matches) != 1:
            near = (
                matches or difflib.get_close_matches(prefix, known, n=3, cutoff=0.4) or list(known)
            )
            problem = (
                f"{prefix!r} begins {len(matches)} keys"
                if matches
                else f"nothing is remembered as {prefix!r}"
            )
            raise UsageError(
                problem,
                f"Nearest: {', '.join(near[:5])}" if near else "Nothing has been remembered yet.",
            )
        return known[matches[0]]

    def forget(self, key: str) -> Fact:
        """Delete the fact that `find_fact` finds, and the older ones it replaced."""
        fact = self.find_fact(key)
        return self._store.facts.forget(self._vault_key, fact.key) or fact

    # earlier messages

    def search_conversations(self, query: str, limit: int) -> Iterator[dict[str, object]]:
        """Messages of this conversation and, with memory on, of earlier ones with this vault, best
        first; not the question of this turn.
        """
        only = None if self.enabled else self.conversation_id or ""
        languages = self._vault.languages()
        found = self._store.search(
            self._vault_key,
            query,
            conversation_id=only,
            limit=MAX_RECALLED_MESSAGES,
            languages=languages,
        )
        for each in [each for each in found if each.message.id != self.message_id][:limit]:
            message = each.message
            is_here = each.conversation_id == self.conversation_id
            # Numbers of sources are valid only in their conversation
            text = message.content if is_here else citations_to_links(message)
            notes = dict.fromkeys(
                [
                    *(c.relative_path for c in message.citations),
                    *(c.relative_path for c in message.chunks),
                ]
            )
            yield {
                "who": f"result of {message.tool_name or 'a tool'}"
                if message.role == "tool"
                else message.role,
                "when": truncate_to_minute(message.timestamp),
                "conversation": "this one" if is_here else each.title or each.conversation_id,
                "said": cut_around_query(text, query),
                "notes": [write_link(path) for path in notes if path],
            }


def citations_to_links(message: ZkChatMessage) -> str:
    """The text of an answer with a link to each cited note in place of its number."""
    # 20 ms, which the budget bar does not need
    from zkchat_cli.citations.marks import cited_marks, split_at_marks

    paths = {
        citation.number: citation.relative_path
        for citation in message.citations
        if citation.relative_path
    }
    text = ""
    for piece, mark in split_at_marks(
        message.content, cited_marks(message.content, message.citations)
    ):
        links = (
            dict.fromkeys(write_link(paths[number]) for number in mark.numbers if number in paths)
            if mark and not mark.name
            else None
        )
        text += " ".join(links) if links else piece
    return text


def cut_around_query(text: str, query: str) -> str:
    """The text; of a long one the lines with the most words of the query."""
    # 12 ms, which the budget bar does not need
    from zkchat_cli.vault.search.query import snippet

    return (
        text
        if len(text) <= MAX_EXCERPT
        else snippet(text, 1, terms(query), MAX_EXCERPT, detect_languages([text])).text
    )
