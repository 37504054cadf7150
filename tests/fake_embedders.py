"""An embedding model for tests, and servers that offer it: real HTTP on 127.0.0.1, and predictable
vectors.

A text's vector counts its words: words of one line of `SYNONYMS` count as the same, so that "car"
is near "automobile", which search by words cannot know. A hash chooses the place of other words.
"""

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

SYNONYMS = (
    "car automobile vehicle",
    "doctor physician surgeon",
    "ship boat vessel",
    "happy glad joyful",
    "money cash funds",
)
PLACES = 64
SYNONYM_PLACES = {word: place for place, line in enumerate(SYNONYMS) for word in line.split()}


def word_vector(text: str, places: int = PLACES) -> list[float]:
    counts = [0.0] * places
    for word in re.findall(r"\w+", text.lower()):
        hashed = len(SYNONYMS) + blake2b(word.encode()).digest()[0] % (places - len(SYNONYMS))
        counts[SYNONYM_PLACES.get(word, hashed)] += 10.0 if word in SYNONYM_PLACES else 0.1
    return counts


Twist = Callable[[str, list[list[float]]], Any]


@dataclass
class SynonymEmbedder:
    """An embedder without a server, which keeps its calls. `fails` may return an error to raise;
    `twist` changes the vectors for a purpose.
    """

    id: str = "meaning/1"
    batch: int = 4
    languages: tuple[str, ...] | None = None
    places: int = PLACES
    twist: Twist = lambda _purpose, rows: rows
    fails: Callable[[], Exception | None] = lambda: None
    asked: int = 0
    calls: list[tuple[str, list[str]]] = field(default_factory=list)

    def load(self) -> None:
        pass

    def close(self) -> None:
        pass

    def embed(self, texts: Sequence[str], *, purpose: str) -> Any:
        self.asked += 1
        if error := self.fails():
            raise error
        self.calls.append((purpose, list(texts)))
        return self.twist(purpose, [word_vector(text, self.places) for text in texts])

    @property
    def documents(self) -> list[str]:
        """All texts of notes that were embedded."""
        return [text for purpose, texts in self.calls if purpose == "document" for text in texts]


@dataclass
class EmbeddingServers:
    """Ollama and OpenAI at one address. `replies` come before the real ones, each once; `twist`
    changes the vectors.
    """

    http: HTTPServer
    replies: list[Response] = field(default_factory=list)
    twist: Callable[[list[list[float]]], Any] = lambda rows: rows
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.http.expect_request("/api/embed", method="POST").respond_with_handler(self._answer)
        self.http.expect_request("/v1/embeddings", method="POST").respond_with_handler(self._answer)
        for path, listing in (("/api/tags", {"models": []}), ("/v1/models", {"data": []})):
            self.http.expect_request(path).respond_with_json(listing)

    @property
    def env(self) -> dict[str, str]:
        """The environment variables with their addresses."""
        return {
            "OLLAMA_HOST": f"127.0.0.1:{self.http.port}",
            "OPENAI_BASE_URL": self.http.url_for("/v1"),
            "OPENAI_API_KEY": "sk-secret",
        }

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, in order."""
        return [text for _, body, _ in self.requests for text in body["input"]]

    def says(self, status: int, body: object = None, **headers: str) -> None:
        """Queue the reply to the next request."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.replies.append(
            Response(text, status, {k.replace("_", "-"): v for k, v in headers.items()})
        )

    def _answer(self, request: Request) -> Response:
        self.before()
        with self._lock:
            body = json.loads(request.get_data())
            self.requests.append((request.path, body, dict(request.headers)))
            if self.replies:
                return self.replies.pop(0)
        rows = self.twist(
            [
                word_vector(text.removeprefix("search_query: ").removeprefix("search_document: "))
                for text in body["input"]
            ]
        )
        if request.path == "/api/embed":
            return Response(json.dumps({"model": body["model"], "embeddings": rows}), 200)
        # in another order than asked, which the protocol allows
        data = [
            {"object": "embedding", "index": i, "embedding": row}
            for i, row in reversed(list(enumerate(rows)))
        ]
        return Response(
            json.dumps({"object": "list", "data": data, "usage": {"total_tokens": 1}}), 200
        )
