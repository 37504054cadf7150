"""docs/security.md names the tests that hold its promises; they exist."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "security.md"


def test_every_promise_names_tests_that_exist() -> None:
    promises = re.findall(
        r"^\| (?!promise \||-)(.+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(promises) > 20
    existing = {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8"))
    }
    for promise, tests in promises:
        named = re.findall(r"`(test_\w+)`", tests)
        assert named, promise
        assert existing.issuperset(named), promise
