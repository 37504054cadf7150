"""A vault that people share, and random requests to its MCP server: what a token may not read must
not be found.

Each request goes to two servers. One serves the whole vault to a token that sees a part of it; the
other has only this part on its disk, so it cannot know the rest. Their answers must be equal, to
the letter: counts, ranking, suggestions and errors, too. Each note also has words of its own, which
no answer may have whose request did not have them.

python tests/shared_notes.py 10000
"""

import os
import random
import re
import sys
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from fake_embedders import SynonymEmbedder
from mcp import Client, MCPError
from mcp_types import ElicitResult, PromptReference, ResourceTemplateReference

from zkchat_cli.mcp.people import Person
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.mcp.write_tools import add_write_tools
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

ANNA = Person(
    "anna",
    b"",
    VaultView(("Team", "Recipes"), ("Team/Büro", "Recipes/secret", "Team/Salaries.md")),
    may_write=True,
)
BEN = Person("ben", b"", VaultView(("",), ("private", "team/BÜRO", "Recipes/Secretly")))
PEOPLE = (ANNA, BEN)

FOLDERS = (
    "Team",
    "Team/Büro",
    unicodedata.normalize("NFD", "Team/Büro/Über"),
    "team",
    "Teamwork",
    "Private",
    "Private/Diary",
    "Recipes",
    "Recipes/Secret",
    "Recipes/Secretly",
    "",
)
NAMES = ("Plan", "Salaries", "2026-05-01")
WORDS = "roof tile budget plan salary car automobile doctor soup bread meeting boat money".split()
FIRST_DAY = 1_700_000_000
DAY = 86_400
_CANARY = re.compile("(?:name|text)[a-p]{2}z")


def _words(text: str) -> list[str]:
    return _CANARY.findall(text.lower())


@dataclass(frozen=True)
class SharedNotes:
    """The text of each note by its path. Each has two words of its own: one in its name, which
    others use in their links, and one in its text, its other names, tags and properties.
    """

    texts: dict[str, str]

    def hidden_words(self, view: VaultView) -> set[str]:
        """The words that no note in a view has in its name or its text."""
        words: dict[bool, set[str]] = {True: set(), False: set()}
        for path, text in self.texts.items():
            words[view.allows(path)].update(_words(path + text))
        return words[False] - words[True]


def make_notes(choose: random.Random) -> SharedNotes:
    """Notes of all folders, with the same names in several of them, that link and embed each
    other across the folders.
    """
    endings = [f"{first}{second}z" for first in "abcdefghijklmnop" for second in "abcdefghijklmnop"]
    paths: dict[str, str] = {}
    for folder in FOLDERS:
        for name in NAMES:
            paths[f"{folder}/{name}.md".lstrip("/")] = endings.pop(0)
        paths[f"{folder}/Page name{endings[0]}.md".lstrip("/")] = endings.pop(0)
    return SharedNotes({path: _text(path, paths, choose) for path in paths})


def _text(path: str, paths: dict[str, str], choose: random.Random) -> str:
    word = f"text{paths[path]}"
    links: list[str] = []
    for target in choose.sample(sorted(paths), 2):
        name = Path(target).stem
        links += [f"[[{name}]]", f"![[{target}]]", f"[[{name}#Words]]", f"[a]({name}.md)"]
    said = " ".join(choose.choices(WORDS, k=choose.randrange(5, 40)))
    return (
        f"---\naliases: [Alias {word}, Common alias]\ntags: [tag-{word}, shared]\n"
        f"status: state-{word}\n---\n# Title {word}\n\nThe {word} says: {said}.\n\n"
        f"## Part {word}\n\n## Words\n\n{' and '.join(choose.sample(links, 5))} ^block-{word}\n\n"
        f"> {word} quoted a sentence about the {choose.choice(WORDS)}.\n"
    )


def write_vault(root: Path, notes: SharedNotes, view: VaultView) -> None:
    """The notes and a picture beside each as files, as far as they are in a view, and links to
    files that are not.
    """
    changed = FIRST_DAY
    for path, text in notes.texts.items():
        changed += DAY
        contents = {path: text.encode(), f"{path.removesuffix('.md')}.png": b"\x89PNG"}
        for name, content in contents.items():
            if view.allows(name):
                file = root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
                os.utime(file, (changed, changed))
    (root / "Team" / "Window.md").symlink_to("../Team/Büro/Plan.md")
    (root / "Team" / "Door").symlink_to("../Team/Büro", target_is_directory=True)


@dataclass
class Side:
    """A server of one person, and its client."""

    client: Client
    root: str
    # The questions about changes
    asked: list[str]

    async def answer(self, request: "Request") -> str:
        """Everything that the client is told: the answer or the error, and the questions about
        changes.
        """
        self.asked.clear()
        try:
            found = await request.send(self.client)
            told = found.model_dump_json()
        except MCPError as e:
            told = f"{e.error.code} {e.error.message}"
        return "\n".join([*self.asked, told]).replace(self.root, "ROOT")


@dataclass(frozen=True)
class Request:
    """A request of a client, as a text to show and a function that sends it."""

    text: str
    send: Callable[[Client], Awaitable[Any]]


class RandomRequests:
    """Requests for everything that a server has, with arguments that are likely to hit."""

    def __init__(self, notes: SharedNotes, choose: random.Random) -> None:
        self._choose = choose
        self._paths = sorted(notes.texts)
        self._words = sorted({word for text in notes.texts.values() for word in _words(text)})
        self._makers: list[Callable[[], Request]] = []

    async def learn(self, client: Client) -> None:
        """Look what a server has."""
        self._makers = [self._listing]
        for tool in (await client.list_tools()).tools:
            self._makers += [self._tool(tool)] * 3
        for template in (await client.list_resource_templates()).resource_templates:
            names = re.findall(r"\{[+#]?(\w+)\}", template.uri_template)
            self._makers += [self._read, self._completion(template.uri_template, names)]
        for prompt in (await client.list_prompts()).prompts:
            self._makers.append(self._prompt(prompt))

    def next(self) -> Request:
        """Another request."""
        return self._choose.choice(self._makers)()

    def _listing(self) -> Request:
        method = self._choose.choice(
            ["list_tools", "list_resources", "list_prompts", "list_resource_templates"]
        )
        return Request(method, lambda client: getattr(client, method)())

    def _tool(self, tool: Any) -> Callable[[], Request]:
        def make() -> Request:
            arguments = {}
            for name in tool.input_schema["properties"]:
                if name in tool.input_schema.get("required", ()) or self._choose.random() < 0.25:
                    arguments[name] = self._argument(name)
            text = f"{tool.name} {arguments}"
            return Request(text, lambda client: client.call_tool(tool.name, arguments))

        return make

    def _read(self) -> Request:
        uri = f"note://{self._path()}" + self._choose.choice(["", "", f"#Part {self._word()}"])
        return Request(uri, lambda client: client.read_resource(uri))

    def _completion(self, template: str, names: Sequence[str]) -> Callable[[], Request]:
        reference = ResourceTemplateReference(uri=template)

        def make() -> Request:
            argument = {"name": self._choose.choice(names), "value": self._typed()}
            context = {"path": self._path()}
            text = f"{argument} {context}"
            return Request(
                text, lambda client: client.complete(reference, argument, context_arguments=context)
            )

        return make

    def _prompt(self, prompt: Any) -> Callable[[], Request]:
        reference = PromptReference(name=prompt.name)

        def make() -> Request:
            arguments = {each.name: self._text() for each in prompt.arguments or ()}
            if arguments and self._choose.random() < 0.3:
                argument = {"name": self._choose.choice(sorted(arguments)), "value": self._typed()}
                return Request(str(argument), lambda client: client.complete(reference, argument))
            text = f"{prompt.name} {arguments}"
            return Request(text, lambda client: client.get_prompt(prompt.name, arguments))

        return make

    def _argument(self, name: str) -> Any:
        """A value for an argument of a tool. A new argument needs a line here."""
        values: dict[str, Callable[[], Any]] = {
            "query": self._query,
            "about": self._query,
            "path": self._path,
            "source": self._path,
            "target": self._path,
            "from_note": self._path,
            "new_path": self._path,
            "link": self._link,
            "text": self._text,
            "content": self._text,
            "new_text": self._text,
            "heading": lambda: f"Part {self._word()}",
            "folder": lambda: self._choose.choice([*FOLDERS, "Team/Door", "TEAM"]),
            "tag": lambda: self._choose.choice(["shared", f"tag-{self._word()}", "tag"]),
            "property": lambda: self._choose.choice(["status", f"status: state-{self._word()}"]),
            "after": self._day,
            "before": self._day,
            "since": self._day,
            "until": self._day,
            "newest": lambda: self._choose.random() < 0.5,
            "limit": lambda: self._choose.choice([1, 3, 50]),
            "start_line": lambda: self._choose.randrange(1, 20),
            "end_line": lambda: self._choose.randrange(1, 30),
        }
        return values[name]()

    def _word(self) -> str:
        return self._choose.choice(self._words)

    def _typed(self) -> str:
        """The beginning of a path, a name or an alias."""
        name = self._choose.choice([self._path(), f"Alias {self._word()}", self._word()])
        return name[: self._choose.randrange(len(name) + 1)]

    def _query(self) -> str:
        words = self._choose.choices([*WORDS, "alias", "title", self._word()], k=3)
        query = " ".join(words)
        kinds = [
            query,
            f'"{query}"',
            f"{words[0]} -{words[1]}",
            f"path:{self._choose.choice(FOLDERS) or 'Plan'}",
            f"tag:tag-{self._word()}",
            self._word(),
            f"{self._word()[:4]}*",
        ]
        return self._choose.choice(kinds)

    def _path(self) -> str:
        """A path, a name or a link, in any spelling."""
        path = self._choose.choice([*self._paths, "Team/Window.md", "Team/Door/Plan.md", "No.md"])
        stem = Path(path).stem
        spellings = [
            path,
            path,
            path.removesuffix(".md"),
            stem,
            f"[[{stem}]]",
            f"[[{stem}#Part {self._word()}]]",
            f"Alias {self._word()}",
            f"Title {self._word()}",
            f"Team/../{path}",
            f"./{path}",
            f"Team//{path}",
            f"{path}/",
            path.upper(),
            path.lower(),
            path.swapcase(),
            unicodedata.normalize("NFC", path),
            unicodedata.normalize("NFD", path),
            path.replace("/", "/\u200b"),
            path.replace("/", "\\"),
            f"ROOT/{path}",
            path.replace(".md", ".png"),
            path[:-4],
            f"{stem}x",
        ]
        return self._choose.choice(spellings)

    def _link(self) -> str:
        return self._choose.choice([f"[[{self._path()}]]", f"![[{self._path()}]]", self._text()])

    def _text(self) -> str:
        word = self._word()
        said = f'"{word} quoted a sentence about the {self._choose.choice(WORDS)}."'
        return self._choose.choice([said, f"{said} [[{self._path()}]]", self._path(), word])

    def _day(self) -> str:
        return self._choose.choice(["2023-11-20", "2024", "2026-05-01", "last week"])


@asynccontextmanager
async def serving(folder: Path, person: Person, *, by_meaning: bool) -> AsyncIterator[Side]:
    """The server of a person in this process, on the files in a folder, and a client that declines
    each change.
    """
    root = folder / "notes"
    embedder = SynonymEmbedder() if by_meaning else None
    with closing(Vault.open(root, folder / "cache", embedder=embedder, view=person.view)) as vault:
        vault.refresh()
        vault.embed()
        server = NoteServer(ServedVault(vault))
        if person.may_write:
            add_write_tools(server, vault, MemoryPaths(vault.root, (), folder / "agents"))
        asked: list[str] = []

        async def decline(_: Any, question: Any) -> ElicitResult:
            asked.append(question.message)
            return ElicitResult(action="decline")

        callback: Any = decline
        async with Client(server, elicitation_callback=callback, cache=None) as client:
            yield Side(client, str(vault.root), asked)


async def find_leaks(
    folder: Path,
    person: Person,
    requests: int,
    seed: int,
    *,
    by_meaning: bool,
    seen: VaultView | None = None,
) -> list[str]:
    """Send random requests of a person. Returns those with an answer that tells something about
    the notes that the person may not see; the server may let them see others (`seen`).
    """
    choose = random.Random(seed)
    notes = make_notes(choose)
    hidden = notes.hidden_words(person.view)
    random_requests = RandomRequests(notes, choose)
    write_vault(folder / "whole" / "notes", notes, WHOLE_VAULT)
    write_vault(folder / "part" / "notes", notes, person.view)
    served = replace(person, view=seen or person.view)
    leaks = []
    async with (
        serving(folder / "whole", served, by_meaning=by_meaning) as whole,
        serving(folder / "part", person, by_meaning=by_meaning) as part,
    ):
        await random_requests.learn(whole.client)
        for _ in range(requests):
            request = random_requests.next()
            told = await whole.answer(request)
            expected = await part.answer(request)
            words = set(_words(told)) - set(_words(request.text))
            if told != expected or words & hidden:
                leaks.append(f"{person.name}: {request.text}\n{told}\n{expected}")
    return leaks


def main(requests: int) -> int:
    """Send so many requests of two people, and print what leaked."""
    leaks: list[str] = []
    for seed in range(2):
        for person in PEOPLE:
            begin = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                send = partial(find_leaks, by_meaning=bool(seed))
                leaks += anyio.run(send, Path(folder), person, requests // 4, seed)
            print(f"{person.name}, seed {seed}: {time.monotonic() - begin:.1f} s")
    print("\n\n".join(leaks[:5]))
    print(f"{requests} requests, {len(leaks)} leaks")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
