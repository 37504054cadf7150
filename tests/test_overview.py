"""What a prompt was made of, as `--show-context` lists it."""

from building import COUNTER, a_compaction, chunk, prompt_message, said, talk

from zkchat_cli.config.schema import Config
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_assembly import PromptInputs, assemble_prompt
from zkchat_cli.context.turns import split_into_turns
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import DocumentReference, Prompt
from zkchat_cli.views.prompt_overview import overview


def prompt_of(**material: object) -> Prompt:
    made = PromptInputs(instructions="Be brief.", history=split_into_turns(talk(("Hi", "Hello"), ("And?", "So.")), COUNTER), **material)  # type: ignore[arg-type]
    return assemble_prompt(made, Budget.from_settings(Config().context, 32768), strategies.load_strategy("hybrid"), COUNTER)


def test_a_bare_prompt() -> None:
    prompt = prompt_of(current=(said("user", "Now?", "n1"),))
    first, *rest = overview(prompt)
    usage = prompt.usage
    assert first == f"Context: 5 messages ({usage.message_tokens} tokens); in all {usage.total_tokens} of 29491 tokens, strategy hybrid"
    assert rest == [
        f"  - instructions ({usage.system_tokens} tokens)",
        f"  - 5 messages of the conversation ({usage.message_tokens} tokens)",
    ]


def test_each_thing_is_named_with_its_tokens() -> None:
    items = (
        MemoryItem("ZKCHAT.md", "Answer briefly.", 3, "in the root"),
        MemoryItem("", "The user hates hedging.", 5, "own", kind="agent", key="critic"),
    )
    facts = (MemoryItem("", "- The roof is red.", 5, "shares roof", kind="fact", key="roof"),)
    tool = {"type": "function", "function": {"name": "find", "description": "finds", "parameters": {}}}
    prompt = prompt_of(
        memory=items,
        contextual_memory=facts,
        compaction=a_compaction("They greeted.", "t1-a"),
        tool_descriptors=(tool,),
        current=(said("user", "Roof?", "n"),),
    )
    lines = list(overview(prompt))
    tokens = {m.source_ids[0] if m.source_ids else m.kind: m.tokens for m in prompt.messages}
    assert f"  - ZKCHAT.md project memory ({tokens['ZKCHAT.md']} tokens)" in lines
    assert f"  - critic agent memory ({tokens['agent:critic']} tokens)" in lines
    assert f"  - smart memory: fact:roof ({tokens['fact:roof']} tokens)" in lines
    assert f"  - 1 summary ({prompt.usage.message_breakdown.summary} tokens)" in lines
    assert f"  - 1 tool ({prompt.usage.tool_tokens} tokens)" in lines


def test_documents_that_are_named_are_told_by_how() -> None:
    references = (
        DocumentReference(wikilink="@README.md", relative_path="README.md", reference_type="import"),
        DocumentReference(wikilink="[[Roof]]", relative_path="Roof.md", reference_type="direct"),
        DocumentReference(wikilink="[[Gone]]", reference_type="direct", status="broken"),
        *(DocumentReference(wikilink=f"[[n{i}]]", relative_path=f"n{i}.md", reference_type="link") for i in range(9)),
    )
    message = said("user", "Roof?", "n", references=references, chunks=(chunk(),))
    lines = list(overview(prompt_of(current=(message,)), references, {"README.md": 1234}))
    assert "  - 1 imported file (@README.md 1.2k tokens)" in lines
    assert "  - 10 named notes ([[Roof]], [[n0]], [[n1]], [[n2]], [[n3]], [[n4]], [[n5]], [[n6]], …)" in lines
    assert any(line.startswith("  - 1 message about documents (") for line in lines)


def test_estimates_are_marked() -> None:
    prompt = prompt_of(current=(said("user", "Now?", "n1"),))
    rough = prompt.model_copy(update={"usage": prompt.usage.model_copy(update={"estimated": True})})
    assert all("~" in line for line in overview(rough))


def test_large_figures_are_short() -> None:
    message = prompt_message("tool", "x", "tool_results", tokens=12_345)
    assert "  - 1 tool result (12.3k tokens)" in list(overview(prompt_of().model_copy(update={"messages": (message,)})))
