"""The summary request to a model, and the summary in its answer."""

import pytest
from factories import COUNTER, chunk, message, split_into_turns, takes_less_than

from zkchat_cli.models.messages import ToolCall
from zkchat_cli.summarization.prompt import (
    SummaryRequest,
    build_summary_request,
    parse_summary,
    render_transcript,
)

# the answer


@pytest.mark.parametrize(
    "answer",
    [
        "<conversation-summary>The anvil is on shelf 7.</conversation-summary>",
        "<conversation-summary>\nThe anvil is on shelf 7.",
        "<CONVERSATION-SUMMARY lang='en'>The anvil is on shelf 7.</Conversation-Summary >",
        "Here it is:\n```xml\n<conversation-summary>\nThe anvil is on shelf 7.\n"
        "</conversation-summary>\n```\nAnything else?",
        "<conversation-summary>\n```\nThe anvil is on shelf 7.\n```\n</conversation-summary>",
        "<conversation-summary>```markdown\nThe anvil is on shelf 7.",
        "<think>I write <conversation-summary> and then…</think><conversation-summary>The "
        "anvil is on shelf 7.",
        "So: <conversation-summary>…</conversation-summary>: <conversation-summary>The "
        "anvil is on shelf 7.</conversation-summary>",
        "<summary>The anvil is on shelf 7.</summary>",
    ],
)
def test_a_summary_is_found_however_it_is_wrapped(answer: str) -> None:
    assert parse_summary(answer) == "The anvil is on shelf 7."


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I cannot help with that.",
        "The anvil is on shelf 7.",
        "<conversation-summary></conversation-summary>",
        "<conversation-summary>```\n```</conversation-summary>",
        "<conversation-summary> … </conversation-summary> The anvil is on shelf 7.",
        "The anvil is on shelf 7.</conversation-summary>",
    ],
)
def test_text_without_the_summary_tag_is_not_a_summary(answer: str) -> None:
    assert parse_summary(answer) is None


def test_an_answer_that_repeats_the_request_has_no_summary() -> None:
    messages = build_summary_request("user: Where is the anvil?", SummaryRequest(100), COUNTER)
    assert parse_summary("\n".join(m.content for m in messages)) is None


@pytest.mark.parametrize(
    "piece", ["<conversation-summary>", "</summary ", "<summary ", "```\n", "<think>"]
)
def test_a_million_characters_of_markup_are_parsed_in_two_seconds(piece: str) -> None:
    with takes_less_than(2):
        parse_summary("<conversation-summary>" + piece * (1_000_000 // len(piece)))


# the request


def test_a_transcript_has_speakers_dates_and_tool_calls() -> None:
    history = [
        message("user", "Where?", "u", timestamp="2025-05-01T10:00:00Z"),
        message(
            "assistant",
            "",
            "c",
            tool_calls=(ToolCall(id="1", name="find_excerpts", arguments={"query": "ключ"}),),
            timestamp="2025-05-01T",
        ),
        message(
            "tool", "Found it.", "r", tool_call_id="1", chunks=(chunk(),), timestamp="2025-05-01T"
        ),
        message("assistant", "There [1].", "a", timestamp="2025-05-02T10:00:00Z"),
    ]
    assert render_transcript(split_into_turns(history, COUNTER)) == [
        "2025-05-01:",
        "user: Where?",
        'assistant: \n→ find_excerpts {"query": "ключ"}',
        "tool result: Found it.",
        "2025-05-02:",
        "assistant: There [1].",
    ]
