"""Kills a PostgreSQL server at random moments of turns, and looks for what was lost or doubled.

python tests/postgres_kills.py 50
"""

import random
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

from postgres_server import PostgresServer
from test_store_port import ONE, conversation, said, sent_prompt

from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_store import OutboxStore
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

# Seconds: a turn is stored within this time
TURN = 0.03


def kill_in_turns(server: PostgresServer, folder: Path, kills: int, seed: int) -> list[str]:
    """Store turns while the server is killed and started again. Returns what is wrong: nothing may
    be missing, doubled or in another order.
    """
    choose = random.Random(seed)
    address = server.address(user=f"kills{seed}")._replace(retry_after=0.0)
    outbox = Outbox(folder / "outbox", ChatSessionStore.open)
    store = OutboxStore(lambda: PostgresStore.open(address), outbox, retry_after=0.0)
    expected: list[str] = []
    with closing(store):
        store.start(conversation("kills"))
        for number in range(kills):
            delay = choose.uniform(0, TURN)
            killer = threading.Thread(target=lambda: (time.sleep(delay), server.stop()))  # noqa: B023
            killer.start()
            for turn in range(3):
                question = said(f"q{number}-{turn}", expected[-1] if expected else None)
                answer = said(f"a{number}-{turn}", question.id)
                pending = question.model_copy(update={"status": "pending"})
                store.add("kills", pending)
                sent = [sent_prompt(question.id, question)]
                store.commit("kills", question, [answer], updated_at=ONE, sent=sent)
                expected += [question.id, answer.id]
            killer.join()
            server.start()
        store.conversations()
        waiting = store.waiting_turns
    with closing(PostgresStore.open(address)) as fresh:
        log = fresh.log("kills")
        wrong = [f"{waiting} turns were not delivered"] if waiting else []
        if [each.id for each in log] != expected:
            wrong.append(f"{len(log)} messages instead of {len(expected)}, or another order")
        if [each.id for each in fresh.history("kills")] != expected:
            wrong.append("the branch is not whole")
        wrong += [f"{each.id} is {each.status}" for each in log if each.status != "complete"]
        wrong += [
            f"the prompts of {each.id}"
            for each in log
            if each.role == "user" and len(fresh.prompts.sent_for(each.id)) != 1
        ]
    return wrong


if __name__ == "__main__":
    started = PostgresServer(settings=())
    with tempfile.TemporaryDirectory() as scratch:
        found = kill_in_turns(started, Path(scratch), int(sys.argv[1]), seed=1)
    started.remove()
    print("\n".join(found) or f"{sys.argv[1]} kills: nothing was lost, doubled or out of order")
    sys.exit(bool(found))
