"""Facts, prompts and vectors of a store on a server that may be away (see `outbox_store.py`)."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from zkchat_cli.errors import StoreUnreachable
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.store.port import (
    FactStore,
    MessageWithoutVectors,
    PassageVectors,
    PromptArchive,
    SessionStore,
    StoredMessageVectors,
)

T = TypeVar("T")


class AskServer(Protocol):
    """Acts on the server, or otherwise on the outbox."""

    def __call__(
        self, act: Callable[[SessionStore], T], otherwise: Callable[[SessionStore], T], /
    ) -> T: ...


class OutboxFacts(FactStore):
    """The facts on the server. While it is away, those that were read last, and those that were
    remembered meanwhile.
    """

    def __init__(self, ask: AskServer) -> None:
        self._ask = ask
        self._read: dict[str, tuple[Fact, ...]] = {}

    def vaults(self) -> tuple[str, ...]:
        return self._ask(lambda store: store.facts.vaults(), lambda store: store.facts.vaults())

    def current(self, vault: str) -> tuple[Fact, ...]:
        def read(store: SessionStore) -> tuple[Fact, ...]:
            self._read[vault] = store.facts.current(vault)
            return self._read[vault]

        def remembered(store: SessionStore) -> tuple[Fact, ...]:
            new = store.facts.current(vault)
            keys = {fact.key for fact in new}
            return (*new, *(each for each in self._read.get(vault, ()) if each.key not in keys))

        return self._ask(read, remembered)

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        return self._ask(
            lambda store: store.facts.remember(vault, fact),
            lambda store: store.facts.remember(vault, fact),
        )

    def forget(self, vault: str, key: str) -> Fact | None:
        def forget_here(store: SessionStore) -> Fact | None:
            forgotten = store.facts.forget(vault, key)
            if forgotten is None:
                raise StoreUnreachable(
                    f"the server that may have the fact {key!r} cannot be reached",
                    "Forget it when the server answers.",
                )
            return forgotten

        return self._ask(lambda store: store.facts.forget(vault, key), forget_here)

    def often_cited(self, vault: str) -> tuple[NoteUsage, ...]:
        return self._ask(lambda store: store.facts.often_cited(vault), lambda _: ())

    def most_used_notes(self, vault: str, most: int) -> tuple[NoteUsage, ...]:
        return self._ask(lambda store: store.facts.most_used_notes(vault, most), lambda _: ())


class OutboxPrompts(PromptArchive):
    """The prompts on the server, and those that are kept here."""

    def __init__(self, ask: AskServer) -> None:
        self._ask = ask

    def sent_for(self, question_id: str) -> tuple[SentPrompt, ...]:
        return self._ask(
            lambda store: store.prompts.sent_for(question_id),
            lambda store: store.prompts.sent_for(question_id),
        )

    def calibration(self, model: str) -> Calibration:
        return self._ask(
            lambda store: store.prompts.calibration(model),
            lambda store: store.prompts.calibration(model),
        )


class OutboxVectors(PassageVectors):
    """The vectors on the server. While it is away there are none: they can be computed again."""

    def __init__(self, ask: AskServer) -> None:
        self._ask = ask

    def of_messages(
        self, conversation_id: str, embedder: str, after: int
    ) -> list[StoredMessageVectors]:
        return self._ask(
            lambda store: store.vectors.of_messages(conversation_id, embedder, after),
            lambda _: [],
        )

    def messages_without(
        self, vault: str, embedder: str, before: int | None, limit: int
    ) -> list[MessageWithoutVectors]:
        return self._ask(
            lambda store: store.vectors.messages_without(vault, embedder, before, limit),
            lambda _: [],
        )

    def add_for_messages(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        self._ask(lambda store: store.vectors.add_for_messages(embedder, vectors), _do_nothing)

    def of_facts(self, vault: str, embedder: str) -> dict[str, bytes]:
        return self._ask(lambda store: store.vectors.of_facts(vault, embedder), lambda _: {})

    def facts_without(self, vault: str, embedder: str, limit: int) -> dict[int, str]:
        return self._ask(
            lambda store: store.vectors.facts_without(vault, embedder, limit), lambda _: {}
        )

    def add_for_facts(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        self._ask(lambda store: store.vectors.add_for_facts(embedder, vectors), _do_nothing)


def _do_nothing(_: SessionStore) -> None:
    return None
