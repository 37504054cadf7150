"""How documents came into a conversation and how they were used, from its messages alone."""

from typing import Any

from factories import chunk, message, prompt_message, takes_less_than

from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ToolRun, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.models.prompts import DroppedItem, Prompt
from zkchat_cli.references.provenance import matching_documents, trace_documents
from zkchat_cli.views.prompt_status import PromptStatus

FILTERS = "Queries/Filters.md"
COMPOST = "Garden/Compost.md"


def ref(
    path: str | None, wikilink: str = "", kind: str = "direct", **more: Any
) -> DocumentReference:
    name = (path or "").rpartition("/")[2].removesuffix(".md")
    values = {
        "wikilink": wikilink or f"[[{name}]]",
        "relative_path": path,
        "reference_type": kind,
        **more,
    }
    return DocumentReference.model_validate({"status": "found" if path else "broken", **values})


def excerpt(number: int | None, path: str, **more: Any) -> ContentChunk:
    return chunk(
        number,
        relative_path=path,
        title=path.rpartition("/")[2].removesuffix(".md"),
        id=f"{path}{number}",
        **more,
    )


def user(text: str, id_: str, *references: DocumentReference, **more: Any) -> ZkChatMessage:
    return message("user", text, id_, references=references, **more)


def called(id_: str, tool: str, *chunks: ContentChunk, **arguments: Any) -> ZkChatMessage:
    run = ToolRun(name=tool, arguments=arguments, ok=True, tokens=9, duration_ms=1)
    return message("tool", "{}", id_, tool_call_id=id_, tool_name=tool, tool_run=run, chunks=chunks)


def cite(number: int, path: str | None, *spans: tuple[int, int]) -> Citation:
    return Citation(number=number, relative_path=path, spans=spans)


TALK = (
    user(
        "What of [[Filters]] and [[Filtrs]]?",
        "u1",
        ref(FILTERS),
        ref(None, "[[Filtrs]]", candidates=("Filters",)),
    ),
    message("assistant", "", "a1", tool_calls=[{"id": "t1", "name": "find_excerpts"}]),
    called(
        "t1", "find_excerpts", excerpt(1, COMPOST), excerpt(2, FILTERS, score=7.5), query="filters"
    ),
    called(
        "t2", "read_zk_document", excerpt(2, FILTERS), excerpt(3, FILTERS), relative_path=FILTERS
    ),
    message(
        "assistant",
        "So [2], so [2][9].",
        "a2",
        references=[ref(FILTERS, kind="search", summary="What to see.")],
        citations=[cite(2, FILTERS, (3, 6), (11, 14)), cite(9, None)],
    ),
    user("And compost? [[Filters#Dates]]", "u2", ref(FILTERS, "[[Filters#Dates]]")),
    message("assistant", "Air.", "a3", citations=[cite(1, COMPOST)]),
)


# finding the document that the user names


def test_a_document_matches_by_path_name_title_or_link() -> None:
    for text in (
        FILTERS,
        "queries/filters",
        "Filters.md",
        "filters",
        "[[Filters]]",
        "[[Filters#Dates]]",
        "![[Filters|a]]",
        " Filters ",
    ):
        assert matching_documents(text, TALK) == (FILTERS,), text
    assert (
        matching_documents("Filtrs", TALK)
        == matching_documents("[[Filtrs]]", TALK)
        == ("[[Filtrs]]",)
    )
    assert matching_documents("nothing like it", TALK) == ()
    titled = called("t", "find_excerpts", chunk(1, relative_path="2024-01.md", title="A month"))
    assert matching_documents("a month", [titled]) == ("2024-01.md",)


def test_excerpts_of_thousands_of_documents_in_one_imported_message_are_traced_in_linear_time() -> (
    None
):
    found = called(
        "t", "find_excerpts", *(excerpt(number, f"{number}.md") for number in range(8_000))
    )
    # 9 s if each document looked through all excerpts
    with takes_less_than(2):
        assert [*trace_documents([found])["7999.md"].found[0].excerpts] == [8_000]


# what is in the prompt


def test_prompt_status_says_why_a_message_is_left_out() -> None:
    reasons = {
        "u1": "in the summary",
        "u3": "no room; quoted because it is relevant to the message",
    }
    gone = tuple(DroppedItem(id=id_, reason=reason) for id_, reason in reasons.items())
    sent = (prompt_message("user", "What?", source_ids=("u2", "u3")),)
    status = PromptStatus(Prompt.model_construct(messages=sent, dropped=gone))
    assert status.describe_message("u2") == "in the prompt now"
    assert status.describe_message("u1") == "not in the prompt now: in the summary"
    assert status.describe_message("u3").endswith("quoted because it is relevant to the message")
    assert status.describe_message("elsewhere") == "not in the prompt now"


def test_prompt_status_takes_no_longer_for_each_message_in_a_long_conversation() -> None:
    gone = tuple(DroppedItem(id=f"u{number}", reason="in the summary") for number in range(20_000))
    status = PromptStatus(Prompt.model_construct(messages=(), dropped=gone))
    # 40 s if each one looked through all
    with takes_less_than(1):
        assert {status.describe_message(f"u{number}") for number in range(20_000)} == {
            "not in the prompt now: in the summary"
        }


def test_excerpts_of_a_sent_message_are_not_in_the_prompt_without_their_text() -> None:
    sent = (prompt_message("user", "What?", source_ids=("u1",)),)
    gone = (DroppedItem(id="u0", reason="in the summary"),)
    status = PromptStatus(Prompt.model_construct(messages=sent, dropped=gone))
    assert status.describe_excerpts("u1", [7]).startswith("its text is not in the prompt now")
    assert status.describe_excerpts("u1", []) == "in the prompt now"
    assert status.describe_excerpts("u0", [7]) == "not in the prompt now: in the summary"
