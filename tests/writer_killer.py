"""Killed writers: `python writer_killer.py FILE LIVES` forks one writer per life, kills it with
SIGKILL at some moment, checks what is left, and prints as JSON how many lives ended where and what
was wrong.

A writer stores turn after turn, with summaries and searches in between. One in three is killed a
few SQL statements after it stored a question, a turn or a summary, one between two instructions of
SQLite's machine, one by its parent after a random time.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from factories import NOON, chunk, make_compaction, make_usage, message

from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.prompts import Prompt, PromptMessage, SentPrompt
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

TICK = 15
"""Instructions of SQLite's machine."""


def prompt_of(question: str, text: str) -> Prompt:
    message = PromptMessage(
        role="user", content=text, tokens=1, kind="conversation", source_ids=(question,)
    )
    return Prompt(messages=(message,), tools=(), usage=make_usage(1), strategy="hybrid")


def write_until_killed(
    file: Path,
    name: str,
    acknowledge: int,
    kind: str = "",
    statements: int = 0,
    instructions: int = 0,
) -> None:
    """Store turns; kill this process so many statements after it stored something of a kind, or
    after about so many instructions.

    The ids of what is stored are written to a pipe.
    """
    store = ChatSessionStore.open(file)
    database = store.connection.db
    database.execute("PRAGMA synchronous = OFF")  # which is for power cuts

    def countdown(left: int) -> Callable[..., int]:
        def tick(*_: object) -> int:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return 0

        return tick

    def tell(id_: str) -> None:
        os.write(acknowledge, f"{id_}\n".encode())
        if kind_of(id_) == kind:
            database.set_trace_callback(countdown(statements))

    if instructions:
        database.set_progress_handler(countdown(1 + instructions // TICK), TICK)
    for n in range(1000):
        question = message(
            "user",
            f"why {n}? " * 40,
            f"{name}-q{n}",
            parent_id=store.conversation("c1").head_id,
            status="pending",
        )
        store.add("c1", question)
        tell(question.id)
        excerpt = chunk(1, "so " * 500)
        result = message(
            "tool",
            json.dumps({"text": excerpt.text}),
            f"{name}-t{n}",
            parent_id=question.id,
            tool_name="find",
            chunks=(excerpt,),
        )
        answer = message("assistant", "therefore. " * 100, f"{name}-a{n}", parent_id=result.id)
        call = SentPrompt(
            question_id=question.id,
            call=1,
            model="offline",
            prompt=prompt_of(question.id, question.content),
        )
        store.commit(
            "c1",
            question.model_copy(update={"status": "complete"}),
            [result, answer],
            updated_at=NOON,
            sent=[call],
        )
        tell(answer.id)
        compaction = make_compaction(
            "so far " * 50, answer.id, id=f"{name}-s{n}", masked=(result.id,)
        )
        store.compact("c1", compaction)
        tell(compaction.id)
        if n % 3 == 2:
            store.search(None, "therefore")
    os._exit(0)


def kind_of(id_: str) -> str:
    """`q`, `a` or `s`: of a question, an answer or a summary."""
    return id_.partition("-")[2][0]


def find_problems(file: Path, acknowledged: set[str], thorough: bool) -> list[str]:
    """What a killed writer lost or left behind."""
    store = ChatSessionStore.open(file)
    log = {message.id: message for message in store.log("c1")}
    compactions = {compaction.id for compaction in store.compactions("c1")}
    problems = [f"{id_} is missing" for id_ in acknowledged - set(log) - compactions]
    history = store.history("c1")
    for each in log.values():
        if each.role == "user":
            answered = each.id.replace("-q", "-a") in log
            if (each.status == "complete") != answered or (
                each.status == "pending" and each is not log[history[-1].id]
            ):
                problems.append(f"{each.id} is {each.status}")
    if len(history) != len(log):
        problems.append(f"the branch has {len(history)} of {len(log)} messages")
    last = next((m for m in reversed(history) if m.role == "user" and m.status == "complete"), None)
    if last and [each.prompt for each in store.prompts.sent_for(last.id)] != [
        prompt_of(last.id, last.content)
    ]:
        problems.append(f"the prompt of {last.id} is another")
    if thorough:
        problems += [
            row for (row,) in store.connection.db.execute("PRAGMA integrity_check") if row != "ok"
        ]
        store.connection.db.execute(
            "INSERT INTO message_index (message_index) VALUES ('integrity-check')"
        )
    store.close()
    return problems


def main() -> None:
    file = Path(sys.argv[1])
    lives = int(sys.argv[2])
    store = ChatSessionStore.open(file)
    store.start(Conversation(id="c1", vault="/notes", created_at=NOON, updated_at=NOON))
    store.close()
    chance = random.Random(7)
    acknowledged: set[str] = set()
    result: dict[str, int] = {
        "killed": 0,
        "after a question": 0,
        "after a turn": 0,
        "after a summary": 0,
    }
    problems: list[str] = []
    for life in range(lives):
        moments = (
            {},
            {"instructions": chance.randrange(1, 2500)},
            {"kind": "qas"[life // 3 % 3], "statements": 1 + life // 9 * 4},
        )
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            write_until_killed(file, f"life{life}", writable, **moments[life % 3])
        os.close(writable)
        if life % 3 == 0:
            time.sleep(chance.random() * 0.008)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(readable) as lines:
            stored = lines.read().split()
        result["killed"] += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        acknowledged.update(stored)
        if stored:
            result[
                {"q": "after a question", "a": "after a turn", "s": "after a summary"}[
                    kind_of(stored[-1])
                ]
            ] += 1
        problems += find_problems(file, acknowledged, thorough=life % 20 == 0)
    print(json.dumps({**result, "problems": problems[:20]}))


if __name__ == "__main__":
    main()
