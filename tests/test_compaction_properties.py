"""What holds of every conversation, whatever was said in it, however often it was compacted, and
whatever the summariser did.

What holds of each prompt is tried on 75 random histories (test_prompt_assembly.py), and what takes
a store, turns and imports on fewer; CI runs `tests/bench/properties.py`, which tries 2,000 and
1,000, or as many as you like.
"""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from compaction_properties import (
    PLAIN,
    a_compacted_prompt_stays_small_for_as_many_turns_as_were_freed,
    every_prompt_is_sound_and_an_import_gives_the_identical_one,
    prose,
    undo_gives_each_earlier_prompt_back,
    with_examples,
)
from factories import COUNTER, AppFixture, CountingIds, make_app, report_of
from summary_models import SummaryModel

from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import StreamFinished
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppFixture]:
    folder = tmp_path_factory.mktemp("properties")
    (folder / "notes").mkdir()
    (folder / "notes" / "Filters.md").write_text(
        "# Filters\n\nFilters say which tasks you want to see.\n"
    )
    with closing(make_app(folder / "notes", folder / "cache")) as made:
        yield made


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("check", "examples"),
    [
        (every_prompt_is_sound_and_an_import_gives_the_identical_one, 6),
        (a_compacted_prompt_stays_small_for_as_many_turns_as_were_freed, 2),
        (undo_gives_each_earlier_prompt_back, 4),
    ],
)
def test_what_holds_of_every_conversation(
    workspace: AppFixture, check: Callable[[AppFixture], None], examples: int
) -> None:
    with_examples(check, examples)(workspace)


@pytest.mark.untraced
def test_what_the_summariser_is_sent_grows_with_the_conversation(workspace: AppFixture) -> None:
    workspace.max_context = 8192
    workspace.store = ChatSessionStore.open(None)
    workspace.new_id = CountingIds("n")
    model = SummaryModel(write=lambda words: prose(words, 7, PLAIN))
    model.answer = [
        TextDelta("I have noted that, and shall remember where it is. " * 4),
        StreamFinished("stop"),
    ]
    session = workspace.session(model, tools=())
    for i in range(100):
        report_of(session.send(prose(60, i, PLAIN)))
    raw = sum(COUNTER.count(m.content) for m in session.history)
    assert len(model.asked) < raw / 2000
    assert model.sent <= 1.2 * raw
