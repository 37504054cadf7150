"""The history of a branch, of which old messages are only in the store."""

from factories import COUNTER, message, split_into_turns
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.context.turns import LoadableExchange, MessageHistory


def test_an_unloaded_turn_says_what_it_said() -> None:
    messages = tuple(message(role, f"{role} says so.", role[0]) for role in ("user", "assistant"))
    (turn,) = split_into_turns(messages, COUNTER)
    before = (turn.messages, turn.exchange.spoken, turn.prompt, turn.tokens)
    turn.unload(lambda ids: tuple(m for m in messages if m.id in ids))
    assert not turn.exchange.is_loaded
    assert (turn.messages, turn.exchange.spoken, turn.prompt, turn.tokens) == before
    assert turn.prompt is not turn.prompt


@given(st.lists(st.integers(1, 3), max_size=6), st.slices(12))
def test_a_history_of_messages_reads_like_a_tuple(sizes: list[int], wanted: slice) -> None:
    exchanges = [LoadableExchange([message("user", "?", f"{n}-{i}") for i in range(size)]) for n, size in enumerate(sizes)]
    expected = tuple(m for exchange in exchanges for m in exchange.messages)
    history = MessageHistory(exchanges)
    for exchange in exchanges[::2]:
        exchange.unload(lambda ids: tuple(m for m in expected if m.id in ids))
    assert (tuple(history), len(history), bool(history)) == (expected, len(expected), bool(expected))
    assert (history[wanted], (*reversed(history),)) == (expected[wanted], expected[::-1])
    assert [history[at] for at in range(-len(expected), len(expected))] == [*expected, *expected]
