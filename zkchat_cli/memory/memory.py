"""Memory as one conversation has it: the vault's memory files, what somebody asked to remember, and what was said before.

The session, the tools, the commands and the command line all go through it. With `context.memory_integration` off it has nothing and takes
nothing; what is stored then still can be listed, searched and forgotten.
"""

import difflib
import posixpath
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from zkchat_cli.agents.profile import Agent
from zkchat_cli.config.schema import Config
from zkchat_cli.errors import StoreError, UsageError, VaultError
from zkchat_cli.memory import fact_ranking
from zkchat_cli.memory.conversation_excerpts import describe_message
from zkchat_cli.memory.fact_keys import slugify, suggest_key
from zkchat_cli.memory.fact_ranking import RankedMemory, StoredMemory
from zkchat_cli.memory.file_reader import MemoryFiles, Stamp
from zkchat_cli.memory.project import ALSO_READ, MemoryItem, find_active_notes, load_agent_memory, load_folder_memory, load_root_memory
from zkchat_cli.models import Fact, ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.vault import Vault

SHARE, ROOT_SHARE, AGENT_SHARE, FOLDER_SHARE = 0.2, 0.12, 0.04, 0.04
"""Of the messages' budget: all of memory, its files in the root, the agent's own, and those in folders. Facts get what these leave."""
MAX_RECALLED_MESSAGES = 20


@dataclass(frozen=True, slots=True)
class FactUpdate:
    """A fact that holds now, and the one it took the place of."""

    fact: Fact
    replaced: Fact | None


class Memory:
    """What outlasts a conversation, for one of them. `about` says what a document is about, in a line."""

    def __init__(
        self,
        vault: Vault,
        store: ChatSessionStore,
        settings: Config,
        now: Callable[[], str],
        *,
        about: Callable[[str], str | None] = lambda _: None,
        agent: Agent | None = None,
    ) -> None:
        self._vault, self._store, self._now, self._about = vault, store, now, about
        self.enabled = settings.context.memory_integration
        self._names = tuple(dict.fromkeys(filter(None, (settings.memory.project_file, ALSO_READ))))
        self._told: set[str] = set()
        self._notices: list[tuple[str, str]] = []
        self._files = MemoryFiles(vault.root, self.notify)
        self._agent = agent
        self._agents_files = MemoryFiles(agent.memory_file.parent, self.notify) if agent is not None and agent.memory_file else None
        self._documents: tuple[StoredMemory, ...] | None = None
        self._chosen: tuple[tuple[str, int, TokenCounter], tuple[MemoryItem, ...]] | None = None
        self._made: dict[str, tuple[object, dict[str, Stamp], tuple[MemoryItem, ...]]] = {}
        self._facts: tuple[Fact, ...] = ()
        self._told_facts: tuple[StoredMemory, ...] = ()
        self._version: tuple[int, int] | None = None
        with suppress(StoreError):
            self.facts()
        self.conversation_id: str | None = None
        self.message_id: str | None = None
        """What is being talked about when something is remembered."""

    def memory_file_among(self, paths: Iterable[str]) -> str | None:
        """The first of these paths at which a memory file stands, or would: what is in it, every later conversation is told."""
        return next((p for p in paths if any(n.lower() in (p.lower(), posixpath.basename(p).lower()) for n in self._names)), None)

    # in the prompt

    def project_items(self, budget: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
        """The memory files in the vault's root, for a prompt whose messages may take so many tokens."""
        if not self.enabled:
            return ()
        room = int(ROOT_SHARE * budget)
        return self._unchanged("root", (room, counter), lambda: load_root_memory(self._files, self._names, room, counter))

    def fixed_items(self, budget: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
        """The memory that stands in the front of every prompt: the vault's, then the agent's own."""
        agent, files = self._agent, self._agents_files
        if not self.enabled or agent is None or files is None:
            return self.project_items(budget, counter)
        room = int(AGENT_SHARE * budget)
        own = self._unchanged("agent", (room, counter), lambda: load_agent_memory(files, agent, room, counter), files)
        return (*self.project_items(budget, counter), *own)

    def _unchanged(
        self, name: str, asked: object, make: Callable[[], tuple[MemoryItem, ...]], files: MemoryFiles | None = None
    ) -> tuple[MemoryItem, ...]:
        """What was made last time, unless something else is asked for or a file has changed: it is asked for with every prompt."""
        made, files = self._made.get(name), files or self._files
        if made is None or made[0] != asked or any(files.stamp(path) != stamp for path, stamp in made[1].items()):
            files.looked_at = {}
            items = make()
            made = self._made[name] = asked, files.looked_at, items
        return made[2]

    def contextual_items(
        self, current: Sequence[ZkChatMessage], recent: Sequence[ZkChatMessage], budget: int, counter: TokenCounter
    ) -> tuple[MemoryItem, ...]:
        """What comes with this turn's messages alone: memory of the folders of the notes in play, then what bears on its question."""
        if not self.enabled:
            return ()
        root = self.fixed_items(budget, counter)
        left = int(SHARE * budget) - sum(item.tokens for item in root)
        notes, room = find_active_notes(current, recent), int(FOLDER_SHARE * budget)
        make = partial(load_folder_memory, self._files, self._names, notes, room, counter, root)
        folders = self._unchanged("folders", (notes, room, counter, root), make)
        question = next((m.prompt_text for m in current if m.role == "user"), "")
        return (*folders, *self._bearing(question, left - sum(item.tokens for item in folders), counter))

    def _bearing(self, question: str, room: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
        """Chosen once for a question, so that the prompts of one turn begin alike."""
        asked = (question, room, counter)
        if self._chosen is None or self._chosen[0] != asked:
            try:
                self._chosen = asked, fact_ranking.choose_for_prompt(self.rank(question), room, counter)
            except (StoreError, VaultError) as e:
                self.notify(e.message, e.hint)
                return ()
        return self._chosen[1]

    def begin_turn(self, conversation_id: str, message_id: str) -> None:
        """A turn begins, with this message: what is remembered from now on is of it."""
        self.conversation_id, self.message_id = conversation_id, message_id
        self._chosen = None

    def finish_turn(self) -> tuple[str, ...]:
        """A turn has ended: the keys of the facts chosen for it, which were of use; each once a day, as that is how it is told."""
        keys = {item.key for item in self._chosen[1] if item.kind == "fact"} if self._chosen else set()
        self._chosen = None
        today = self._now()[:10] if keys else ""
        return tuple(fact.key for fact in self._facts if fact.key in keys and (fact.last_accessed or "")[:10] != today)

    def pop_notices(self) -> list[tuple[str, str]]:
        """What the user should know since this was last asked, and what to do about it: what was wrong with memory, each once, and what
        the model has remembered."""
        taken, self._notices = self._notices, []
        return taken

    def notify(self, message: str, hint: str) -> None:
        """Have the user told of something, once."""
        if message not in self._told:
            self._told.add(message)
            self._notices.append((message, hint))

    # facts

    @property
    def _at(self) -> str:
        return str(self._vault.root)

    def facts(self) -> tuple[Fact, ...]:
        """The facts that hold, the newest first; read again when somebody may have changed them."""
        version = self._store.facts_version()
        if version != self._version:
            self._facts, self._version = self._store.facts(self._at), version
            self._told_facts = tuple(map(fact_ranking.recall_fact, self._facts))
        return self._facts

    def fact_keys(self) -> list[str]:
        """The keys of the facts as they were last read; may be asked from any thread."""
        return [fact.key for fact in self._facts]

    def all_items(self) -> tuple[StoredMemory, ...]:
        """The facts, and the notes that several conversations cited as it was when this one began."""
        if self._documents is None:
            cited = [each for each in self._store.often_cited(self._at) if self._is_there(each.relative_path)]
            self._documents = tuple(fact_ranking.recall_cited_note(each, self._about(each.relative_path)) for each in cited)
        self.facts()
        return (*self._told_facts, *self._documents)

    def _is_there(self, path: str) -> bool:
        try:
            return filesystem.resolve_inside(self._vault.root, path).is_file()
        except (VaultError, OSError):
            return False

    def rank(self, text: str) -> tuple[RankedMemory, ...]:
        """Everything remembered that shares a word with the text, what bears most on it first."""
        return fact_ranking.rank_by_relevance(text, self.all_items(), self._now()) if text.strip() else ()

    def search(self, text: str, budget: int, counter: TokenCounter) -> tuple[RankedMemory, ...]:
        """`relevant`, and the memory files in the vault's root besides."""
        files = [
            StoredMemory("file", item.relative_path, item.content, item.content, "", item.relative_path)
            for item in self.project_items(budget, counter)
        ]
        return fact_ranking.rank_by_relevance(text, (*self.all_items(), *files), self._now()) if text.strip() else ()

    def remember(self, text: str, *, key: str = "", source: str = "user") -> FactUpdate:
        """Keep a fact; of the same key, it replaces the older one. Raises UsageError for none, one that is too long, and while off."""
        if not self.enabled:
            raise UsageError("memory is switched off", "Switch it on: zkchat config set context.memory_integration true")
        content = fact_ranking.clean_fact(text)
        if not any(c.isalnum() for c in content):
            raise UsageError("there is nothing to remember", "Say what, as: the roofer's number is 0171 5550")
        if len(content) > fact_ranking.LONGEST_FACT:
            problem = f"that is too long to remember: {len(content)} characters of at most {fact_ranking.LONGEST_FACT}"
            raise UsageError(problem, "Write a note, which can be searched, and remember where it is.")
        taken = {fact.key: fact.content for fact in self.facts()}
        key = slugify(key) or suggest_key(content, taken)
        fact = Fact(
            key=key,
            content=content,
            source=source,
            conversation_id=self.conversation_id,
            message_id=self.message_id,
            created_at=self._now(),
        )
        replaced = self._store.remember(self._at, fact)
        if source == "model":
            instead = f", in place of: {replaced.content}" if replaced and replaced.content != content else ""
            self._notices.append(
                (f"remembered as {key}: {content}{instead}", f"/forget {key}, or zkchat memory forget {key}, takes it back")
            )
        return FactUpdate(fact, replaced)

    def forget(self, key: str) -> Fact:
        """Delete a fact, named by its key or the beginning of it. Raises UsageError that names the nearest when it is not one."""
        known = {fact.key: fact for fact in self.facts()}
        wanted = slugify(key)
        matches = [wanted] if wanted in known else [key for key in known if wanted and key.startswith(wanted)]
        if len(matches) != 1:
            near = matches or difflib.get_close_matches(wanted, known, n=3, cutoff=0.4) or list(known)
            problem = f"{wanted!r} begins {len(matches)} keys" if matches else f"nothing is remembered as {wanted!r}"
            raise UsageError(problem, f"Nearest: {', '.join(near[:5])}" if near else "Nothing has been remembered yet.")
        return self._store.forget(self._at, matches[0]) or known[matches[0]]

    # what was said

    def search_conversations(self, query: str, limit: int) -> list[dict[str, object]]:
        """What was said in this conversation and, while memory is on, in earlier ones with this vault, best first."""
        only = None if self.enabled else self.conversation_id or ""
        found = self._store.search(self._at, query, conversation_id=only, limit=min(limit, MAX_RECALLED_MESSAGES))
        return [describe_message(said, query, here=said.conversation_id == self.conversation_id) for said in found]
