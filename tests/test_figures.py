"""The figures of a prompt, as people read them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import pytest
from building import COUNTER, a_compaction, said, talk

from zkchat_cli import tools
from zkchat_cli.chat.command_hints import IN_SHELL
from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_assembly import PromptInputs, assemble_prompt
from zkchat_cli.context.tool_filter import CORE
from zkchat_cli.context.turns import split_into_turns
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import CompactionDue, DocumentReference, Prompt, ToolCall, ZkChatMessage
from zkchat_cli.views import context_usage

DESCRIPTORS = tuple(tool.descriptor for tool in tools.load_tools())
MEMORY = (MemoryItem("ZKCHAT.md", "Be brief. " * 30, 60, "in the root"),)
SMART = (MemoryItem("", "Her favourite colour is green. " * 30, 60, "it shares words with the message", kind="fact", key="colour"),)
CHATTER = talk(*((f"Chatter number {i}? " * 40, "Indeed. " * 40) for i in range(12)))


def prompt_of(
    history: Sequence[ZkChatMessage] = (), question: str = "", window: int = 32768, strategy: str = "hybrid", **more: Any
) -> Prompt:
    current = (said("user", question, "now", status="pending"),) if question else ()
    material = PromptInputs(**{"instructions": "Cite.", "history": split_into_turns(history, COUNTER), "current": current, **more})
    return assemble_prompt(material, Budget.from_settings(ContextSettings(), window), strategies.load_strategy(strategy), COUNTER)


def drawn(prompt: Prompt, width: int = 80, **pinned: int) -> str:
    return context_usage.table(prompt, width, pinned)


def columns(line: str) -> int:
    """As a terminal counts them."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def estimated(prompt: Prompt, calibration: float = 1.0) -> Prompt:
    return prompt.model_copy(update={"usage": prompt.usage.model_copy(update={"estimated": True, "calibration": calibration})})


def test_the_table_names_every_component_and_what_to_do_about_the_largest() -> None:
    table = drawn(prompt_of(CHATTER, "And?", window=3000, tool_descriptors=DESCRIPTORS, memory=MEMORY))
    for part in ("instructions", "tools", "messages", "memory", "conversation", "largest:", "not sent:", "compaction is due:"):
        assert part in table
    assert "/compact folds older turns" in table


def test_the_table_of_an_empty_conversation_says_that_compaction_is_not_due() -> None:
    table = drawn(prompt_of())
    assert "largest" not in table
    assert "compaction is not due before 19667 tokens: 19660 to go" in table
    assert "spent on content 3, overhead 4" in table


def test_with_a_strategy_without_summaries_compaction_is_never_due() -> None:
    table = drawn(prompt_of(strategy="discard"), 100)
    assert "compaction is not due: with the strategy discard the oldest turns are left out instead" in table


def test_the_ten_largest_items_are_named_with_what_to_do_about_each() -> None:
    named = DocumentReference(wikilink="[[A]]", relative_path="A.md", reference_type="direct", summary="About A. " * 20)
    call = ToolCall(id="1", name="find_excerpts", arguments={"query": "anvil " * 40})
    history = (
        *talk(("Why? " * 20, "So. " * 20)),
        said("user", "And [[A]]? " * 10, "u", references=(named,)),
        said("assistant", "", "c", tool_calls=(call,)),
        said("tool", "Found. " * 100, "r", tool_call_id="1"),
        said("assistant", "Yes. " * 70, "a"),
    )
    prompt = prompt_of(
        history,
        "Next? " * 40,
        memory=MEMORY,
        contextual_memory=SMART,
        tool_descriptors=DESCRIPTORS,
        compaction=a_compaction("Talk. " * 50, "t1-a"),
    )
    table = drawn(prompt, 200, a=4)
    largest = table.partition("largest:\n")[2].splitlines()[:-1]
    assert [int(line.split()[0]) for line in largest] == sorted((int(line.split()[0]) for line in largest), reverse=True)
    for kind, advice in (
        (f"{len(DESCRIPTORS)} tool descriptions", "an agent may have fewer: /agent"),
        ("tool results: Found.", "/compact folds old results"),
        ("conversation: Yes.", "/unpin 4"),
        ("conversation: find_excerpts", "/compact folds older turns"),
        ("documents: The message below", "/compact; name fewer documents at once"),
        ("memory: <project-memory", "shorten ZKCHAT.md, or set context.memory_integration = false"),
        ("memory: <smart-memory", "/forget colour"),
        ("summary: <conversation-summary>", "lower context.summary_ratio; /new starts without it"),
    ):
        [line] = [line for line in largest if kind in line]
        assert line.endswith(f"({advice})"), line
    in_shell = context_usage.table(prompt, 200, {"a": 4}, IN_SHELL)
    assert re.findall(r" \(?(/[a-z]+[^)]*)", in_shell) == ["/unpin 4 in the chat"]
    assert "(zkchat context compact folds older turns)" in in_shell and "(zkchat memory forget colour)" in in_shell
    assert len(drawn(prompt_of(CHATTER)).partition("largest:\n")[2].splitlines()[:-1]) == 10


def test_the_tool_filter_is_advised_where_tools_have_passed_it() -> None:
    large = prompt_of(CHATTER, tool_descriptors=DESCRIPTORS, window=3000)
    table = context_usage.table(large, 200, filtered=False)
    assert "tool_filter" not in context_usage.table(large, 200)
    assert f'{len(DESCRIPTORS)} tool descriptions  (context.tool_filter = "auto" leaves out some)' in table
    core = [each for each in DESCRIPTORS if each["function"]["name"] in CORE]
    [line] = [line for line in drawn(prompt_of(CHATTER, tool_descriptors=core), 200).splitlines() if "tool descriptions" in line]
    assert "(" not in line


def test_a_pinned_message_is_named_by_its_turn() -> None:
    first, answer, second, other = talk(("Why?", "So."), ("Who?", "She."))
    pinned = second.model_copy(update={"pinned": True})
    assert context_usage.pinned((first, answer.model_copy(update={"pinned": True}), pinned, other)) == {answer.id: 1, second.id: 2}


def test_nothing_can_be_done_about_the_core_tools() -> None:
    core = tuple(d for d in DESCRIPTORS if d["function"]["name"] in CORE)
    (line,) = [line for line in drawn(prompt_of(tool_descriptors=core)).splitlines() if "3 tool descriptions" in line]
    assert line.endswith("descriptions")


def test_a_single_turn_cannot_be_folded_so_a_new_conversation_is_what_helps() -> None:
    assert "/new starts without it" in drawn(prompt_of(question="word " * 500))


def test_what_was_left_out_is_counted_by_its_reason() -> None:
    history = (*CHATTER, said("user", "Again?", "f", status="failed"))
    table = drawn(prompt_of(history, "And?", window=3000, compaction=a_compaction("Talk.", "t1-a"), strategy="summarize"), 200)
    (line,) = [line for line in table.splitlines() if line.startswith("not sent: ")]
    assert "1 the model call failed" in line
    assert "2 in the summary" in line
    assert "no room" in line


def test_tools_over_their_budget_are_said_with_the_figures() -> None:
    table = drawn(prompt_of(question="Why?", window=1500, tool_descriptors=DESCRIPTORS), 200)
    assert f"tools alone take {prompt_of(tool_descriptors=DESCRIPTORS).usage.tool_tokens} tokens of their budget of 450;" in table


@pytest.mark.parametrize("width", [40, 47, 59, 60, 61, 80, 120, 200])
@pytest.mark.parametrize("text", ["Chatter. ", "汉字 ", "汉字", "e\u0301😀", "x" * 300])
def test_no_line_is_wider_than_the_screen(width: int, text: str) -> None:
    named = DocumentReference(wikilink="[[A]]", relative_path="A.md", reference_type="direct", delivery="offered", delivery_reason=text * 9)
    history = [said("user", text * 40, "u", references=(named,)), *CHATTER[:6], said("assistant", text * 60, "a")]
    memory = (MemoryItem("ZKCHAT.md", text * 50, 60, "in the root"),)
    for prompt in (
        prompt_of(history, text, window=1000, memory=(), tool_descriptors=DESCRIPTORS[:3]),
        prompt_of(history, text, memory=memory, tool_descriptors=DESCRIPTORS, filter_tools=True, compaction=a_compaction(text * 9, "t1-a")),
        estimated(prompt_of(history, text, window=8192, memory=memory, tool_descriptors=DESCRIPTORS, filter_tools=True)),
    ):
        assert max(map(columns, drawn(prompt, width).splitlines())) <= width


def test_the_bars_grow_with_the_screen_as_long_as_that_helps() -> None:
    cells = [sum(c in "█░" for c in drawn(prompt_of(), width).splitlines()[1]) for width in (40, 60, 80, 200)]
    assert cells == [10, 20, 20, 20]
    assert "budget" not in drawn(prompt_of(), 40).splitlines()[0]


def test_estimates_are_marked_in_the_table() -> None:
    prompt = prompt_of(question="Why?")
    assert "~" not in drawn(prompt)
    assert "counted with the model's own vocabulary" in drawn(prompt)
    assert "~ estimated: the provider has reported no figures yet" in drawn(estimated(prompt))
    assert "~ estimated, calibrated by what the provider reported (× 1.25)" in drawn(estimated(prompt, 1.25))


def test_a_budget_of_nothing_makes_no_trouble() -> None:
    none = Budget.from_settings(ContextSettings(tool_budget_ratio=0), 32768)
    for descriptors in ((), DESCRIPTORS):
        drawn(assemble_prompt(PromptInputs("Cite.", (), tool_descriptors=descriptors), none, strategies.load_strategy("hybrid"), COUNTER))


@pytest.mark.parametrize(("share", "drawn"), [(0, "░░░░"), (0.001, "█░░░"), (0.5, "██░░"), (1, "████"), (7, "████")])
def test_a_bar_shows_a_share(share: float, drawn: str) -> None:
    assert context_usage.bar(share, 4) == drawn


@pytest.mark.parametrize(("tokens", "short"), [(0, "0"), (999, "999"), (1000, "1.0k"), (12_149, "12.1k"), (128_000, "128k")])
def test_thousands_are_short(tokens: int, short: str) -> None:
    assert context_usage.thousands(tokens) == short


@pytest.mark.parametrize(("used", "colour"), [(0, "green"), (629, "green"), (630, "yellow"), (809, "yellow"), (810, "red"), (5000, "red")])
def test_the_colour_of_a_budget(used: int, colour: str) -> None:
    usage = prompt_of(window=1000).usage.model_copy(update={"total_tokens": used, "compaction": CompactionDue(due=False)})
    assert context_usage.state(usage) == colour
