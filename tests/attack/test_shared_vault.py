"""People who share a vault over MCP: what a token may not read is not found, in any way."""

import random
from pathlib import Path

import anyio
import pytest
from shared_notes import ANNA, BEN, PEOPLE, find_leaks, make_notes

from zkchat_cli.mcp.people import Person
from zkchat_cli.vault.view import WHOLE_VAULT


# Fast, because `python tests/shared_notes.py 10000` sends more
@pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.name)
def test_no_answer_tells_anything_about_the_notes_that_a_token_may_not_read(
    person: Person, tmp_path: Path
) -> None:
    async def send() -> list[str]:
        return await find_leaks(tmp_path, person, 50, seed=5, by_meaning=True)

    assert anyio.run(send) == []


def test_a_server_that_shows_too_much_is_noticed(tmp_path: Path) -> None:
    async def send() -> list[str]:
        return await find_leaks(tmp_path, BEN, 15, seed=5, by_meaning=False, seen=WHOLE_VAULT)

    assert anyio.run(send)


def test_each_of_the_two_tokens_may_read_something_and_not_everything() -> None:
    notes = make_notes(random.Random(5))
    hidden = [notes.hidden_words(person.view) for person in (ANNA, BEN)]
    assert all(len(words) > 10 for words in hidden)
    assert hidden[0] - hidden[1] and hidden[1] - hidden[0]
