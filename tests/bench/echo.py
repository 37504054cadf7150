"""How long a key takes to be on the screen: at rest, and while the model's library loads and the
index is built behind the prompt.
"""

import signal
import time
from collections.abc import Iterator, Mapping

import pexpect
from ground import PYTHON, ZKCHAT, Ground
from measuring import Goal, Row

LETTERS = "äöüßøåæœñç"
"""Letters that no escape sequence has."""
PAUSE = 0.02
BARE = "import prompt_toolkit; prompt_toolkit.prompt('you › ')"


def figures(ground: Ground) -> Iterator[Row]:
    goal = Goal(60, "p95")
    of_vault = ("--vault", str(ground.vault))
    ground.run(*ZKCHAT, "vault", "index", *of_vault)
    seconds = 0.2 if ground.quick else 5
    floor = echoes((*PYTHON, BARE), ground.env, seconds)
    chat = (*ZKCHAT, "chat", *of_vault)
    openai = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:1"}
    for what, more in (
        ("", {}),
        (", mojentic loading", {**openai, "ZKCHAT_MODEL": "openai/gpt-5"}),
        (", indexing", {"ZKCHAT_HOME": str(ground.fresh())}),
    ):
        yield Row(
            f"key to echo{what}",
            echoes(chat, {**ground.env, **more}, seconds),
            floor,
            "a bare prompt",
            goal,
        )


def echoes(command: tuple[str, ...], env: Mapping[str, str], seconds: float) -> list[float]:
    """Milliseconds from each key to its echo, from when the prompt is there, for so long."""
    child = pexpect.spawn(
        command[0],
        list(command[1:]),
        env={**env, "PROMPT_TOOLKIT_NO_CPR": "1"},
        encoding="utf-8",
        dimensions=(30, 100),
    )
    child.delaybeforesend = None
    child.expect_exact("you ›", timeout=60)
    found: list[float] = []
    end = time.perf_counter() + seconds
    while (begin := time.perf_counter()) < end:
        letter = LETTERS[len(found) % len(LETTERS)]
        child.send(letter)
        child.expect_exact(letter, timeout=60)
        found.append(1000 * (time.perf_counter() - begin))
        if len(found) % 40 == 0:
            # A line of its own for the next ones; drawn at once with them, a letter in its old
            # place would not be drawn
            child.send("\x15")
            time.sleep(10 * PAUSE)
        time.sleep(PAUSE)
    child.kill(signal.SIGKILL)
    child.close()
    return found
