"""The lines about notes that could not be indexed: one for each kind."""

from zkchat_cli.views.index_problems import summarize_problems


def test_several_problems_of_a_kind_are_one_line_and_a_single_one_names_its_file() -> None:
    broken = [f"{i}.md: front matter is not valid YAML (unexpected ':'), read as text" for i in range(15)]
    links = [f"{i}: not followed: a link that leaves the vault" for i in range(9)]
    assert summarize_problems([*broken, *links, "a.md: not read: permission denied"]) == [
        "15 notes with unreadable front matter: zkchat vault status",
        "9 links that leave the vault were not followed: zkchat vault status",
        "a.md: not read: permission denied",
    ]
