"""A change of a note in hunks: any of them can be made, and what is not in them stays byte for
byte.
"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.text.sequence_diff import find_edits
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED
from zkchat_cli.vault.edit.hunk_review import (
    Choice,
    HunkAnswer,
    HunkDecision,
    HunkQuestion,
    can_divide,
    review_hunks,
)
from zkchat_cli.vault.edit.hunks import HunkError, divide, editable_text, join, parse_edited
from zkchat_cli.vault.edit.transaction import Change, FileChange, encode_like, split_lines
from zkchat_cli.views.hunk_lines import hunk_lines
from zkchat_cli.views.text import plain_text

BEFORE = "# Filters\n\nThe first paragraph.\n\nThe second one.\n\nThe third one.\n"
AFTER = BEFORE.replace("first", "1st").replace("third", "3rd")


def file_change(before: str | bytes, after: str | bytes) -> FileChange:
    old = before.encode() if isinstance(before, str) else before
    new = after.encode() if isinstance(after, str) else after
    return FileChange("A.md", "A.md", old, new)


LINE = st.sampled_from(
    ["", "- one", "- two", "Cafe\u0301 👩\u200d🔬", "\ufeff# Title", "\tx  ", "後"]
)
LINES = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\r\n", "\r"])), max_size=25)


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    text = "".join(f"{line}{end}" for line, end in draw(LINES)) + draw(LINE)
    return (b"\xef\xbb\xbf" if draw(st.booleans()) else b"") + text.encode()


@given(notes(), notes(), st.randoms())
def test_any_hunks_can_be_made_and_the_rest_stays_byte_for_byte(
    before: bytes,
    after: bytes,
    random: "st.random.Random",  # type: ignore[name-defined]
) -> None:
    file = file_change(before, after)
    hunks = divide(file)
    assert join(file, hunks).after == after
    assert join(file, ()).after == before
    taken = [hunk for hunk in hunks if random.random() < 0.5]
    joined = split_lines(join(file, taken).after)
    old = split_lines(before)
    # What is left of the note around each hunk, from the end so that places stay
    for hunk in reversed(hunks):
        start = hunk.start + sum(
            len(each.new) - len(each.old) for each in taken if each.start < hunk.start
        )
        end = start + len(hunk.new if hunk in taken else hunk.old)
        assert joined[start:end] == list(hunk.new if hunk in taken else hunk.old)
        joined[start:end] = []
        old[hunk.start : hunk.start + len(hunk.old)] = []
    assert joined == old


@given(st.text("ab\n", max_size=60), notes())
def test_a_new_text_keeps_the_bytes_of_lines_that_stay(text: str, raw: bytes) -> None:
    kept = encode_like(raw, text)
    assert kept.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n") == text


def test_lines_that_stay_keep_their_own_line_ends() -> None:
    assert encode_like(b"a\r\nb\nc\r\nd", "a\nb\nX\nd\n") == b"a\r\nb\nX\r\nd\r\n"


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_edits_make_the_new_sequence_of_the_old_one(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    at = 0
    for edit in find_edits(old, new):
        made += old[at : edit.old.start] + new[edit.new.start : edit.new.stop]
        at = edit.old.stop
    assert made + old[at:] == new


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_edited_hunk_has_the_users_lines_with_the_notes_line_ends(end: str) -> None:
    file = file_change(BEFORE.replace("\n", end), AFTER.replace("\n", end))
    [first, _] = divide(file)
    text = editable_text(first, "A.md").replace("+The 1st", "+One more.\n+The very first")
    edited = parse_edited(first, text)
    made = BEFORE.replace("The first", "One more.\nThe very first").replace("\n", end)
    assert join(file, [edited]).after == made.encode()
    assert parse_edited(first, editable_text(first, "A.md")) == first


def test_a_removed_line_is_kept_by_a_space_in_front() -> None:
    [first, _] = divide(file_change(BEFORE, AFTER))
    text = editable_text(first, "A.md").replace("-The first", " The first")
    edited = parse_edited(first, text)
    assert edited.new == (b"The first paragraph.\n", b"The 1st paragraph.\n")


def test_an_edited_first_line_keeps_the_byte_order_mark() -> None:
    file = file_change("\ufeff# Old\n", "\ufeff# New\n")
    [hunk] = divide(file)
    assert "\ufeff" not in editable_text(hunk, "A.md")
    edited = parse_edited(hunk, editable_text(hunk, "A.md").replace("# New", "# Newer"))
    assert join(file, [edited]).after.decode() == "\ufeff# Newer\n"
    assert parse_edited(hunk, editable_text(hunk, "A.md")) == hunk


def test_a_note_without_a_last_newline_stays_so() -> None:
    file = file_change("one\ntwo", "one\nthree")
    [hunk] = divide(file)
    edited = parse_edited(hunk, editable_text(hunk, "A.md").replace("+three", "+four"))
    assert join(file, [edited]).after == b"one\nfour"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("-The first", "-The last", "not those of the note"),
        (" The second", "+The second", "lines around the change"),
        (" # Filters", " # Other", "lines around the change"),
        ("+The 1st", "The 1st", "begins with none"),
    ],
)
def test_an_edit_that_does_not_fit_the_note_is_refused(old: str, new: str, why: str) -> None:
    [first, _] = divide(file_change(BEFORE, AFTER))
    text = editable_text(first, "A.md")
    assert old in text
    with pytest.raises(HunkError, match=why):
        parse_edited(first, text.replace(old, new))
    with pytest.raises(HunkError, match="nothing is left"):
        parse_edited(first, "# only a comment\n\n")


# the review


def reviewed(*answers: Choice | HunkAnswer, files: int = 1) -> tuple[HunkDecision, list[str]]:
    """The decision after these answers, and the places that were asked about."""
    file = file_change(BEFORE, AFTER)
    changed = tuple(
        file._replace(path=f"{name}.md", new_path=f"{name}.md") for name in "ABC"[:files]
    )
    left = list(answers)
    asked: list[str] = []

    def ask(question: HunkQuestion) -> HunkAnswer:
        asked.append(f"{question.file.new_path}:{question.hunk.line}")
        answer = left.pop(0)
        return answer if isinstance(answer, HunkAnswer) else HunkAnswer(answer)

    return review_hunks(Change("edit", changed), ask), asked


def test_the_model_is_told_which_hunks_were_taken() -> None:
    answer = HunkAnswer(Choice.NO, reason="too short")
    decision = reviewed(Choice.YES, answer)[0].decision
    assert (decision.allowed, decision.told) == (True, "1 of 2 hunks")
    assert decision.part is not None
    [file] = decision.part.files
    assert file.after.decode() == BEFORE.replace("first", "1st")
    assert decision.report == {
        "taken": ["A.md, line 3: The 1st paragraph."],
        "declined_by_the_user": ["A.md, line 7: The 3rd one."],
        "the_user_says": ["too short"],
    }


def test_all_and_none_hold_for_one_note_and_quit_for_the_rest() -> None:
    decided, asked = reviewed(Choice.ALL, Choice.NONE, Choice.YES, Choice.QUIT, files=3)
    assert asked == ["A.md:3", "B.md:3", "C.md:3", "C.md:7"]
    assert decided.decision.part is not None
    assert [each.new_path for each in decided.decision.part.files] == ["A.md", "C.md"]
    assert (decided.decision.told, decided.ends_turn) == ("3 of 6 hunks", True)
    decided, asked = reviewed(Choice.YES, Choice.QUIT, files=3)
    assert (asked, decided.decision.told) == (["A.md:3", "A.md:7"], "1 of 6 hunks")


def test_all_hunks_are_the_whole_change_and_none_is_a_no() -> None:
    assert reviewed(Choice.YES, Choice.YES)[0] == HunkDecision(ALLOWED)
    assert reviewed(Choice.NO, Choice.NO)[0] == HunkDecision(DECLINED)
    assert reviewed(Choice.YES, Choice.STOP)[0] == HunkDecision(DECLINED, ends_turn=True)


def test_a_rename_is_no_change_of_hunks() -> None:
    assert can_divide(Change("edit", (file_change("a", "b"),)))
    assert not can_divide(Change("rename", (FileChange("A.md", "B.md", b"a", b"a"),)))


# what is shown


def shown(before: str, after: str) -> str:
    hunks = divide(file_change(before, after))
    return "\n".join(plain_text(hunk_lines(hunk, marks=True)) for hunk in hunks)


def test_changed_words_are_marked_in_their_line() -> None:
    assert shown(
        "a\nThe filter finds tasks that are due.\nz\n", "a\nThe filter finds late tasks.\nz\n"
    ) == ("  a\n~ The filter finds [-tasks that are due-]{+late tasks+}.\n  z")
    assert shown("one\n", "one\n\ntwo\n") == "  one\n+ \n+ {+two+}"
    assert shown("Cafe\u0301 one\n", "Caf\u00e9 one\n") == "~ [-Cafe\u0301-]{+Caf\u00e9+} one"


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("a b c\n", "a b c  \n", "~ a b c{+··+}"),
        ("a b c\n", "a\tb c\n", "~ a[-·-]{+→+}b c"),
        ("a b c", "a b c\n", "~ a b c[- (no newline at the end)-]{+ (newline)+}"),
        ("a b c\r\n", "a b c\n", "~ a b c[- (CRLF)-]{+ (newline)+}"),
        ("a b c\n", "a b\u200b c\n", "~ a [-b-]{+b<U+200B>+} c"),
        ("a b c\n", "a \x1b[31mb c\n", "~ a [-b-]{+␛[31mb+} c"),
    ],
)
def test_a_change_that_does_not_show_is_made_visible(before: str, after: str, seen: str) -> None:
    assert shown(before, after) == seen


def test_a_long_line_shows_its_change() -> None:
    words = " ".join(f"word{number}" for number in range(20_000))
    seen = shown(f"{words}\n", f"{words.replace('word9999 ', 'another ')}\n")
    assert "[-word9999-]{+another+}" in seen
    assert len(seen) < 1000


@pytest.mark.untraced
def test_a_note_of_10_megabytes_is_divided_in_seconds() -> None:
    begin = time.process_time()
    lines = [f"line {number % 1000} of many\n" for number in range(500_000)]
    changed = [*lines[:100], "new\n", *lines[100:400_000], "other\n", *lines[400_001:]]
    file = file_change("".join(lines), "".join(changed))
    assert [hunk.line for hunk in divide(file)] == [101, 400_001]
    assert file.diff.count("@@ -") == 2
    backwards = file_change("".join(lines), "".join(reversed(lines)))
    assert join(backwards, divide(backwards)).after == backwards.after
    assert time.process_time() - begin < 20
