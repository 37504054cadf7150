"""The `json` export loses nothing; the `md` export is readable."""

import re
from datetime import datetime

import pytest
from factories import NOON
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli.exporters import exporter
from zkchat_cli.importers import read_conversations
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import TokenUsage, ToolCall, ToolRun, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

# Any history

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
perhaps = st.none() | anything
numbers = st.floats(-(10**15), 10**15)
amounts = st.integers(0, 10**6)
counts = st.none() | amounts
times = st.datetimes(timezones=st.timezones()).map(datetime.isoformat)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | anything,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(anything, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(anything, data, max_size=3)
for model in (
    Citation,
    Compaction,
    ContentChunk,
    Conversation,
    DocumentReference,
    TokenUsage,
    ToolCall,
    ToolRun,
    ZkChatMessage,
):
    # Hypothesis does not see the fields of a model before its first use
    model.model_rebuild()
chunks = st.builds(
    ContentChunk,
    start_line=amounts,
    end_line=amounts,
    text=anything,
    heading=perhaps,
    score=st.none() | numbers,
    number=counts,
)
references = st.builds(
    DocumentReference,
    wikilink=anything,
    relative_path=perhaps,
    summary=perhaps,
    candidates=st.tuples(anything),
    delivery=st.sampled_from([None, "injected", "partly", "offered"]),
    delivery_reason=perhaps,
)
places = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3).map(tuple)
citations = st.builds(
    Citation,
    number=st.integers(0, 99),
    relative_path=perhaps,
    quote=perhaps,
    valid=st.booleans(),
    verdict=st.sampled_from(["verified", "cited", "cut", "misquoted", "missing"]),
    spans=places,
)
calls = st.builds(ToolCall, id=anything, name=anything, arguments=arguments)
runs = st.builds(ToolRun, name=anything, arguments=arguments, tokens=amounts, duration_ms=numbers)


def tuples_of(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(values, max_size=2).map(tuple)


@st.composite
def archives(draw: st.DrawFn) -> ConversationArchive:
    messages: list[ZkChatMessage] = []
    for number in range(draw(st.integers(0, 6))):
        parent = draw(st.none() | st.sampled_from(messages)) if messages else None
        message = st.builds(
            ZkChatMessage,
            id=st.just(f"m{number}"),
            parent_id=st.just(parent.id if parent else None),
            content=anything,
            timestamp=times,
            references=tuples_of(references),
            citations=tuples_of(citations),
            chunks=tuples_of(chunks),
            tool_calls=tuples_of(calls),
            tool_call_id=perhaps,
            tool_run=st.none() | runs,
            reasoning=perhaps,
            model=perhaps,
            usage=st.none()
            | st.builds(TokenUsage, prompt_tokens=amounts, completion_tokens=amounts),
            token_count=counts,
            pinned=st.booleans(),
        )
        messages.append(draw(message))
    known = (
        st.none() | st.sampled_from([message.id for message in messages]) if messages else st.none()
    )
    talk = st.builds(
        Conversation,
        id=st.just("c"),
        vault=anything,
        title=perhaps,
        created_at=times,
        updated_at=times,
        head_id=known,
    )
    summaries = [
        draw(
            st.builds(
                Compaction,
                id=st.just(f"s{number}"),
                created_at=times,
                last_id=known,
                tokens_before=amounts,
                tokens_after=amounts,
                messages_folded=amounts,
                summary=perhaps,
                instructions=perhaps,
            )
        )
        for number in range(draw(st.integers(0, 2)))
    ]
    return ConversationArchive(
        conversation=draw(talk), messages=tuple(messages), compactions=tuple(summaries)
    )


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(archives())
def test_any_conversation_survives_export_and_import_unchanged(
    archive: ConversationArchive,
) -> None:
    text = exporter("json").export(archive)
    [read] = read_conversations(
        text.encode(), vault="/other", new_id=lambda: "never asked", now=NOON
    )[1]
    store = ChatSessionStore.open(None)
    store.restore([read])
    assert store.archive(read.conversation.id).model_dump() == archive.model_dump()
    assert exporter("json").export(store.archive(read.conversation.id)) == text
    store.close()


# Markdown


def make_message(role: str, content: str = "", **more: object) -> ZkChatMessage:
    return ZkChatMessage.model_validate(
        {"id": "", "role": role, "content": content, "timestamp": NOON, **more}
    )


def make_archive(
    *messages: ZkChatMessage,
    title: str | None = "Filters",
    compactions: tuple[Compaction, ...] = (),
) -> ConversationArchive:
    """These messages as the current branch of a conversation."""
    chain = tuple(
        message.model_copy(
            update={"id": f"m{number}", "parent_id": f"m{number - 1}" if number else None}
        )
        for number, message in enumerate(messages)
    )
    head = chain[-1].id if chain else None
    conversation = Conversation(
        id="c1", vault="/home/me/notes", title=title, created_at=NOON, updated_at=NOON, head_id=head
    )
    return ConversationArchive(conversation=conversation, messages=chain, compactions=compactions)


def md(*messages: ZkChatMessage, **more: object) -> str:
    """The Markdown after its front matter."""
    return (
        exporter("md").export(make_archive(*messages, **more)).split("\n---\n", 1)[1].lstrip("\n")
    )  # type: ignore[arg-type]


def answer(content: str, *numbers: int) -> ZkChatMessage:
    cited = tuple(
        Citation(
            number=n, relative_path=f"Queries/Note {n}.md", start_line=n, end_line=n + 5, valid=True
        )
        for n in numbers
    )
    return make_message("assistant", content, citations=cited, model="offline")


def test_only_the_current_branch_is_shown() -> None:
    whole = make_archive(make_message("user", "first"), make_message("user", "other branch"))
    back = whole.model_copy(
        update={"conversation": whole.conversation.model_copy(update={"head_id": "m0"})}
    )
    assert "other branch" not in exporter("md").export(back)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("so [1][2], [1]: and", "so [^1][^2], [^1]: and"),
        ("[1]: as it says", "[^1]\\: as it says"),
        ("a [1](https://example.org) link, \\[1] escaped, [[1]] a note", None),
        ("`a[1]` and ``b`[1]`` code", None),
        ("so [1, 2], 【2】, [source 1] and so¹", "so [^1][^2], [^2], [^1] and so[^1]"),
        ("```py\na[1]\n\nb[1]\n```\nthen [1]", "```py\na[1]\n\nb[1]\n```\nthen [^1]"),
        (
            "text:\n\n    a[1]\n    b[1]\n\n    c[1]\nafter [1]",
            "text:\n\n    a[1]\n    b[1]\n\n    c[1]\nafter [^1]",
        ),
        ("```\na[1]", "```\na[1]\n```"),
        ("- item\n  ~~~~\n  a[1]", None),
        ("- item\n\n~~~~\na[1]", "- item\n\n~~~~\na[1]\n~~~~"),
    ],
)
def test_citations_become_footnotes_but_never_in_code(written: str, shown: str | None) -> None:
    text = md(answer(written, 1, 2))
    body = text.removeprefix("# Filters\n\n## zkchat\n\n")
    assert re.split(r"\n\n\[\^\d+\]: ", body)[0].removesuffix("\n") == (
        written if shown is None else shown
    )


def test_each_source_is_defined_once_at_the_end() -> None:
    text = md(
        make_message("user", "a"),
        answer("one [2] two [1]", 1, 2),
        make_message("user", "b"),
        answer("again [2]", 2),
    )
    assert text.endswith(
        "again [^2]\n\n[^1]: [[Queries/Note 1]] Queries/Note 1.md:1-6\n[^2]: "
        "[[Queries/Note 2]] Queries/Note 2.md:2-7\n"
    )


def test_a_footnote_has_all_quotations_with_their_problems() -> None:
    first = Citation(
        number=1,
        relative_path="a/B.md",
        heading="H [x] | y",
        start_line=3,
        end_line=3,
        quote="one\n two",
        verdict="verified",
    )
    second = first.model_copy(update={"quote": "three", "verdict": "misquoted"})
    lost = Citation(number=2, quote="nowhere")
    place = Citation(number=3, relative_path="C.md", verdict="cited")
    text = md(
        make_message("assistant", "x [1] y [2] z [3]", citations=(first, second, lost, place))
    )
    assert (
        '\n[^1]: [[a/B#H x y]] a/B.md:3 "one two", "three" *(not verified: the quoted '
        "words are not there)*\n"
    ) in text
    assert '\n[^2]: *missing: no such source was in the prompt* "nowhere"\n' in text
    assert text.endswith("\n[^3]: [[C]] C.md\n")


def test_documents_without_a_citation_are_listed_with_their_origin() -> None:
    named = (
        DocumentReference(
            wikilink="[[Filtrs]]",
            reference_type="direct",
            status="broken",
            candidates=("Filters", "Folders"),
        ),
        DocumentReference(wikilink="[[nobody]]", reference_type="direct", status="broken"),
        DocumentReference(
            wikilink="[[B]]", relative_path="a/B.md", reference_type="direct", delivery="injected"
        ),
    )
    found = tuple(
        DocumentReference(wikilink=f"[[{n}]]", relative_path=f"{n}.md", reference_type="search")
        for n in ("C", "Note 1")
    )
    cites = Citation(number=1, relative_path="Note 1.md", verdict="cited", valid=True)
    text = md(
        make_message("user", "so?", references=named),
        make_message("assistant", "so [1]", references=(*found, named[2]), citations=(cites,)),
    )
    assert text.endswith(
        "## You\n\nso?\n\n- [[Filtrs]]: not found; nearest: [[Filters]], [[Folders]]\n- "
        "[[nobody]]: not found\n"
        "- [[B]] a/B.md: named, its full text was in the prompt\n\n"
        "## zkchat\n\nso [^1]\n\n## Not cited\n\n- [[C]] C.md: found\n\n[^1]: [[Note 1]] "
        "Note 1.md\n"
    )


def test_incomplete_messages_are_marked() -> None:
    text = md(
        make_message("user", "a", status="failed"),
        make_message("user", "b"),
        make_message("assistant", "half", status="unfinished"),
    )
    assert "## You\n\na\n\n*Failed: there is no answer.*\n\n## You\n\nb\n\n" in text
    assert text.endswith("half\n\n*Unfinished: the answer was cut off here.*\n")


def test_a_tool_call_is_one_short_line() -> None:
    calls = (
        ToolCall(id="1", name="resolve", arguments={"text": "a " * 100}),
        ToolCall(id="2", name="links"),
        ToolCall(id="3", name="lost"),
    )
    ok = ToolRun(name="resolve", arguments={}, ok=True, tokens=5, duration_ms=1)
    text = md(
        make_message("assistant", "Let me see.", tool_calls=calls),
        make_message("tool", "found", tool_call_id="1", tool_run=ok),
        make_message(
            "tool", "error", tool_call_id="2", tool_run=ok.model_copy(update={"ok": False})
        ),
        make_message("tool", "from\nelsewhere", tool_call_id="9", tool_name="other"),
        make_message("tool", "nameless"),
    )
    assert text.startswith('# Filters\n\n## zkchat\n\nLet me see.\n\n- `resolve` "a a ')
    assert (
        "…: 5 tokens\n- `links`: failed\n- `lost`\n\n- `other`: from elsewhere\n\n- "
        "`tool`: nameless\n"
    ) in text


def test_the_last_summary_has_its_own_section() -> None:
    first, second, last = (
        Compaction(
            id=f"s{n}",
            created_at=NOON,
            tokens_before=900,
            tokens_after=100,
            messages_folded=n,
            summary=f"told {n}\n\nx",
            mode="full",
        )
        for n in range(3)
    )
    other_branch = last.model_copy(
        update={"id": "e", "last_id": "of another branch", "summary": "told elsewhere"}
    )
    masked = first.model_copy(update={"id": "t", "summary": None, "mode": "masked"})
    text = md(answer("so [1]", 1), compactions=(first, second, last, masked, other_branch))
    figures = "*2025-05-08 12:00: 2 messages, 900 → 100 tokens*"
    assert f"\n## Summary\n\n{figures}\n\n> told 2\n>\n> x\n\n[^1]: " in text
    assert "told 1" not in text and "elsewhere" not in text
    assert "## Summary" not in md(answer("so", 1), compactions=(masked,))
