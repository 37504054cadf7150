"""A message of a prompt is kept by where its words stand in what was said, and is read again to the letter."""

import pytest
from building import prompt_message

from zkchat_cli.store import prompt_codec

SAID = "".join(f"Sentence {n} says something of its own. " for n in range(40))
OTHER = "Something else that was said, long enough to be worth a place of its own, and not twice."


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        SAID[:300],
        "",
        f"{SAID[:200]} […] {SAID[-200:]}",
        f"{SAID[:10]} […] {SAID[-600:]}",
        f"Before it. {SAID}",
        f"{SAID} After it.",
        f"<recalled-conversation>\nassistant: {SAID}\nuser: {OTHER}\n</recalled-conversation>",
        f"{OTHER}\n{SAID[100:400]}\n{OTHER}",
        "Nothing of what was said.",
        "文" * 500,
    ],
    ids=["all", "cut", "empty", "middle left out", "little of its beginning", "before", "after", "recalled", "quoted", "none", "CJK"],
)
def test_the_words_come_back(text: str) -> None:
    message = prompt_message("user", text, source_ids=("m1", "m2"), tokens=7)
    body = prompt_codec.pack_message(message, 9, {"m1": (5, SAID), "m2": (None, OTHER)})
    log = {5: ("m1", SAID), "m2": ("m2", OTHER)}
    assert prompt_codec.unpack_message(body, lambda which: log[which]) == message


def test_what_was_said_already_takes_hardly_any_room() -> None:
    message = prompt_message("user", f"{SAID[:400]} […] {SAID[-400:]}", source_ids=("m1",))
    assert len(prompt_codec.pack_message(message, 5, {"m1": (5, SAID)})) < 100
