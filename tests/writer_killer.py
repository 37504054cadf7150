"""A store whose writers are killed: `python writer_killer.py FILE LIVES` forks a writer for each life, which is killed at some moment with
SIGKILL, looks at what is left, and prints one JSON document: how many lives ended where, and what was wrong.

A life talks turn by turn, folding and searching between. One in three is killed before a statement, one between two instructions of
SQLite's machine, one by its parent after a random time, which hits the middle of a commit too.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from zkchat_cli.models import (
    BudgetStatus,
    BudgetStatuses,
    Compaction,
    CompactionDue,
    ContentChunk,
    ContextUsage,
    Conversation,
    MessageBreakdown,
    Prompt,
    PromptMessage,
    SentPrompt,
    ZkChatMessage,
)
from zkchat_cli.store.chat_session_store import ChatSessionStore

NOON = "2025-05-08T12:00:00+00:00"
STEPS = 15
"""Instructions of SQLite's machine between two looks at whether it is time."""
_STATUS = BudgetStatus(used=1, budget=9, percentage=11.1)
USAGE = ContextUsage(
    system_tokens=1,
    tool_tokens=0,
    message_tokens=1,
    total_tokens=2,
    available_tokens=7,
    max_context=10,
    effective_limit=9,
    estimated=False,
    message_breakdown=MessageBreakdown(),
    budget_status=BudgetStatuses(system=_STATUS, tools=_STATUS, messages=_STATUS),
    compaction=CompactionDue(due=False),
)


def said(id_: str, role: str, content: str, parent: str | None, **more: object) -> ZkChatMessage:
    return ZkChatMessage.model_validate({"id": id_, "role": role, "content": content, "parent_id": parent, "timestamp": NOON, **more})


def sent(question: str, text: str) -> Prompt:
    message = PromptMessage(role="user", content=text, tokens=1, kind="conversation", source_ids=(question,))
    return Prompt(messages=(message,), tools=(), usage=USAGE, strategy="hybrid")


def live(file: Path, name: str, acknowledge: int, statements: int = 0, instructions: int = 0) -> None:
    """Talk until it ends, killing itself after so many statements or about so many instructions; what is stored is said on a pipe."""
    store = ChatSessionStore.open(file)
    database = store._db
    database.execute("PRAGMA synchronous = OFF")  # which is for power cuts

    def ticking(left: int) -> Callable[..., int]:
        def tick(*_: object) -> int:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return 0

        return tick

    if statements:
        database.set_trace_callback(ticking(statements))
    if instructions:
        database.set_progress_handler(ticking(1 + instructions // STEPS), STEPS)
    for n in range(1000):
        question = said(f"{name}-q{n}", "user", f"why {n}? " * 40, store.conversation("c1").head_id, status="pending")
        store.add("c1", question)
        os.write(acknowledge, f"{question.id}\n".encode())
        chunk = ContentChunk(id="k", relative_path="A.md", title="A", start_line=1, end_line=1, text="so " * 500, number=1)
        result = said(f"{name}-t{n}", "tool", json.dumps({"text": chunk.text}), question.id, tool_name="find", chunks=(chunk,))
        answer = said(f"{name}-a{n}", "assistant", "therefore. " * 100, result.id)
        call = SentPrompt(question_id=question.id, call=1, model="offline", prompt=sent(question.id, question.content))
        store.commit("c1", question.model_copy(update={"status": "complete"}), [result, answer], updated_at=NOON, sent=[call])
        os.write(acknowledge, f"{answer.id}\n".encode())
        figures = {"tokens_before": 9, "tokens_after": 8, "messages_folded": 2, "mode": "full"}
        folded = Compaction(id=f"{name}-s{n}", created_at=NOON, last_id=answer.id, summary="so far " * 50, masked=(result.id,), **figures)
        store.compact("c1", folded)
        os.write(acknowledge, f"{folded.id}\n".encode())
        if n % 3 == 2:
            store.search(None, "therefore")
    os._exit(0)


def wrong(file: Path, acknowledged: set[str], thorough: bool) -> list[str]:
    """What a killed writer left that should not be."""
    store = ChatSessionStore.open(file)
    log = {message.id: message for message in store.log("c1")}
    held = {compaction.id for compaction in store.compactions("c1")}
    found = [f"{id_} is missing" for id_ in acknowledged - set(log) - held]
    history = store.history("c1")
    for message in log.values():
        if message.role == "user":
            turn = message.id.replace("-q", "-a") in log
            if (message.status == "complete") != turn or (message.status == "pending" and message is not log[history[-1].id]):
                found.append(f"{message.id} is {message.status}")
    if len(history) != len(log):
        found.append(f"the branch has {len(history)} of {len(log)} messages")
    last = next((m for m in reversed(history) if m.role == "user" and m.status == "complete"), None)
    if last and [each.prompt for each in store.prompts(last.id)] != [sent(last.id, last.content)]:
        found.append(f"the prompt of {last.id} is another")
    if thorough:
        database = store._db
        found += [row for (row,) in database.execute("PRAGMA integrity_check") if row != "ok"]
        database.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
    store.close()
    return found


def main() -> None:
    file, lives = Path(sys.argv[1]), int(sys.argv[2])
    store = ChatSessionStore.open(file)
    store.start(Conversation(id="c1", vault="/notes", created_at=NOON, updated_at=NOON))
    store.close()
    chance = random.Random(7)
    acknowledged: set[str] = set()
    told: dict[str, int] = {"killed": 0, "after a question": 0, "after a turn": 0, "after a summary": 0}
    problems: list[str] = []
    for life in range(lives):
        moments = ({}, {"instructions": chance.randrange(6000)}, {"statements": chance.randrange(1, 100)})
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            live(file, f"life{life}", writable, **moments[life % 3])
        os.close(writable)
        if life % 3 == 0:
            time.sleep(chance.random() * 0.008)
            os.kill(child, signal.SIGKILL)
        with os.fdopen(readable) as lines:
            heard = lines.read().split()
        _, status = os.waitpid(child, 0)
        told["killed"] += os.WIFSIGNALED(status)
        acknowledged.update(heard)
        if heard:
            told[{"q": "after a question", "a": "after a turn", "s": "after a summary"}[heard[-1].split("-")[1][0]]] += 1
        problems += wrong(file, acknowledged, thorough=life % 20 == 0)
    print(json.dumps({**told, "acknowledged": len(acknowledged), "problems": problems[:20]}))


if __name__ == "__main__":
    main()
