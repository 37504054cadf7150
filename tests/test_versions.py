"""Questions for what changed since a version, in five languages."""

import pytest
from factories import AppFixture, answer_to

VAULT = {
    "Changelog.md": "# Changelog\n\n## 10.0\n\n- Exports are faster.\n\n## 4.1\n\n"
    "- Tables can be sorted.\n- Lists can be folded.\n\n## 4.0\n\n- New storage format.\n\n"
    "## 3.9\n\n- A typo is mended.\n\n# Thanks\n\nTo all who helped.\n",
    "Work.md": "Since May 4 we work four days a week. Version 4.0 of the plan is new.\n",
}


@pytest.mark.parametrize(
    "message",
    [
        "what changed since 4.1?",
        "was ist neu seit Version 4.1?",
        "qu'est-ce qui a changé depuis la version 4.1 ?",
        "¿qué ha cambiado desde la 4.1?",
        "o que mudou desde a versão 4.1?",
    ],
)
def test_versions_since_one_are_told_with_a_line_of_each(app: AppFixture, message: str) -> None:
    answer = answer_to(app, message)
    assert "- 10.0: " in answer
    assert "Tables can be sorted." in answer
    for text in ("4.0", "typo", "helped", "four days"):
        assert text not in answer


def test_one_version_is_told_with_its_lines(app: AppFixture) -> None:
    answer = answer_to(app, "what was added in version 4.1?")
    assert "- 4.1: “Tables can be sorted. • Lists can be folded.” [1]\n" in answer


def test_version_that_no_note_has_is_looked_up(app: AppFixture) -> None:
    assert "Outline" not in answer_to(app, "what changed since 11.0?")
