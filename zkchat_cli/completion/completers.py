"""One completer for each kind of text (see typed_text.py). Names with characters that a terminal
would not show are left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.completion.typed_text import Suggestion, TypedText
from zkchat_cli.text.sanitize import is_safe_name, sanitize_name
from zkchat_cli.vault.links.note_completer import Completion, best_matches

MAX_COMPLETIONS = 30
_AGENT = re.compile(r"\s*@(?P<name>(?:[^\W_][\w-]{0,47})?)")
# Characters that the path of a linkable note cannot have
_UNLINKABLE = re.compile(r"[#|^\[\]]")
# A path that needs no quotation marks
_PLAIN_PATH = re.compile(r"""[^\s"'<>|*?;,(){}\[\]`@\\“”‘’]+""")


class CompletionRequest(NamedTuple):
    """The text that is being typed, and all text `before` the cursor.

    `closing` is what a completed link still needs at its end; `tags` and `files` are those of the
    vault.
    """

    typed: TypedText
    before: str
    closing: str
    session: ZkChatSession
    tags: Sequence[str]
    files: Sequence[str]


def _complete_command(request: CompletionRequest) -> Iterator[Suggestion]:
    """Commands that begin with the text; if none does, those that contain its letters."""
    text = request.typed.text
    known = {command.name: command for command in slash.commands()}
    matches = [name for name in known if name.startswith(text.lower())]
    if not matches:
        matches = best_matches(list(known), text, MAX_COMPLETIONS)
    for name in matches:
        yield Suggestion(f"/{name}", len(request.before), description=known[name].help)


def _complete_argument(request: CompletionRequest) -> Iterator[Suggestion]:
    text = request.typed.text
    descriptions = _argument_values(request)
    printable = [value for value in descriptions if is_safe_name(value)]
    for value in best_matches(printable, text, MAX_COMPLETIONS):
        yield Suggestion(value, len(text), description=sanitize_name(descriptions[value]))


def _argument_values(request: CompletionRequest) -> Mapping[str, str]:
    """The values that the command accepts, with their descriptions."""
    for command in slash.commands():
        if command.name == request.typed.command:
            values = command.values(request.session)
            return values if isinstance(values, Mapping) else dict.fromkeys(values, "")
    return {}


def _complete_link(request: CompletionRequest) -> Iterator[Suggestion]:
    text = request.typed.text
    for found in request.session.vault.complete(text, MAX_COMPLETIONS):
        is_linkable = not _UNLINKABLE.search(found.link)
        if is_linkable and is_safe_name(found.name) and is_safe_name(found.path):
            yield Suggestion(
                found.link + request.closing,
                len(text),
                label=found.name,
                description=_describe_note(found),
            )


def _describe_note(found: Completion) -> str:
    """The note that an alias or a title belongs to, and the note's folder."""
    folder, _, _ = found.path.rpartition("/")
    if found.kind == "name":
        return folder
    source = f"{found.kind} of {found.link}"
    return f"{source}  {folder}" if folder else source


def _complete_heading(request: CompletionRequest) -> Iterator[Suggestion]:
    """The headings of the note that is named before the first `#`, matching the text after the last
    one.
    """
    note, *_, text = request.typed.text.split("#")
    vault = request.session.vault
    target = vault.resolve(note).target if note.strip() else None
    if target is None:
        return
    headings = dict.fromkeys(heading.text for heading in vault.reader.parse(target).markup.headings)
    linkable = list(filter(_is_linkable, headings))
    for name in best_matches(linkable, text, MAX_COMPLETIONS):
        yield Suggestion(name + request.closing, len(text), label=name)


def _is_linkable(heading: str) -> bool:
    if not heading or not is_safe_name(heading):
        return False
    return _UNLINKABLE.search(heading) is None


def _complete_tag(request: CompletionRequest) -> Iterator[Suggestion]:
    text = request.typed.text
    for tag in best_matches(request.tags, text, MAX_COMPLETIONS):
        yield Suggestion(tag, len(text), label=f"#{tag}")


def _complete_path(request: CompletionRequest) -> Iterator[Suggestion]:
    """Files; at the beginning of a message agents come first."""
    yield from _agents(request)
    text = request.typed.text
    for path in best_matches(request.files, text.lstrip('"'), MAX_COMPLETIONS):
        quoted = path if _PLAIN_PATH.fullmatch(path) else f'"{path}"'
        yield Suggestion(quoted, len(text), label=path)


def _agents(request: CompletionRequest) -> Iterator[Suggestion]:
    typed = _AGENT.fullmatch(request.before)
    if typed is None:
        return
    begin = typed["name"]
    for name in request.session.agent_names():
        if name.startswith(begin.lower()):
            yield Suggestion(
                f"{name} ", len(begin), label=f"@{name}", description="answers this message"
            )


COMPLETERS: Mapping[str, Callable[[CompletionRequest], Iterator[Suggestion]]] = {
    "command": _complete_command,
    "argument": _complete_argument,
    "link": _complete_link,
    "heading": _complete_heading,
    "tag": _complete_tag,
    "path": _complete_path,
}
"""The completer for each kind of typed text."""
VAULT_KINDS = frozenset(("link", "heading", "tag", "path"))
"""The kinds that need an index of the vault."""
