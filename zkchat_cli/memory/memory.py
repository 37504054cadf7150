"""Memory of one conversation: the vault's memory files, remembered facts, and earlier
conversations.

With `context.memory_integration` off nothing goes into prompts and nothing is stored; stored facts
can still be listed and forgotten.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.agents.loader import Agent
from zkchat_cli.config.schema import Config
from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.events import Notice
from zkchat_cli.memory import fact_keys, facts, project
from zkchat_cli.memory.conversation_search import describe_found
from zkchat_cli.memory.facts import StoredMemory
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.store.port import SessionStore, StoreChanges
from zkchat_cli.text.words import terms
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.search.semantic import SemanticSearch
from zkchat_cli.vault.vault import Vault

# Shares of the tokens for messages: for all of memory, for the files in the vault's root, for the
# user's and the agent's file (each), and for the files in folders. Facts get what the files leave.
SHARE = 0.2
ROOT_SHARE = 0.12
PRIVATE_SHARE = 0.04
FOLDER_SHARE = 0.04
# Messages that a search of earlier conversations reads
MAX_RECALLED_MESSAGES = 20


class _Choice(NamedTuple):
    """The items chosen for a question, and what they were chosen by."""

    question: str
    budget: int
    counter: TokenCounter
    items: tuple[project.MemoryItem, ...]

    def is_for(self, question: str, budget: int, counter: TokenCounter) -> bool:
        """Whether the same choice would be made for this question and budget."""
        return (self.question, self.budget, self.counter) == (question, budget, counter)


class Memory:
    """The memory that one conversation reads and writes.

    `about` gives the one-line summary of a note. `semantic` compares the stored vectors of facts
    with a message; its model is on this machine.
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
        conversation_id: str | None = None,
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
        self.memory_paths = MemoryPaths(vault.root, self._file_names, agents_folder)
        self.switches = settings.memory
        self._chosen: _Choice | None = None
        self._in_turn = False
        self._facts: tuple[Fact, ...] = ()
        self._facts_version: StoreChanges | None = None
        self._notified: set[str] = set()
        self._notices: list[Notice] = []
        # The memory files outside the vault that are switched on
        self.private: dict[project.MemoryKind, Path] = {}
        if self.enabled and settings.memory.user and agents_folder is not None:
            self.private["user"] = agents_folder.parent / project.USER_FILE
        agents_file = agent.memory_file if agent is not None else None
        if self.enabled and settings.memory.agent and agents_file is not None:
            self.private["agent"] = agents_file
        self.conversation_id = conversation_id
        self.message_id: str | None = None

    # in the prompt

    def project_items(self, budget: int, counter: TokenCounter) -> tuple[project.MemoryItem, ...]:
        """The memory files in the vault's root; `budget` are the tokens for all messages."""
        if not self.enabled or not self.switches.project:
            return ()
        limit = int(ROOT_SHARE * budget)
        return self._vault_loader(limit, counter).load_root()

    def _vault_loader(self, limit: int, counter: TokenCounter) -> project.MemoryLoader:
        return project.MemoryLoader(self._vault.root, self.notify, limit, counter, self._file_names)

    def fixed_items(self, budget: int, counter: TokenCounter) -> tuple[project.MemoryItem, ...]:
        """The memory at the front of every prompt: the user's, the vault's, then the agent's
        own.
        """
        limit = int(PRIVATE_SHARE * budget)
        private: dict[str, tuple[project.MemoryItem, ...]] = {}
        for kind, file in self.private.items():
            loader = project.MemoryLoader(file.parent, self.notify, limit, counter)
            private[kind] = loader.load_private(kind, file)
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
        """The memory for this turn only: the files in the folders of the active notes, then the
        facts and notes relevant to the question. These are chosen once in a turn, so that all of
        its prompts begin alike.
        """
        if not self.enabled:
            return ()
        fixed = self.fixed_items(budget, counter)
        folders = self._folder_items(current, recent, fixed, int(FOLDER_SHARE * budget), counter)
        questions = (message.prompt_text for message in current if message.role == "user")
        used = sum(item.tokens for item in (*fixed, *folders))
        left = int(SHARE * budget) - used
        return (*folders, *self._relevant_items(next(questions, ""), left, counter))

    def _folder_items(
        self,
        current: Sequence[ZkChatMessage],
        recent: Sequence[ZkChatMessage],
        fixed: Iterable[project.MemoryItem],
        limit: int,
        counter: TokenCounter,
    ) -> tuple[project.MemoryItem, ...]:
        """The memory files in the folders of the active notes, without those in `fixed`."""
        if not self.switches.project:
            return ()
        loader = self._vault_loader(limit, counter)
        loader.seen.update(item.relative_path for item in fixed)
        return loader.load_folders(project.find_active_notes(current, recent))

    def _relevant_items(
        self, question: str, budget: int, counter: TokenCounter
    ) -> tuple[project.MemoryItem, ...]:
        """The facts and cited notes for a question, in at most `budget` tokens; none if they cannot
        be read.
        """
        # Another thread, which looks ahead, may set it meanwhile
        chosen = self._chosen
        if chosen is not None and self._in_turn and chosen.is_for(question, budget, counter):
            return chosen.items
        try:
            items = facts.choose_for_prompt(self.rank(question), budget, counter)
        except StoreError as e:
            self.notify(e.message, e.hint)
            return ()
        # The turn has reported this error
        except VaultError:
            return ()
        self._chosen = _Choice(question, budget, counter, items)
        return items

    def begin_turn(self, conversation_id: str, message_id: str) -> None:
        """Record this message as the source of the facts remembered from now on."""
        self.conversation_id = conversation_id
        self.message_id = message_id
        self._chosen = None
        self._in_turn = True

    def finish_turn(self) -> tuple[str, ...]:
        """The keys of the facts this turn used, without those already marked as used today."""
        self._in_turn = False
        items = self._chosen.items if self._chosen is not None else ()
        keys = {item.key for item in items if item.kind == "fact"}
        if not keys:
            return ()
        today = _date(self._now())
        used = [fact for fact in self._facts if fact.key in keys]
        return tuple(fact.key for fact in used if _date(fact.last_accessed or "") != today)

    def pop_notices(self) -> list[Notice]:
        """What the user has not been told yet: problems with memory, and new facts."""
        notices = self._notices
        self._notices = []
        return notices

    def notify(self, message: str, hint: str) -> None:
        """Show the user a message, once."""
        if message not in self._notified:
            self._notified.add(message)
            self._notices.append(Notice(message, hint))

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
        """The facts and cited notes that share a word with the text or mean something similar, best
        first.

        Facts are the shared ones and the agent's own, or those of all agents. Items without a
        stored vector are compared by meaning only if vectors may be computed (`compute`).
        """
        remembered = self._recall_facts(all_agents=all_agents)
        every = [*remembered.values(), *self._recall_cited_notes()]
        if not every or not terms(text):
            return ()
        cosines = self._stored_cosines(text, remembered)
        if compute:
            others = [item for item in every if item not in cosines][: facts.MAX_WITHOUT_VECTOR]
            contents = [item.content for item in others]
            computed = self._vault.similarities(text, contents) or ()
            cosines.update(zip(others, computed, strict=False))
        return facts.rank_by_relevance(text, every, self._now(), self._vault.languages(), cosines)

    def _recall_facts(self, *, all_agents: bool) -> dict[str, StoredMemory]:
        """The shared facts and the agent's own, or those of all agents, by their keys."""
        owners = (None, self._agent.name if self._agent is not None else None)
        remembered: dict[str, StoredMemory] = {}
        for fact in self.facts():
            if all_agents or fact.agent in owners:
                remembered[fact.key] = facts.recall_fact(fact)
        return remembered

    def _recall_cited_notes(self) -> list[StoredMemory]:
        recalled: list[StoredMemory] = []
        for note in self._cited_notes:
            path = note.relative_path
            if self._is_note(path):
                recalled.append(facts.recall_cited_note(note, self._about(path)))
        return recalled

    def _stored_cosines(
        self, text: str, remembered: Mapping[str, StoredMemory]
    ) -> dict[StoredMemory, float]:
        """How near facts with stored vectors are to a text; `remembered` are the facts by their
        keys.
        """
        cosines: dict[StoredMemory, float] = {}
        if not remembered or self._semantic is None:
            return cosines
        with self._semantic.failures_reported():
            packed = self._store.vectors.of_facts(self._vault_key, self._semantic.embedder.id)
            stored = self._semantic.stored_similarities(text, packed)
            for key, cosine in stored.items():
                if key in remembered:
                    cosines[remembered[key]] = cosine
        return cosines

    def remember(
        self, text: str, *, key: str = "", source: str = "user"
    ) -> tuple[Fact, Fact | None]:
        """Store a fact. Returns it, and the one with the same key that it replaced. Raises
        UsageError for a text that cannot be remembered, and if memory is off.
        """
        if not self.enabled:
            raise UsageError(
                "memory is switched off",
                "Switch it on: zkchat config set context.memory_integration true",
            )
        content = facts.clean_fact(text)
        facts.check_fact(content)
        agent = self._owner_of_facts(source)
        fact = Fact(
            key=self._key_for(content, key, agent),
            content=content,
            source=source,
            created_at=self._now(),
            agent=agent,
            conversation_id=self.conversation_id,
            message_id=self.message_id,
        )
        replaced = self._store.facts.remember(self._vault_key, fact)
        if source == "model":
            self._report_remembered(fact, replaced)
        return fact, replaced

    def _owner_of_facts(self, source: str) -> str | None:
        """The agent that gets a fact from this source for itself; None if all agents get it."""
        agent = self._agent
        if agent is None or not agent.owns_facts or source != "model":
            return None
        return agent.name

    def _key_for(self, content: str, wanted: str, agent: str | None) -> str:
        """The key of a fact: the wanted one, or one that its content suggests."""
        prefix = f"{fact_keys.slugify(agent)}-" if agent else ""
        key = fact_keys.slugify(wanted).removeprefix(prefix)
        if not key:
            others: dict[str, str] = {}
            for fact in self.facts():
                if fact.agent == agent:
                    others[fact.key.removeprefix(prefix)] = fact.content
            key = fact_keys.suggest_key(content, others)
        return prefix + key

    def _report_remembered(self, fact: Fact, replaced: Fact | None) -> None:
        instead = ""
        if replaced is not None and replaced.content != fact.content:
            instead = f", in place of: {replaced.content}"
        undo = f"/forget {fact.key}, or zkchat memory forget {fact.key}, takes it back"
        remembered = f"remembered as {fact.key}: {fact.content}{instead}"
        self._notices.append(Notice(remembered, undo))

    def find_sources(self, sent: Iterable[str]) -> dict[str, str]:
        """The files in the vault that memory in a prompt came from, each with the text of the fact
        that was imported from it, or an empty text. `sent` are the ids of memory in a prompt.
        """
        known = {f"fact:{fact.key}": fact for fact in self._facts}
        sources: dict[str, str] = {}
        for id_ in sent:
            fact = known.get(id_)
            path = id_
            content = ""
            if fact is not None:
                path = fact.source
                content = fact.content
            if self._is_note(path):
                sources.setdefault(path, content)
        return sources

    def find_fact(self, key: str) -> Fact:
        """The current fact that `fact_keys.find_fact` finds. Raises UsageError."""
        return fact_keys.find_fact(key, self.facts())

    def forget(self, key: str) -> Fact:
        """Delete the fact that `find_fact` finds, and the older ones it replaced."""
        fact = self.find_fact(key)
        return self._store.facts.forget(self._vault_key, fact.key) or fact

    # earlier messages

    def search_conversations(self, query: str, limit: int) -> Iterator[dict[str, object]]:
        """Messages of this conversation and, if memory is on, of earlier ones with this vault, best
        first, without the question of this turn.
        """
        this_one = self.conversation_id or ""
        found = self._store.search(
            self._vault_key,
            query,
            conversation_id=None if self.enabled else this_one,
            limit=MAX_RECALLED_MESSAGES,
            languages=self._vault.languages(),
        )
        others = [each for each in found if each.message.id != self.message_id]
        for each in others[:limit]:
            yield describe_found(each, query, self.conversation_id)


def _date(time: str) -> str:
    """The day of a time in ISO 8601."""
    return time[:10]
