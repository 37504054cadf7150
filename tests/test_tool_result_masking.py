"""Masking: old tool results and documents lose their middles; the log keeps every word."""

from factories import COUNTER, chunk, make_history, message, split_into_turns, turns

from zkchat_cli.context.masks import find_maskable, mask_messages
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference

LONG = "The beginning. " + "All the words that stand between. " * 200 + "The end."


def tool_turn(name: str, result: str = LONG, **more: object) -> list[ZkChatMessage]:
    """A turn in which a tool found something."""
    call = ToolCall(id=f"{name}-1", name="find_excerpts", arguments={"query": name})
    return [
        message("user", f"What of {name}?", f"{name}-u"),
        message("assistant", "", f"{name}-c", tool_calls=(call,)),
        message(
            "tool",
            result,
            f"{name}-r",
            tool_call_id=call.id,
            tool_name="find_excerpts",
            chunks=(chunk(3), chunk(4)),
            **more,
        ),
        message("assistant", "So it is [3].", f"{name}-a"),
    ]


def split_turns(*messages: ZkChatMessage) -> tuple[Turn, ...]:
    return split_into_turns(messages, COUNTER)


def test_a_long_result_keeps_its_head_its_tail_and_its_sources() -> None:
    (turn,) = mask_messages(make_history(tool_turn("anvil"), COUNTER), ["anvil-r"], COUNTER).turns
    (result,) = (m for m in turn.prompt if m.kind == "tool_results")
    assert result.content.startswith("The beginning.")
    assert result.content.endswith("The end.")
    assert "Its sources: 3 Filters.md:5, 4 Filters.md:5." in result.content
    assert "Call find_excerpts again" in result.content
    assert result.tokens == COUNTER.count(result.content) + 4
    assert result.tool_call_id == "anvil-1"


def test_injected_documents_are_masked_too() -> None:
    reference = DocumentReference(
        wikilink="[[Filters]]",
        relative_path="Filters.md",
        reference_type="direct",
        delivery="injected",
    )
    asked = message(
        "user",
        "What of [[Filters]]?",
        "u",
        references=(reference,),
        chunks=tuple(chunk(i, LONG) for i in range(1, 13)),
    )
    whole = split_turns(asked, message("assistant", "So [1].", "a"))
    assert find_maskable(whole, COUNTER) == ("u",)
    (turn,) = mask_messages(TurnHistory(whole), ["u"], COUNTER).turns
    documents, question, _ = turn.prompt
    assert documents.kind == "documents"
    assert "[[Filters]] (Filters.md)" in documents.content
    assert "and 4 more" in documents.content
    assert "Read them again" in documents.content
    assert question.content == "What of [[Filters]]?"


def test_only_large_savings_are_masked() -> None:
    turns_ = split_turns(
        *tool_turn("anvil"),
        *tool_turn("bellows", "Short."),
        *tool_turn("chisel", LONG[:700]),
        *tool_turn("drill", LONG, pinned=True),
    )
    assert find_maskable(turns_, COUNTER) == ("anvil-r",)
    assert find_maskable(turns(("Hm?", LONG)), COUNTER) == ()


def test_masking_twice_changes_nothing_more() -> None:
    once = mask_messages(make_history(tool_turn("anvil"), COUNTER), ["anvil-r"], COUNTER).turns
    assert find_maskable(once, COUNTER) == ()
    short = make_history(tool_turn("anvil", "Short."), COUNTER)
    assert [turn.prompt for turn in mask_messages(short, ["anvil-r"], COUNTER).turns] == [
        turn.prompt for turn in short.turns
    ]
