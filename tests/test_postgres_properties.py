"""What holds of every conversation, and what the program says in transcripts, with conversations on
a PostgreSQL server.

`python tests/test_postgres_properties.py` plays all transcripts so, and
`python tests/bench/properties.py --postgres` tries as many histories as you like.
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from compaction_properties import (
    every_prompt_is_sound_and_an_import_gives_the_identical_one,
    undo_gives_each_earlier_prompt_back,
    with_examples,
)
from factories import AppFixture, make_app
from postgres_server import PostgresServer
from test_transcripts import TRANSCRIPTS, transcripts
from transcript_player import play_transcript

from zkchat_cli.store.postgres.postgres_store import PostgresStore

PLAYED = ("compacting", "continuing", "past-prompts", "pinning", "taking-back")


def open_as_new_user(server: PostgresServer) -> PostgresStore:
    return PostgresStore.open(server.address(user=server.new_user()))


def environment(server: PostgresServer) -> dict[str, str]:
    return {"ZKCHAT_STORE__URL": server.url(), "ZKCHAT_STORE__USER": server.new_user()}


@pytest.mark.untraced
@pytest.mark.parametrize(
    "check",
    [
        every_prompt_is_sound_and_an_import_gives_the_identical_one,
        undo_gives_each_earlier_prompt_back,
    ],
)
def test_what_holds_of_every_conversation_holds_on_a_server(
    postgres: PostgresServer, vault: Path, tmp_path: Path, check: Callable[[AppFixture], None]
) -> None:
    with closing(make_app(vault, tmp_path / "cache")) as workspace:
        workspace.new_store = partial(open_as_new_user, postgres)
        with_examples(check, 2)(workspace)


@pytest.mark.parametrize("name", PLAYED)
def test_a_transcript_is_reproduced_on_a_server(
    postgres: PostgresServer, tmp_path: Path, name: str
) -> None:
    text = expected(postgres, TRANSCRIPTS / f"{name}.txt")
    assert play_transcript(text, tmp_path, environment(postgres)) == text


def expected(server: PostgresServer, file: Path) -> str:
    """A transcript in which the store is the server."""
    text = file.read_text(encoding="utf-8")
    return text.replace("store      HOME/data/conversations.db", f"store      {server.url()}")


def play_all(server: PostgresServer) -> list[str]:
    """The names of the transcripts that are different on a server."""
    different: list[str] = []
    for file in transcripts():
        with tempfile.TemporaryDirectory() as folder:
            text = expected(server, file)
            if play_transcript(text, Path(folder), environment(server)) != text:
                different.append(file.stem)
    return different


if __name__ == "__main__":
    started = PostgresServer()
    try:
        found = play_all(started)
    finally:
        started.remove()
    print(f"{len(transcripts())} transcripts; different on a server: {', '.join(found) or 'none'}")
    sys.exit(bool(found))
