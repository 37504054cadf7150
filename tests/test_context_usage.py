"""The token usage of a prompt, what a compaction did, and the overview of a prompt, as people read
them.
"""

from io import StringIO

import pytest
from factories import chunk, exchanges, make_compaction, message, prompt_of

from zkchat_cli import tools
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import TokenUsage, ToolCall
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import ContextUsage, Prompt
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.views import token_usage
from zkchat_cli.views.prompt_overview import overview_lines
from zkchat_cli.views.text import IN_SHELL, UNSTORED, BudgetBar, plain_text
from zkchat_cli.views.turn_steps import describe_active_compaction, describe_compaction

DESCRIPTORS = tuple(tool.descriptor for tool in tools.load_tools())
CORE_TOOLS = frozenset(tool.name for tool in tools.load_tools() if tool.core)
MEMORY = (MemoryItem("ZKCHAT.md", "Be brief. " * 30, 60, "in the root"),)
SMART = (
    MemoryItem(
        "",
        "Her favourite colour is green. " * 30,
        60,
        "it shares words with the message",
        kind="fact",
        key="colour",
    ),
)
CHATTER = exchanges(*((f"Chatter number {i}? " * 40, "Indeed. " * 40) for i in range(12)))


def usage_text(prompt: Prompt, width: int = 80) -> str:
    return plain_text(token_usage.usage_lines(prompt, (), width))


def with_usage(prompt: Prompt, **figures: object) -> Prompt:
    return prompt.model_copy(update={"usage": prompt.usage.model_copy(update=figures)})


def estimated(prompt: Prompt, calibration: float = 1.0) -> Prompt:
    return with_usage(prompt, estimated=True, calibration=calibration)


# token usage


def test_figures_that_were_stored_without_zeros_are_whole_again() -> None:
    whole = prompt_of(CHATTER, "And?", window=3000).usage
    stored = whole.model_dump(mode="json")
    for name in ("message_breakdown", "components"):
        stored[name] = {each: tokens for each, tokens in reversed(stored[name].items()) if tokens}
    read = ContextUsage.model_validate(stored)
    assert read == whole and [*read.message_breakdown] == [*whole.message_breakdown]


@pytest.mark.parametrize(
    ("prompt", "sentence"),
    [
        (prompt_of(), "Compacts at 23,592 of 29,491 tokens, 80% (23,585 left)."),
        (prompt_of(), "Tokens spent on content 3, overhead 4."),
        (
            prompt_of(CHATTER, "And?", window=3000, tool_descriptors=DESCRIPTORS, memory=MEMORY),
            "Compaction is due: the conversation needs 5,483 tokens; at 2,160 of 2,700 it "
            "is compacted (80%). /compact runs it.",
        ),
        (
            prompt_of(CHATTER, window=3000, compacts_first=True),
            "Compaction is due with the next message: the conversation needs 3,967 tokens; at "
            "2,160 of 2,700 it is compacted (80%).",
        ),
        (
            prompt_of(CHATTER, window=3000, compacts_first=True),
            "messages use 3,960 of 2,153 tokens: 1,807 more than their budget.",
        ),
        (
            prompt_of(CHATTER, "And?", window=3000),
            "Messages may use 1,800 tokens and 353 lent by instructions and tools.",
        ),
        (
            prompt_of(strategy="discard"),
            "No compaction: the strategy discard drops the oldest turns instead.",
        ),
        (prompt_of(question="Why?"), "Counted with a tokenizer, not estimated."),
        (
            estimated(prompt_of(question="Why?"), 1.25),
            "~ estimated, calibrated with the usage that the provider has reported so far (× 1.25)",
        ),
        (
            with_usage(prompt_of(tool_descriptors=DESCRIPTORS), tool_calibration=0.8),
            "Counted, and calibrated with the usage that the provider has reported so far "
            "(× 1.00, tools × 0.80).",
        ),
        (
            with_usage(prompt_of(question="Why?"), by_characters=True),
            "~ estimated by characters: zkchat doctor says which file of the tokenizer is wrong",
        ),
    ],
)
def test_the_usage_ends_with_the_facts_in_sentences(prompt: Prompt, sentence: str) -> None:
    assert sentence in usage_text(prompt).splitlines()


def test_a_document_is_in_the_prompt_only_while_its_excerpts_are() -> None:
    named = DocumentReference(
        wikilink="[[A]]",
        relative_path="A.md",
        reference_type="direct",
        delivery="injected",
        delivery_reason="9 tokens",
        numbers=(1,),
    )
    sent = prompt_of(
        (
            message(
                "user", "[[A]]?", "u", references=(named,), chunks=(chunk(1, relative_path="A.md"),)
            ),
        ),
        "And?",
    )
    assert "  full text   [[A]]  A.md: 9 tokens" in usage_text(sent).splitlines()
    gone = sent.model_copy(
        update={"messages": tuple(m for m in sent.messages if m.kind != "documents")}
    )
    assert (
        "  not now     [[A]]  A.md: its text was in an earlier prompt"
        in usage_text(gone).splitlines()
    )


def test_recalled_passages_are_a_component_and_the_overview_quotes_them() -> None:
    prompt = prompt_of(
        (*exchanges(("My anvil stands on shelf seven.", "Noted."), prefix="a"), *CHATTER),
        "Where is the anvil?",
        window=2000,
    )
    assert "  recalled" in usage_text(prompt)
    assert "      user: My anvil stands on shelf seven." in list(overview_lines(prompt))


def test_the_largest_items_come_with_advice() -> None:
    named = DocumentReference(
        wikilink="[[A]]", relative_path="A.md", reference_type="direct", summary="About A. " * 20
    )
    call = ToolCall(id="1", name="find_excerpts", arguments={"query": "anvil " * 40})
    history = (
        *exchanges(("Why? " * 20, "So. " * 20)),
        message("user", "And [[A]]? " * 10, "u", references=(named,)),
        message("assistant", "", "c", tool_calls=(call,)),
        message("tool", "Found. " * 100, "r", tool_call_id="1"),
        message("assistant", "Yes. " * 70, "a"),
    )
    prompt = prompt_of(
        history,
        "Next? " * 40,
        memory=MEMORY,
        contextual_memory=SMART,
        tool_descriptors=DESCRIPTORS,
        compaction=make_compaction("Talk. " * 50, "t1-a"),
    )
    pinned = [
        *(message("user", "Earlier?", f"u{i}") for i in range(2)),
        *history[:-1],
        history[-1].model_copy(update={"pinned": True}),
    ]
    items = (
        plain_text(token_usage.usage_lines(prompt, pinned, 200))
        .partition("Largest:\n")[2]
        .splitlines()[:-1]
    )
    assert [int(line.split()[0].replace(",", "")) for line in items] == sorted(
        (int(line.split()[0].replace(",", "")) for line in items), reverse=True
    )
    for kind, advice in (
        ("tool descriptions", "/agent NAME with fewer tools"),
        ("tool results: Found.", "/compact"),
        ("conversation, priority 10: Yes.", "/unpin 4"),
        ("conversation: find_excerpts", "/compact"),
        ("documents: The message below", "/compact, or name [[Note#Heading]]"),
        ("memory: <project-memory", "shorten ZKCHAT.md, or set context.memory_integration = false"),
        ("memory: <smart-memory", "/forget colour"),
        (
            "summary, priority 9: <conversation-summary>",
            "a lower context.summary_ratio shortens the next summary",
        ),
    ):
        [line] = [line for line in items if kind in line]
        assert line.endswith(f"({advice})"), line
    in_shell = plain_text(token_usage.usage_lines(prompt, pinned, 200, IN_SHELL))
    assert "(zkchat context compact)" in in_shell and "(zkchat memory forget colour)" in in_shell
    assert "/compact" not in usage_text(prompt_of(question="word " * 500)), (
        "one turn alone cannot be summarized"
    )


def test_messages_that_are_not_sent_are_counted_by_reason() -> None:
    history = (*CHATTER, message("user", "Again?", "f", status="failed"))
    text = usage_text(
        prompt_of(
            history,
            "And?",
            window=3000,
            compaction=make_compaction("Talk.", "t1-a"),
            strategy="summarize",
        ),
        200,
    )
    (line,) = [line for line in text.splitlines() if line.startswith("Not sent: ")]
    assert "1 the model call failed" in line and "2 in the summary" in line and "no room" in line
    assert (
        "Not sent: 1 memory (1 no room)"
        in usage_text(
            prompt_of((), "And? " * 250, window=600, contextual_memory=SMART)
        ).splitlines()
    )


@pytest.mark.parametrize("width", [40, 59, 60, 80, 200])
@pytest.mark.parametrize("text", ["Chatter. ", "汉字", "e\u0301😀", "x" * 300])
def test_no_line_is_wider_than_the_screen(width: int, text: str) -> None:
    from wcwidth import wcswidth

    named = DocumentReference(
        wikilink="[[A]]",
        relative_path="A.md",
        reference_type="direct",
        delivery="offered",
        delivery_reason=text * 9,
    )
    history = [
        message("user", text * 40, "u", references=(named,)),
        *CHATTER[:6],
        message("assistant", text * 60, "a"),
    ]
    prompt = prompt_of(
        history,
        text,
        memory=MEMORY,
        tool_descriptors=DESCRIPTORS,
        filter_tools=True,
        core_tools=CORE_TOOLS,
        compaction=make_compaction(text * 9, "t1-a"),
    )
    out = StringIO()
    screen = Screen(out, out, color=False, err_is_terminal=False, columns=lambda: width)
    screen.show(token_usage.usage_lines(estimated(prompt), (), width))
    assert max(map(wcswidth, out.getvalue().splitlines())) <= width


# the budget bar


@pytest.mark.parametrize(
    ("used", "bar", "percent", "color"),
    [
        (0, "░░░░", "0%", "green"),
        (1, "█░░░", "0%", "green"),
        (694, "███░", "69%", "green"),
        (696, "███░", "70%", "yellow"),
        (894, "████", "89%", "yellow"),
        (896, "████", "90%", "red"),
        (7000, "████", "700%", "red"),
    ],
)
def test_a_budget_bar_shows_the_share_in_cells_and_color(
    used: int, bar: str, percent: str, color: str
) -> None:
    drawn = BudgetBar(used, 1000, 4)
    assert (drawn.bar, drawn.color, drawn.percent) == (bar, color, percent)


# compactions


def compaction(**more: object) -> Compaction:
    return make_compaction(
        "So.", "x", tokens_before=1000, tokens_after=400, messages_folded=8
    ).model_copy(update=more)


@pytest.mark.parametrize(
    ("done", "text"),
    [
        (
            compaction(),
            "Summarized 8 messages (extractive): 1,000 → 400 tokens; undo: /compact undo",
        ),
        (
            compaction(
                mode="full", model_calls=1, usage=TokenUsage(prompt_tokens=90, completion_tokens=9)
            ),
            "; cost: ~90 tokens in, ~9 out; undo: /compact undo",
        ),
        (
            compaction(mode="simple", model_calls=2, problem="it failed."),
            "; the first request failed: it failed; undo: /compact undo",
        ),
        (
            compaction(mode="masked", results_masked=3, messages_folded=0),
            "Shortened 3 old tool results and documents: 1,000",
        ),
        (
            compaction(preview=True, results_masked=3),
            "Would summarize 8 messages (extractive) and shorten 3 old",
        ),
        (compaction(preview=True), "; nothing was changed"),
        (compaction(mode="truncated", messages_folded=1), "Dropped 1 message: "),
        (
            compaction(mode="none", messages_folded=0),
            "Nothing to compact: there are no messages yet.",
        ),
        (
            compaction(mode="none", messages_folded=0, made_after="m", problem="slow"),
            "Nothing to compact: slow.",
        ),
        (
            compaction(mode="none", model_calls=1, made_after="m", problem="slow"),
            "no older turns that",
        ),
    ],
)
def test_a_compaction_is_described(done: Compaction, text: str) -> None:
    assert text in describe_compaction(done)
    assert "undo" not in describe_compaction(done, UNSTORED)


def test_the_active_compaction_is_described() -> None:
    covers = {"turns": 3, "messages": 6, "first_date": "2025-05-02", "last_date": "2025-05-04"}
    summary = "3 turns (6 messages), 2025-05-02 to 2025-05-04, summarized in 2 tokens (extractive)"
    assert describe_active_compaction(compaction(), covers) == f"{summary}:"
    masked = compaction(summary=None, masked=("r", "s"))
    assert (
        describe_active_compaction(masked, covers)
        == "No summary; 2 old tool results and documents shortened."
    )
