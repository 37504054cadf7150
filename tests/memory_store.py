"""A store in plain dictionaries: the second implementation of the ports in `store/port.py`.

It has no SQL, no files and no full-text index, so what it shares with the one in SQLite is what the
ports promise. tests/test_store_port.py runs against both.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.models.archive import ArchivedCall, ArchivedPrompts, ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage, branch_to, is_chat
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.models.prompts import Calibration, Prompt, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.store.conversation_rows import taken_id
from zkchat_cli.store.port import (
    FactStore,
    MessageWithoutVectors,
    PassageVectors,
    PromptArchive,
    SessionStore,
    StoreChanges,
    StoredMessageVectors,
)
from zkchat_cli.store.rows import has_ended_since
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import content_stems

# The fields of a message that never change
_WORDS = ("parent_id", "role", "content", "timestamp")


def _contradiction(action: str, what: str) -> StoreError:
    why = f"it contradicts what is stored ({what})"
    return StoreError(f"The store in memory cannot {action}: {why}", "Nothing was changed.")


@dataclass
class _Talk:
    """A conversation with everything that is deleted with it."""

    conversation: Conversation
    log: dict[str, ZkChatMessage] = field(default_factory=dict)
    compactions: dict[str, Compaction] = field(default_factory=dict)
    preview: Compaction | None = None
    sent: list[SentPrompt] = field(default_factory=list)

    def overview(self) -> ConversationOverview:
        questions = [each.content for each in self.log.values() if each.role == "user"]
        lines = questions[0].strip().splitlines() if questions else []
        return ConversationOverview(
            **self.conversation.model_dump(),
            messages=sum(map(is_chat, self.log.values())),
            first_line=lines[0].strip() if lines else None,
            tokens=sum(each.token_count or 0 for each in self.log.values()),
        )

    def copy(self) -> "_Talk":
        return _Talk(
            self.conversation,
            dict(self.log),
            dict(self.compactions),
            self.preview,
            list(self.sent),
        )


@dataclass
class _Data:
    talks: dict[str, _Talk] = field(default_factory=dict)
    # The facts that are or were current, the oldest first, each with its vault and number
    facts: dict[int, tuple[str, Fact]] = field(default_factory=dict)
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    # By message or fact: a number that grows, the embedder and the vectors
    message_vectors: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    fact_vectors: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    changes: int = 0
    # One transaction at a time
    lock: threading.RLock = field(default_factory=threading.RLock)

    def copy(self) -> "_Data":
        own = {name: value for name, value in vars(self).items() if name != "lock"}
        other = _Data(**{name: copy(value) for name, value in own.items()})
        other.talks = {id_: talk.copy() for id_, talk in self.talks.items()}
        return other

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.lock:
            before = self.copy()
            try:
                yield
            except BaseException:
                vars(self).update({**vars(before), "lock": self.lock})
                raise
            self.changes += 1

    def talks_with(self, vault: str | None) -> list[_Talk]:
        return [each for each in self.talks.values() if vault in (None, each.conversation.vault)]

    def next_number(self) -> int:
        numbers = [number for number, *_ in self.message_vectors.values()]
        return max([0, *self.facts, *numbers]) + 1


class MemoryFacts(FactStore):
    def __init__(self, data: _Data) -> None:
        self._data = data

    def _numbers(self, vault: str) -> list[int]:
        """Of the current facts, the newest first."""
        facts = reversed(self._data.facts.items())
        return [n for n, (where, fact) in facts if where == vault and fact.ended_at is None]

    def vaults(self) -> tuple[str, ...]:
        facts = self._data.facts.values()
        return tuple(sorted({vault for vault, fact in facts if fact.ended_at is None}))

    def current(self, vault: str) -> tuple[Fact, ...]:
        found: list[Fact] = []
        for number in self._numbers(vault):
            _, fact = self._data.facts[number]
            talk = self._data.talks.get(fact.conversation_id or "")
            title = talk.conversation.title if talk else None
            found.append(fact.model_copy(update={"title": title}))
        return tuple(found)

    def _current(self, vault: str, key: str) -> Fact | None:
        return next((fact for fact in self.current(vault) if fact.key == key), None)

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        replaced = self._current(vault, fact.key)
        with self._data.transaction():
            for number in self._numbers(vault):
                _, other = self._data.facts[number]
                if other.key == fact.key:
                    ended = other.model_copy(update={"ended_at": fact.created_at})
                    self._data.facts[number] = (vault, ended)
            self._data.facts[self._data.next_number()] = (vault, fact)
        return replaced

    def forget(self, vault: str, key: str) -> Fact | None:
        fact = self._current(vault, key)
        with self._data.transaction():
            facts = self._data.facts.items()
            self._data.facts = {
                number: (where, each)
                for number, (where, each) in facts
                if (where, each.key) != (vault, key)
            }
        return fact

    def often_cited(self, vault: str) -> tuple[NoteUsage, ...]:
        found = [each for each in self._usage(vault, cited=True) if each.conversations > 1]
        return tuple(sorted(found, key=lambda each: (each.conversations, each.last_used))[::-1])

    def most_used_notes(self, vault: str, most: int) -> tuple[NoteUsage, ...]:
        found = self._usage(vault, cited=False)
        found.sort(key=lambda n: (-n.answers, -n.citations, -n.conversations, n.relative_path))
        return tuple(found[:most])

    def _usage(self, vault: str, *, cited: bool) -> list[NoteUsage]:
        """How often each note was cited, or used in any way but by memory."""
        uses: defaultdict[str, list[tuple[str, ZkChatMessage, int]]] = defaultdict(list)
        for talk in self._data.talks_with(vault):
            for message in talk.log.values():
                citations = [c.relative_path for c in message.citations if c.relative_path]
                references = [
                    r.relative_path
                    for r in message.references
                    if r.relative_path and r.reference_type != "memory"
                ]
                for path in {*citations, *([] if cited else references)}:
                    count = citations.count(path)
                    uses[path].append((talk.conversation.id, message, count))
        return [
            NoteUsage(
                relative_path=path,
                conversations=len({id_ for id_, _, _ in found}),
                answers=sum(message.role == "assistant" for _, message, _ in found),
                citations=sum(count for _, _, count in found),
                last_used=max(message.timestamp for _, message, _ in found),
            )
            for path, found in uses.items()
        ]


class MemoryPrompts(PromptArchive):
    def __init__(self, data: _Data) -> None:
        self._data = data

    def sent_for(self, question_id: str) -> tuple[SentPrompt, ...]:
        sent = [each for talk in self._data.talks.values() for each in talk.sent]
        of_question = [each for each in sent if each.question_id == question_id]
        return tuple(
            each.model_copy(update={"call": call}) for call, each in enumerate(of_question, 1)
        )

    def calibration(self, model: str) -> Calibration:
        return self._data.calibrations.get(model, Calibration())


class MemoryVectors(PassageVectors):
    def __init__(self, data: _Data, facts: MemoryFacts) -> None:
        self._data = data
        self._facts = facts

    def of_messages(
        self, conversation_id: str, embedder: str, after: int
    ) -> list[StoredMessageVectors]:
        talk = self._data.talks.get(conversation_id)
        found = [
            StoredMessageVectors(row, id_, passages)
            for id_, (row, made_by, passages) in self._data.message_vectors.items()
            if talk and id_ in talk.log and made_by == embedder and row > after
        ]
        return sorted(found)

    def messages_without(
        self, vault: str, embedder: str, before: int | None, limit: int
    ) -> list[MessageWithoutVectors]:
        everything = [(m, t) for t in self._data.talks.values() for m in t.log.values()]
        found: list[MessageWithoutVectors] = []
        for row, (message, talk) in enumerate(everything, 1):
            _, made_by, _ = self._data.message_vectors.get(message.id, (0, None, b""))
            is_text = message.role in ("user", "assistant") and message.content.strip()
            is_older = before is None or row < before
            is_wanted = talk.conversation.vault == vault and made_by != embedder
            if is_text and is_older and is_wanted:
                found.append(MessageWithoutVectors(row, message.id, message.content))
        return found[::-1][:limit]

    def add_for_messages(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        with self._data.transaction():
            known = {id_ for talk in self._data.talks.values() for id_ in talk.log}
            for id_ in vectors.keys() & known:
                row = self._data.next_number()
                self._data.message_vectors[id_] = (row, embedder, vectors[id_])

    def of_facts(self, vault: str, embedder: str) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for number in self._facts._numbers(vault):
            _, fact = self._data.facts[number]
            made_by, passages = self._data.fact_vectors.get(number, (None, b""))
            if made_by == embedder:
                found[fact.key] = passages
        return found

    def facts_without(self, vault: str, embedder: str, limit: int) -> dict[int, str]:
        vectors = self._data.fact_vectors
        missing = [
            number
            for number in self._facts._numbers(vault)
            if vectors.get(number, (None, b""))[0] != embedder
        ]
        return {number: self._data.facts[number][1].content for number in missing[:limit]}

    def add_for_facts(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        with self._data.transaction():
            for number, passages in vectors.items():
                _, fact = self._data.facts.get(number, ("", None))
                if fact is not None and fact.ended_at is None:
                    self._data.fact_vectors[number] = (embedder, passages)


class MemoryStore(SessionStore):
    """Everything is lost with the object."""

    sharing = None
    watch = None
    waiting_turns = 0
    away = None
    refusal = None

    def __init__(self, data: _Data | None = None) -> None:
        self._data = data or _Data()
        self.write_error: StoreUnwritable | None = None
        facts = MemoryFacts(self._data)
        self.facts = facts
        self.prompts = MemoryPrompts(self._data)
        self.vectors = MemoryVectors(self._data, facts)

    @property
    def persistent(self) -> bool:
        return False

    def changes(self) -> StoreChanges:
        return StoreChanges(own=self._data.changes, others=0)

    def reopen(self) -> "MemoryStore":
        return MemoryStore(self._data.copy())

    def close(self) -> None:
        pass

    # conversations

    def _talk(self, conversation_id: str) -> _Talk:
        if conversation_id not in self._data.talks:
            raise StoreError(f"there is no conversation {conversation_id}", self._recent())
        return self._data.talks[conversation_id]

    def _recent(self) -> str:
        return "The most recent ones: " + ", ".join(c.id for c in self.conversations(None, 5))

    def _update(self, conversation_id: str, **changes: str | tuple[str, ...] | None) -> None:
        talk = self._talk(conversation_id)
        talk.conversation = talk.conversation.model_copy(update=changes)

    def start(self, conversation: Conversation) -> None:
        if conversation.id in self._data.talks:
            raise taken_id(conversation.id)
        with self._data.transaction():
            self._data.talks[conversation.id] = _Talk(conversation)

    def conversation(self, conversation_id: str) -> ConversationOverview:
        return self._talk(conversation_id).overview()

    def find(self, prefix: str | None, vault: str | None) -> ConversationOverview:
        if prefix is None:
            for newest in self.conversations(vault, 1):
                return newest
            raise StoreError(f"there is no conversation with {vault} yet", self._recent())
        if prefix in self._data.talks:
            return self.conversation(prefix)
        ids = [id_ for id_ in self._data.talks if prefix and id_.startswith(prefix)]
        if len(ids) == 1:
            return self.conversation(ids[0])
        raise StoreError(f"{prefix!r} is the beginning of {len(ids)} conversations", self._recent())

    def conversations(
        self, vault: str | None = None, limit: int | None = None
    ) -> list[ConversationOverview]:
        found = [talk.overview() for talk in self._data.talks_with(vault)]
        found.reverse()
        found.sort(key=lambda each: datetime.fromisoformat(each.updated_at), reverse=True)
        return found[:limit]

    def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        with self._data.transaction():
            if title is not None:
                self._update(conversation_id, title=title)
            if documents is not None:
                self._update(conversation_id, documents=tuple(documents))

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        with self._data.transaction():
            self._move(conversation_id, message_id)

    def _move(self, conversation_id: str, message_id: str | None, **changes: str | None) -> None:
        if message_id is not None and message_id not in self._talk(conversation_id).log:
            raise _contradiction("move in a conversation", f"{message_id} is not in it")
        self._update(conversation_id, head_id=message_id, **changes)

    def delete(self, *conversation_ids: str) -> None:
        for id_ in conversation_ids:
            self._talk(id_)
        with self._data.transaction():
            for id_ in {*conversation_ids}:
                del self._data.talks[id_]
            for number, (vault, fact) in self._data.facts.items():
                if fact.conversation_id in conversation_ids:
                    released = fact.model_copy(update={"conversation_id": None, "message_id": None})
                    self._data.facts[number] = (vault, released)

    # messages

    def _insert(self, conversation_id: str, message: ZkChatMessage) -> None:
        log = self._talk(conversation_id).log
        if any(message.id in talk.log for talk in self._data.talks.values()):
            raise _contradiction("store a message", f"{message.id} is there already")
        if message.parent_id is not None and message.parent_id not in log:
            raise _contradiction("store a message", f"{message.parent_id} is not in it")
        log[message.id] = message

    def _replace(
        self, conversation_id: str, message: ZkChatMessage, *, with_status: bool = False
    ) -> None:
        log = self._talk(conversation_id).log
        if message.id not in log:
            raise StoreError(
                f"The message {message.id} is not in conversation {conversation_id}",
                "Nothing was changed.",
            )
        stored = log[message.id]
        kept = {name: getattr(stored, name) for name in _WORDS}
        if not with_status:
            kept["status"] = stored.status
        log[message.id] = message.model_copy(update=kept)

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        with self._data.transaction():
            talk = self._talk(conversation_id)
            head = talk.conversation.head_id
            self._insert(conversation_id, message)
            parent = talk.log.get(message.parent_id or "")
            if parent is not None and parent.status == "pending":
                talk.log[parent.id] = parent.model_copy(update={"status": "unfinished"})
            self._move(conversation_id, message.id, updated_at=message.timestamp)
        return head

    def commit(
        self,
        conversation_id: str,
        user: ZkChatMessage,
        answer: Sequence[ZkChatMessage],
        *,
        updated_at: str,
        title: str | None = None,
        sent: Sequence[SentPrompt] = (),
        calibrations: Mapping[str, Calibration] = {},
        facts_used: Sequence[str] = (),
    ) -> None:
        with self._data.transaction():
            self._replace(conversation_id, user, with_status=True)
            for message in answer:
                self._insert(conversation_id, message)
            talk = self._talk(conversation_id)
            title = talk.conversation.title or title
            head = answer[-1].id if answer else user.id
            self._move(conversation_id, head, updated_at=updated_at, title=title)
            talk.sent += sent
            self._data.calibrations |= calibrations
            vault = talk.conversation.vault
            for number in self.facts._numbers(vault):
                _, fact = self._data.facts[number]
                if fact.key in facts_used:
                    used = fact.model_copy(update={"last_accessed": updated_at})
                    self._data.facts[number] = (vault, used)

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        with self._data.transaction():
            for message in changed:
                self._replace(conversation_id, message)

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        return tuple(self._talk(conversation_id).log.values())

    def history(self, conversation_id: str, last: int | None = None) -> tuple[ZkChatMessage, ...]:
        head_id = self._talk(conversation_id).conversation.head_id
        branch = branch_to(self.log(conversation_id), head_id)
        return branch if last is None else branch[-last:]

    def search(
        self,
        vault: str | None,
        text: str,
        *,
        conversation_id: str | None = None,
        limit: int = 10,
        languages: tuple[str, ...] = (ENGLISH,),
        tool_results: bool = True,
    ) -> tuple[FoundMessage, ...]:
        wanted = {*content_stems(text, languages)}
        found: list[FoundMessage] = []
        for talk in self._data.talks_with(vault):
            id_ = talk.conversation.id
            for message in talk.log.values():
                shared = wanted & {*content_stems(message.content, languages)}
                is_wanted = tool_results or message.role != "tool"
                if shared and is_wanted and conversation_id in (None, id_):
                    title = talk.conversation.title
                    score = float(len(shared))
                    found.append(
                        FoundMessage(conversation_id=id_, title=title, message=message, score=score)
                    )
        found.sort(key=lambda each: -each.score)
        return tuple(found[: max(limit, 0)])

    # archives

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        talk = self._talk(conversation_id)
        return ConversationArchive(
            conversation=self.conversation(conversation_id),
            messages=self.log(conversation_id),
            compactions=self.compactions(conversation_id, undone=prompts),
            prompts=_archive_prompts(talk.sent) if prompts and talk.sent else None,
        )

    def restore(self, archives: Sequence[ConversationArchive]) -> list[int]:
        with self._data.transaction():
            return [self._restore(archive) for archive in archives]

    def _restore(self, archive: ConversationArchive) -> int:
        conversation = archive.conversation
        id_ = conversation.id
        is_new = id_ not in self._data.talks
        if is_new:
            empty = Conversation(**conversation.model_dump(include={*Conversation.model_fields}))
            self._data.talks[id_] = _Talk(empty.model_copy(update={"head_id": None}))
        talk = self._talk(id_)
        if talk.conversation.vault != conversation.vault:
            vault = talk.conversation.vault
            raise StoreError(f"the conversation {id_} was imported with other notes: {vault}", "")
        head = talk.conversation.head_id
        new = [message for message in archive.messages if message.id not in talk.log]
        ended = [
            message
            for message in archive.messages
            if message.id in talk.log and has_ended_since(message, talk.log[message.id].status)
        ]
        for message in ended:
            stored = talk.log[message.id]
            words = {name: getattr(stored, name) for name in _WORDS}
            talk.log[message.id] = message.model_copy(update=words)
        for message in new:
            self._insert(id_, message)
        summaries = {*talk.compactions}
        for compaction in archive.compactions:
            if compaction.id in summaries:
                continue
            if compaction.id in talk.compactions:
                raise _contradiction("store an imported conversation", "a summary is there twice")
            self._add_compaction(id_, compaction)
        if archive.prompts is not None:
            fresh = {message.id for message in (*new, *ended)}
            sent = _sent_prompts(archive.prompts)
            talk.sent += [each for each in sent if is_new or each.question_id in fresh]
        if new and head in (None, *(message.id for message in archive.messages)):
            self._move(id_, conversation.head_id, updated_at=conversation.updated_at)
        return len(new)

    # compactions

    def _add_compaction(self, conversation_id: str, compaction: Compaction) -> None:
        talk = self._talk(conversation_id)
        if compaction.last_id is not None and compaction.last_id not in talk.log:
            raise _contradiction("store a summary", f"{compaction.last_id} is not in it")
        if compaction.preview:
            talk.preview = compaction
        else:
            talk.compactions[compaction.id] = compaction

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        with self._data.transaction():
            self._add_compaction(conversation_id, compaction)

    def undo_compaction(
        self, conversation_id: str, compaction_id: str | None = None
    ) -> Compaction | None:
        made = self._talk(conversation_id).compactions
        for compaction in reversed(self.compactions(conversation_id)):
            if compaction_id in (None, compaction.id):
                with self._data.transaction():
                    made[compaction.id] = compaction.model_copy(update={"undone": True})
                return compaction
        return None

    def compactions(self, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
        made = self._talk(conversation_id).compactions.values()
        return tuple(each for each in made if undone or not each.undone)

    def preview(self, conversation_id: str) -> Compaction | None:
        return self._talk(conversation_id).preview


def _archive_prompts(sent: Sequence[SentPrompt]) -> ArchivedPrompts:
    messages: list[PromptMessage] = []
    tools: list[PromptTool] = []
    calls: list[ArchivedCall] = []
    for each in sent:
        prompt = each.prompt
        messages += [message for message in prompt.messages if message not in messages]
        tools += [tool for tool in prompt.tools if tool not in tools]
        calls.append(
            ArchivedCall(
                question_id=each.question_id,
                model=each.model,
                usage=each.usage,
                strategy=prompt.strategy,
                dropped=prompt.dropped,
                figures=prompt.usage,
                messages=tuple(map(messages.index, prompt.messages)),
                tools=tuple(map(tools.index, prompt.tools)),
            )
        )
    return ArchivedPrompts(messages=tuple(messages), tools=tuple(tools), calls=tuple(calls))


def _sent_prompts(prompts: ArchivedPrompts) -> list[SentPrompt]:
    return [
        SentPrompt(
            question_id=call.question_id,
            call=0,
            model=call.model,
            usage=call.usage,
            prompt=Prompt(
                messages=tuple(prompts.messages[n] for n in call.messages),
                tools=tuple(prompts.tools[n] for n in call.tools),
                usage=call.figures,
                dropped=call.dropped,
                strategy=call.strategy,
            ),
        )
        for call in prompts.calls
    ]
