"""`--unsafe` at the command line, `vault broken --fix`."""

import pytest
from conftest import Program
from terminal_screen import CTRL_C, Ask, Chat, Script

from zkchat_cli.vault.links.name_suggestions import certain_target

CREATE = {
    "tool_calls": [{"name": "create_note", "arguments": {"path": "New.md", "content": "# New"}}]
}
SAID = {"text": "I did what you allowed."}


def test_yes_approves_beforehand_and_the_stream_has_the_diff(
    zkchat: Program, script: Script
) -> None:
    done = zkchat(
        "ask", "write it", "--unsafe", "--yes", "--stream-json", "--model", script(CREATE, SAID)
    )
    assert (zkchat.vault / "New.md").read_text() == "# New\n"
    events = {event["type"]: event for event in done.lines}
    assert events["change_proposed"]["diff"].endswith("+# New\n")
    assert (events["change_decided"]["made"], events["change_decided"]["told"]) == (True, "done")
    assert events["turn_completed"]["tools"][0]["ok"] is True


def test_without_unsafe_no_write_tool_is_offered(zkchat: Program, script: Script) -> None:
    refused = zkchat("ask", "x", "--yes")
    assert (refused.exit_status, "--unsafe" in refused.err) == (2, True)
    done = zkchat("ask", "write it", "--json", "--model", script(CREATE, SAID))
    assert (done.json["tools"][0]["ok"], (zkchat.vault / "New.md").exists()) == (False, False)
    assert "unknown tool create_note" in done.json["tools"][0]["outcome"]
    assert (
        "offline has no tools that write"
        in zkchat("ask", "what is a filter?", "--unsafe", "--yes").err
    )


def test_an_agent_may_write_what_its_profile_allows_and_only_with_unsafe(
    zkchat: Program, script: Script
) -> None:
    append = {
        "tool_calls": [
            {"name": "append_to_note", "arguments": {"path": "Compost", "text": "Turn it."}}
        ]
    }
    trash = {"tool_calls": [{"name": "move_note_to_trash", "arguments": {"path": "Combining"}}]}
    run = ("ask", "edit it", "--agent", "editor", "--json", "--model", script(append, trash, SAID))
    assert [tool["ok"] for tool in zkchat(*run).json["tools"]] == [False, False]
    assert [tool["ok"] for tool in zkchat(*run, "--unsafe", "--yes").json["tools"]] == [True, False]
    assert (zkchat.vault / "Garden/Compost.md").read_text().endswith("\n\nTurn it.\n")
    assert (zkchat.vault / "Queries/Combining.md").exists()


def test_a_piped_chat_asks_nobody_either(zkchat: Program, script: Script) -> None:
    model = script(CREATE, SAID)
    assert "refused" in zkchat("chat", "--unsafe", "--model", model, stdin="write it\n").err
    assert not (zkchat.vault / "New.md").exists()
    assert (
        zkchat("chat", "--unsafe", "--yes", "--model", model, stdin="write it\n").exit_status == 0
    )
    assert (zkchat.vault / "New.md").exists()


def test_in_a_chat_each_change_waits_for_a_yes(zkchat: Program, script: Script) -> None:
    append = {
        "tool_calls": [
            {"name": "append_to_note", "arguments": {"path": "Compost", "text": f"Line {i}."}}
            for i in range(2)
        ]
    }
    with Chat(
        zkchat, "--unsafe", "--model", script(CREATE, SAID, append, SAID), columns=50
    ) as chat:
        chat.say("write it")
        chat.wait_for("+ # New")
        # Ctrl-C is read at the prompt
        chat.wait_for("create New.md? [y/N/e/a/d/q, ?: help, or the\n    reason why not]\n›")
        chat.wait_until(
            lambda: "declined by the user" in chat.everything(), "the answer", pressed=CTRL_C
        )
        chat.wait_for("I did what you allowed.")
        assert 'create_note "New.md" "# New"  failed: declined' in chat.everything()
        assert not (zkchat.vault / "New.md").exists()
        chat.say("write more")
        chat.wait_for("append to Garden/Compost.md? [y/N")
        chat.type("all")
        chat.enter()
        chat.wait_until(
            lambda: chat.everything().count("I did what you allowed.") == 2, "the second answer"
        )
    assert (zkchat.vault / "Garden/Compost.md").read_text().endswith("Line 0.\n\nLine 1.\n")


def test_ask_on_a_terminal_waits_for_a_yes_and_breaks_the_answer_as_the_chat_does(
    zkchat: Program, script: Script
) -> None:
    said = {"text": "I did what you allowed and nothing that you did not."}
    append = {
        "tool_calls": [
            {"name": "append_to_note", "arguments": {"path": "Compost", "text": "Turn it."}}
        ]
    }
    with Ask(
        zkchat, "write it", "--unsafe", "--model", script(append, CREATE, said), columns=41
    ) as ask:
        ask.wait_for("append to Garden/Compost.md? [y/N")
        ask.type("y")
        ask.enter()
        ask.wait_for("create New.md? [y/N")
        ask.type(CTRL_C)
        ask.wait_for("I did what you allowed and nothing that\nyou did not.")
    assert (zkchat.vault / "Garden/Compost.md").read_text().endswith("Turn it.\n")
    assert not (zkchat.vault / "New.md").exists()


# broken links


@pytest.mark.parametrize(
    ("text", "candidates", "meant"),
    [
        ("Filtrs", ("Filters.md", "Folders.md"), "Filters.md"),
        ("old folder/filters", ("Filters.md",), "Filters.md"),
        ("how-to-begin", ("How to begin.md", "How to begin again.md"), "How to begin.md"),
        ("Filters", ("A/Filters.md", "B/Filters.md"), None),
        ("2024-01-02 Log", ("2024-01-03 Log.md",), None),
        ("Filter.png", ("Filter.md",), None),
        ("Filter.canvas", ("Filter.md",), None),
        ("Filter.7z", ("Filter.md",), None),
        ("Fall", ("Wall.md", "Ball.md"), None),
        ("???", ("Filters.md",), None),
        ("Filters", (), None),
    ],
)
def test_a_broken_link_is_mended_only_when_it_is_sure_what_it_meant(
    text: str, candidates: tuple[str, ...], meant: str | None
) -> None:
    assert certain_target(text, candidates) == meant


def test_no_link_means_the_note_it_is_in_and_no_attachment_a_note(zkchat: Program) -> None:
    (zkchat.vault / "Slips of paper.md").write_text(
        "[[Slips of papr]], ![[Filters.png]] and ![[Filters.canvas]].\n"
    )
    links = zkchat("vault", "broken", "--fix", "--json").json["links"]
    found = [
        (link["raw"], link["fix"], link["candidates"])
        for link in links
        if link["source"] == "Slips of paper.md"
    ]
    assert found == [
        ("[[Slips of papr]]", None, []),
        ("![[Filters.png]]", None, []),
        ("![[Filters.canvas]]", None, []),
    ]


def test_broken_links_are_shown_first_and_mended_with_yes(zkchat: Program) -> None:
    text = (
        "Of [[Filtrs#Dates|these]], [[Composting and gardening]]\r\nand [c](Combinin.md) in "
        "`[[Filtrs]]`.\r\n"
    )
    (zkchat.vault / "Slips.md").write_bytes(text.encode())
    shown = zkchat("vault", "broken", "--fix")
    assert "Slips.md:1  [[Filtrs#Dates|these]] → Filters.md\n" in shown.out
    assert "+Of [[Filters#Dates|these]], [[Composting and gardening]]\n" in shown.out
    assert "fix 2 links in 1 note: nothing was changed; use --yes" in shown.out
    assert (zkchat.vault / "Slips.md").read_bytes() == text.encode()
    done = zkchat("vault", "broken", "--fix", "--yes", "--json").json
    first = done["links"][0]
    assert (first["raw"], first["fix"], done["made"]) == (
        "[[Filtrs#Dates|these]]",
        "Filters.md",
        True,
    )
    mended = text.replace("[[Filtrs#", "[[Filters#").replace("(Combinin.md)", "(Combining.md)")
    assert (zkchat.vault / "Slips.md").read_bytes() == mended.encode()
    assert "1 broken link without a certain target" in zkchat("vault", "broken", "--fix").out
