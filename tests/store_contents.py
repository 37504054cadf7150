"""Everything that a store has, read through its ports; and a program that prints it as JSON.

python tests/store_contents.py FILE
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from zkchat_cli.store.port import SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


def contents(store: SessionStore, embedder: str = "e5") -> dict[str, Any]:
    """The conversations, facts, prompts and vectors of a store, as JSON."""
    everything: dict[str, Any] = {"conversations": [], "facts": {}}
    for talk in store.conversations():
        archive = store.archive(talk.id, prompts=True)
        questions = [message.id for message in archive.messages if message.role == "user"]
        preview = store.preview(talk.id)
        everything["conversations"].append(
            {
                "overview": talk.model_dump(mode="json"),
                "messages": [each.model_dump(mode="json") for each in archive.messages],
                "compactions": [each.model_dump(mode="json") for each in archive.compactions],
                "history": [each.id for each in store.history(talk.id)],
                "preview": preview and preview.model_dump(mode="json"),
                "sent": [
                    sent.model_dump(mode="json")
                    for question in questions
                    for sent in store.prompts.sent_for(question)
                ],
                "vectors": [
                    [vectors.message_id, vectors.passages.hex()]
                    for vectors in store.vectors.of_messages(talk.id, embedder, 0)
                ],
            }
        )
        everything["facts"][talk.vault] = [
            *(fact.model_dump(mode="json") for fact in store.facts.current(talk.vault)),
            {key: v.hex() for key, v in store.vectors.of_facts(talk.vault, embedder).items()},
        ]
    return everything


if __name__ == "__main__":
    with closing(ChatSessionStore.open(Path(sys.argv[1]))) as opened:
        print(json.dumps(contents(opened)))
