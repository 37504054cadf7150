"""Unified diffs: correct, and fast for any text."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.vault.edit.diff import unified_diff

lines = st.lists(st.sampled_from(["a", "b", "", " c", "-d", "@@"]), max_size=30)


def patched(old: list[str], diff: str) -> list[str]:
    """What `patch` would make of the old lines."""
    new: list[str] = []
    at = 0
    for line in diff.splitlines()[2:]:
        if head := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line):
            begin = int(head[1]) - (head[2] != "0")
            new += old[at:begin]
            at = begin
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert line[1:] == old[at]
            at += 1
            new += [line[1:]] if line[0] == " " else []
    return new + old[at:]


@given(lines, lines)
def test_applying_the_diff_gives_the_new_text(old: list[str], new: list[str]) -> None:
    texts = ["".join(line + "\n" for line in each) for each in (old, new)]
    assert patched(old, unified_diff(*texts, "a.md", "a.md")) == new


def test_the_format_is_that_of_git() -> None:
    old = "".join(f"{i}\n" for i in range(1, 21))
    new = old.replace("2\n", "two\n", 1).replace("19\n", "19\nmore\n").replace("20\n", "20")
    assert unified_diff(old, new, "a.md", "b.md") == (
        "--- a/a.md\n+++ b/b.md\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
        "@@ -17,4 +17,5 @@\n 17\n 18\n 19\n-20\n+more\n+20\n\\ No newline at end of file\n"
    )
    assert unified_diff("", "x\n", None, "a.md") == "--- /dev/null\n+++ b/a.md\n@@ -0,0 +1 @@\n+x\n"
    assert unified_diff("x\n", "x\n", "a.md", "b.md") == "--- a/a.md\n+++ b/b.md\n"


@pytest.mark.untraced
def test_a_hostile_text_takes_linear_time(untraced: None) -> None:
    began = time.process_time()
    diff = unified_diff("a\nb\n" * 200_000, "b\na\n" * 150_000, "a.md", "a.md")
    assert diff.count("\n") > 600_000
    assert time.process_time() - began < 5
