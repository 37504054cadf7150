"""Turn histories: their running totals equal what reading all turns gives."""

from collections.abc import Iterable, Sequence

from factories import COUNTER, message, split_into_turns
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.context.exchanges import LoadableExchange, MessageHistory, StoredMessages, read_spoken
from zkchat_cli.context.turn_history import NEVER_UNLOADED, TurnHistory
from zkchat_cli.context.turns import Turn
from zkchat_cli.models import SpokenMessage, ToolCall, ZkChatMessage


def make_turns(*kinds: str) -> tuple[Turn, ...]:
    """A turn of each kind: `f` failed, `t` with a tool call, else without."""
    messages = []
    for i, kind in enumerate(kinds):
        messages.append(message("user", f"Question {i}?", f"u{i}", status="failed" if kind == "f" else "complete"))
        if kind == "t":
            messages.append(message("assistant", "", f"c{i}", tool_calls=(ToolCall(id=f"k{i}", name=f"tool_{i}"),)))
            messages.append(message("tool", "Found.", f"r{i}", tool_call_id=f"k{i}"))
        messages.append(message("assistant", f"Answer {i}.", f"a{i}"))
    return split_into_turns(messages, COUNTER)


def check_totals(history: TurnHistory, known: Sequence[Turn]) -> None:
    """Compare everything a history answers with its turns."""
    good = [turn for turn in known if not turn.failed]
    assert (len(history), list(history), history[:]) == (len(known), list(known), tuple(known))
    assert history.called_tools == {call.name for turn in known for m in turn.messages for call in m.tool_calls}
    for first in range(len(known) + 1):
        after = tuple(turn for turn in known[first:] if not turn.failed)
        assert history.sendable_turns(first) == after
        assert history.count_sendable(first) == sum(not turn.failed for turn in known[:first])
        assert history.tokens(first) == sum(turn.tokens for turn in after)
    assert history.tokens() == sum(turn.tokens for turn in good)
    for i, turn in enumerate(known):
        assert all(history.count_through(m.id) == i + 1 for m in turn.messages)
    assert history.count_through(None) == history.count_through("elsewhere") == 0


@given(st.lists(st.sampled_from("fts"), max_size=12), st.lists(st.integers(0, 3), max_size=4))
def test_totals_are_right_while_a_history_grows(kinds: list[str], pieces: list[int]) -> None:
    known = make_turns(*kinds)
    history, at, earlier = TurnHistory(), 0, []
    for piece in pieces:
        earlier.append((history, at))
        history, at = history.with_turns(known[at : at + piece]), min(at + piece, len(known))
    check_totals(history.with_turns(known[at:]), known)
    for each, length in earlier:  # the shorter histories have not changed
        check_totals(each, known[:length])
        shorter = {at: known[at].with_prompt(known[at].prompt[:1], frozenset()) for at in range(length) if at % 3 == 1}
        check_totals(each.with_replaced(shorter), [shorter.get(at, turn) for at, turn in enumerate(known[:length])])


class Kept:
    """A store that has only these messages."""

    def __init__(self, messages: Iterable[ZkChatMessage]) -> None:
        self.by_id = {message.id: message for message in messages}

    def has_messages(self, _: str, ids: Sequence[str]) -> bool:
        return self.by_id.keys() >= set(ids)

    def messages(self, _: str, ids: Sequence[str]) -> tuple[ZkChatMessage, ...]:
        return tuple(self.by_id[id_] for id_ in ids)

    def spoken_messages(self, _: str, ids: Sequence[str], *, links: bool = False) -> tuple[SpokenMessage, ...]:
        assert links, "a summary names the documents"
        return tuple(read_spoken([LoadableExchange(self.messages("", ids))], links=True).values())


def stored(messages: Iterable[ZkChatMessage]) -> StoredMessages:
    return StoredMessages(Kept(messages), "")  # type: ignore[arg-type]


def test_unloaded_turns_say_what_they_said() -> None:
    history = TurnHistory(make_turns(*"sftst" * 10))
    store = stored(message for turn in history for message in turn.messages)
    masked = history.with_replaced({2: history[2].with_prompt(history[2].prompt[:1], frozenset())})
    before = [(turn.messages, read_spoken([turn.exchange], links=True), turn.prompt, turn.tokens, turn.failed) for turn in masked]
    history.unload(history.tokens(), store)
    assert masked[0].prompt is masked[0].prompt, "all of them fit"
    history.unload(0, stored(()))
    assert masked[0].prompt is masked[0].prompt, "they are not stored"
    history.unload(0, store)
    assert masked[0].prompt is not masked[0].prompt
    assert masked[-NEVER_UNLOADED].prompt is masked[-NEVER_UNLOADED].prompt
    assert [(turn.messages, read_spoken([turn.exchange], links=True), turn.prompt, turn.tokens, turn.failed) for turn in masked] == before
    check_totals(history, tuple(history))


@given(st.lists(st.integers(1, 3), max_size=6), st.integers(0, 6), st.slices(12))
def test_a_history_of_messages_reads_like_a_tuple(sizes: list[int], shared: int, wanted: slice) -> None:
    exchanges = [LoadableExchange([message("user", "?", f"{n}-{i}") for i in range(size)]) for n, size in enumerate(sizes)]
    expected = tuple(m for exchange in exchanges for m in exchange.messages)
    history = shorter = MessageHistory(exchanges[:shared])
    for exchange in exchanges[shared:]:
        history.with_exchange(LoadableExchange([message("user", "Undone.", "x")]))  # another branch from the same place
        history = history.with_exchange(exchange)
        exchange.unload(stored(exchange.messages))
    assert (tuple(history), len(history), bool(history)) == (expected, len(expected), bool(expected))
    assert (history[wanted], (*reversed(history),)) == (expected[wanted], expected[::-1])
    assert [history[at] for at in range(-len(expected), len(expected))] == [*expected, *expected]
    assert tuple(shorter) == expected[: len(shorter)]
