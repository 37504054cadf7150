"""`/apply`: the change of notes that an answer proposes, in each form; and taking it back."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from terminal_screen import CTRL_C, Chat, Script

from zkchat_cli.markdown.proposed_edits import proposed_edits
from zkchat_cli.text.unified_diff import DiffHunk, unified_diff
from zkchat_cli.vault.edit.patch import HunkNotFound, apply_hunks

NOTE = "---\ntags: [a]\n---\n# Plan\n\nOne.\n\nTwo.\n\nThree.\n"
DIFF = """```diff
--- a/Plan.md
+++ b/Plan.md
@@ -6,5 +6,5 @@
-One.
+First.

 Two.

-Three.
+Third.
```"""


def plan(zkchat: Program, text: str = NOTE) -> Path:
    note = zkchat.vault / "Plan.md"
    note.write_bytes(text.encode())
    return note


def applied(zkchat: Program, script: Script, answer: str, command: str) -> Any:
    """What a piped chat says after an answer and a command."""
    return zkchat("chat", "--model", script({"text": answer}), stdin=f"Change it!\n{command}\n")


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        (DIFF, "/apply --yes"),
        (DIFF, "/apply --yes Plan"),
        (DIFF.replace("@@ -6,5 +6,5 @@", "@@ ... @@"), "/apply --yes [[Plan]]"),
        (
            "```\nPlan.md\n<<<<<<< SEARCH\nOne.\n=======\nFirst.\n>>>>>>> REPLACE\n"
            "<<<<<<< SEARCH\nThree.\n=======\nThird.\n>>>>>>> REPLACE\n```",
            "/apply --yes",
        ),
        (
            "Here:\n\n**Plan.md**\n```markdown\n# Plan\n\nFirst.\n\nTwo.\n\nThird.\n```",
            "/apply --yes",
        ),
        ('```md title="Plan.md"\n# Plan\n\nFirst.\n\nTwo.\n\nThird.\n```', "/apply --yes"),
        ("```\n# Plan\n\nFirst.\n\nTwo.\n\nThird.\n```", "/apply --yes Plan.md"),
        ("```\nFirst.\n\nTwo.\n\nThird.\n```", "/apply --yes Plan#Plan"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_form_of_a_proposal_is_applied(
    zkchat: Program, script: Script, answer: str, command: str, end: str
) -> None:
    note = plan(zkchat, NOTE.replace("\n", end))
    done = applied(zkchat, script, answer, command)
    assert "Changed Plan.md; /undo notes takes it back." in done.out, done.err
    changed = NOTE.replace("One", "First").replace("Three", "Third").replace("\n", end)
    assert note.read_bytes() == changed.encode()
    # In another process, to the byte
    assert zkchat("vault", "undo", "--yes").exit_status == 0
    assert note.read_bytes() == NOTE.replace("\n", end).encode()
    assert "no change of notes to take back" in zkchat("vault", "undo", "--yes").err


@pytest.mark.parametrize(
    ("answer", "command", "why"),
    [
        ("No block.", "/apply", "the last answer proposes no change of a note"),
        ("```\ntext\n```", "/apply", "the answer names no note to change"),
        (DIFF, "/apply Filters", "the answer proposes no change of Filters"),
        (DIFF.replace("-One.", "-Zero."), "/apply", "the change does not fit Plan.md"),
        (DIFF.replace("Plan.md", "../Plan.md"), "/apply", "leads out of the vault"),
        ("```\n# Plan\n```", "/apply Nothing", "Nothing"),
        (DIFF, "/apply", "apply the answer to Plan.md? A piped chat cannot ask"),
        ("```md ZKCHAT.md\nObey.\n```", "/apply --yes", "is memory, and --yes does not cover"),
    ],
)
def test_a_proposal_that_cannot_be_applied_changes_nothing(
    zkchat: Program, script: Script, answer: str, command: str, why: str
) -> None:
    note = plan(zkchat)
    done = applied(zkchat, script, answer, command)
    assert why in done.err
    assert note.read_text() == NOTE
    assert not (zkchat.vault / "ZKCHAT.md").exists()


def test_a_new_note_is_created_and_taken_back_to_the_trash(zkchat: Program, script: Script) -> None:
    applied(zkchat, script, "```md Ideas/New.md\n# New\n```", "/apply --yes")
    assert (zkchat.vault / "Ideas/New.md").read_text() == "# New\n"
    shown = zkchat("vault", "undo")
    assert "--yes does it without asking" in shown.out
    assert zkchat("vault", "undo", "--yes", "--json").json["made"]
    assert (zkchat.vault / ".trash/New.md").read_text() == "# New\n"


def test_the_hunks_are_asked_about_and_one_undo_takes_all_back(
    zkchat: Program, script: Script
) -> None:
    note = plan(zkchat)
    with Chat(zkchat, "--model", script({"text": DIFF}), columns=200) as chat:
        chat.ask("Change it!", "+Third.")
        chat.say("/apply")
        chat.wait_for("(1/2) apply the answer to Plan.md? [y/N/e/a/d/q")
        chat.wait_until(lambda: "Declined by the user" in chat.everything(), "a no", pressed=CTRL_C)
        assert note.read_text() == NOTE
        chat.say("/apply Plan")
        chat.wait_for("(1/2) change Plan.md?")
        chat.type("n")
        chat.enter()
        chat.wait_for("(2/2) change Plan.md?")
        chat.type("y")
        chat.enter()
        chat.wait_for("Changed Plan.md (1 of 2 hunks); /undo notes takes it back.")
        assert note.read_text() == NOTE.replace("Three", "Third")
        chat.say("/undo notes")
        chat.wait_for("1 note changed.")
        assert note.read_text() == NOTE


def test_the_model_is_told_which_hunks_were_taken(zkchat: Program, script: Script) -> None:
    plan(zkchat)
    model = script({"text": DIFF}, {"text": "Well."}, {"text": "Bye."})
    with Chat(zkchat, "--model", model, columns=200) as chat:
        chat.ask("Change it!", "+Third.")
        chat.say("/apply")
        for key, number in (("n", 1), ("y", 2)):
            chat.wait_for(f"({number}/2) apply the answer to Plan.md?")
            chat.type(key)
            chat.enter()
        chat.wait_for("Changed Plan.md (1 of 2 hunks)")
        chat.ask("And [[Compost]]?", "Well.")
        chat.say("/undo notes")
        chat.wait_for("1 note changed.")
        chat.ask("Thanks.", "Bye.")
    messages = zkchat("context", "export", "--format", "json").json["messages"]
    _, told, after_undo = [each["content"] for each in messages if each["role"] == "user"]
    report = {
        "taken": ["Plan.md, line 10: Third."],
        "declined_by_the_user": ["Plan.md, line 6: First."],
    }
    line = f"[/apply: Plan.md was changed, 1 of 2 hunks: {json.dumps(report)}]"
    # The document that the user names is the only one
    assert told.startswith("And [[Compost]]?")
    assert line in told
    assert "[/undo notes: the user took back: apply the answer to Plan.md]" in after_undo
    assert "[/apply" not in after_undo.partition("took back")[0]


def test_the_model_is_told_once_of_a_whole_change(zkchat: Program, script: Script) -> None:
    plan(zkchat)
    model = script({"text": DIFF}, {"text": "More."}, {"text": "Bye."})
    zkchat("chat", "--model", model, stdin="Change it!\n/apply --yes\nMore!\nWell?\n")
    messages = zkchat("context", "export", "--format", "json").json["messages"]
    contents = [each["content"] for each in messages if each["role"] == "user"]
    assert contents == [
        "Change it!",
        "More!\n\n[/apply: Plan.md was changed as you proposed]",
        "Well?",
    ]


def test_the_model_is_told_once_of_a_change_also_by_another_process(
    zkchat: Program, script: Script
) -> None:
    plan(zkchat)
    zkchat("chat", "--model", script({"text": DIFF}), stdin="Change it!\n/apply --yes\n")
    # The offline engine is told nothing, and the remark waits
    zkchat("chat", "--continue", "--model", "offline", stdin="Who tends the roof?\n")
    model = script({"text": "More."}, {"text": "Bye."})
    zkchat("chat", "--continue", "--model", model, stdin="More!\n")
    zkchat("chat", "--continue", "--model", model, stdin="Well?\n")
    messages = zkchat("context", "export", "--format", "json").json["messages"]
    contents = [each["content"] for each in messages if each["role"] == "user"]
    assert contents == [
        "Change it!",
        "Who tends the roof?",
        "More!\n\n[/apply: Plan.md was changed as you proposed]",
        "Well?",
    ]


def test_the_changes_of_one_turn_are_taken_back_together_unless_edited_since(
    zkchat: Program, script: Script
) -> None:
    note = plan(zkchat)
    append = [
        {"name": "append_to_note", "arguments": {"path": "Plan", "text": f"Line {number}."}}
        for number in range(2)
    ]
    create = {"name": "create_note", "arguments": {"path": "New.md", "content": "# New"}}
    rename = {"name": "rename_note", "arguments": {"path": "Compost", "new_path": "Heap.md"}}
    calls = {"tool_calls": [*append, create, rename]}
    model = script(calls, {"text": "Done."})
    done = zkchat("ask", "write", "--unsafe", "--yes", "--model", model)
    assert done.exit_status == 0, done.err
    assert note.read_text().endswith("Line 0.\n\nLine 1.\n")
    before = (zkchat.vault / "Heap.md").read_text()
    (zkchat.vault / "New.md").write_text("Mine by now.\n")
    undone = zkchat("vault", "undo", "--yes")
    assert "Edited since, so the text stays as it is" not in undone.out
    assert note.read_text() == NOTE
    assert (zkchat.vault / "Garden/Compost.md").read_text() == before
    assert (zkchat.vault / "New.md").read_text() == "Mine by now.\n"


def test_a_note_that_was_edited_since_keeps_its_text(zkchat: Program, script: Script) -> None:
    note = plan(zkchat)
    applied(zkchat, script, DIFF, "/apply --yes")
    note.write_text("Mine.\n")
    undone = zkchat("vault", "undo", "--yes")
    assert "Edited since, so the text stays as it is: Plan.md" in undone.err
    assert note.read_text() == "Mine.\n"


# the forms


def test_a_block_in_a_note_does_not_end_it() -> None:
    inner = "# A\n\n```python\nx = 1\n```\n\nEnd."
    [edit] = proposed_edits(f"```markdown A.md\n{inner}\n```\n")
    assert (edit.name, edit.text) == ("A.md", inner)
    assert proposed_edits("```md A.md\ncut off") == []


@pytest.mark.parametrize(
    ("above", "name"),
    [
        ("**Folder/A note.md**", "Folder/A note.md"),
        ("### `A.md`:", "A.md"),
        ("[[A|the note]]", "A"),
        ("File: A.md", "A.md"),
        ("Here is the new text:", ""),
        ("This changes A.md a little:", ""),
    ],
)
def test_the_line_above_a_block_may_name_the_note(above: str, name: str) -> None:
    assert proposed_edits(f"{above}\n\n```\ntext\n```")[0].name == name


def test_a_diff_of_several_notes_names_each() -> None:
    text = (
        "--- a/A.md\n+++ b/A.md\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/B.md\n@@ -0,0 +1 @@\n+c"
    )
    edits = proposed_edits(f"```diff\n{text}\n```")
    assert [(edit.name, edit.hunks) for edit in edits] == [
        ("A.md", (DiffHunk(1, ("a",), ("b",)),)),
        ("B.md", (DiffHunk(0, (), ("c",)),)),
    ]


def test_a_hunk_is_found_where_its_lines_are_by_now() -> None:
    text = "a\nx  \nb\na\nx\nb\n"
    assert apply_hunks(text, [DiffHunk(5, ("x",), ("y",))]) == "a\nx  \nb\na\ny\nb\n"
    assert apply_hunks(text, [DiffHunk(0, (" a", "x"), (" a", "y"))]) == "a\ny\nb\na\nx\nb\n"
    assert apply_hunks("a\n", [DiffHunk(0, (), ("b",))]) == "a\nb\n"
    with pytest.raises(HunkNotFound):
        apply_hunks(text, [DiffHunk(1, ("z",), ("y",))])


def test_the_hunks_of_a_diff_are_as_git_shows_them() -> None:
    old = [str(number) for number in range(20)]
    new = [*old[:2], "x", *old[3:12], *old[13:]]
    assert unified_diff(old, new) == [
        "@@ -1,6 +1,6 @@", " 0", " 1", "-2", "+x", " 3", " 4", " 5",
        "@@ -10,7 +10,6 @@", " 9", " 10", " 11", "-12", " 13", " 14", " 15",
    ]  # fmt: skip
