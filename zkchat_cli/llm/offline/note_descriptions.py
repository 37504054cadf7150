"""What notes a request means, as arguments of the list tool, as a command and in words. Pure."""

import shlex
from typing import Any

from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.property_values import readable_value
from zkchat_cli.llm.offline.request_handler import plain_name
from zkchat_cli.text.note_phrases import NotePhrases

# What was due until then is overdue
YESTERDAY = "yesterday"
ORPHANS = "orphans"
DUE_TASKS = "due tasks"


def list_arguments(request: NoteRequest) -> dict[str, Any]:
    """The arguments of the list tool for a request, without those that are empty."""
    arguments: dict[str, Any] = {
        "folder": request.folder,
        "tag": request.tag,
        "since": request.dates,
        "until": request.dates,
        "about": _words_of_notes(request),
        "property": request.property,
        "links_to": request.note or _excluded_link(request),
        "show": ORPHANS if request.is_orphan else "",
    }
    if request.is_overdue:
        arguments["until"] = YESTERDAY
    if request.newest or request.dates:
        arguments["order"] = "newest"
    if request.oldest:
        arguments["order"] = "oldest"
    return {name: value for name, value in arguments.items() if value}


def _words_of_notes(request: NoteRequest) -> str:
    """The subject of a request, with a minus what the notes are not about, and the kind that their
    titles say.
    """
    excluded = request.excluded.replace('"', "")
    if " " in excluded:
        excluded = f'"{excluded}"'
    titled = f"title:{request.title}" if request.title else ""
    wanted = (request.about, f"-{excluded}" if excluded else "", titled)
    return " ".join(filter(None, wanted))


def _excluded_link(request: NoteRequest) -> str:
    """With a minus, the note that is not linked to; only that for notes without links."""
    return f"-{request.unlinked.removeprefix('-')}" if request.unlinked else ""


def list_command(request: NoteRequest) -> str:
    """The command that lists all notes of a request."""
    arguments = list_arguments(request)
    order = arguments.pop("order", "")
    is_orphan = arguments.pop("show", "") == ORPHANS
    command = ["zkchat", "vault", "list"]
    for name, value in arguments.items():
        option = f"--{name.replace('_', '-')}"
        # "-done" would be read as an option
        is_negative = str(value).startswith("-")
        command += [f"{option}={value}"] if is_negative else [option, str(value)]
    if is_orphan:
        command.append("--linked-from=-")
    if order:
        command.append(f"--{order}")
    return shlex.join(command)


def describe_notes(request: NoteRequest, phrases: NotePhrases) -> str:
    """What notes are wanted, as the rest of "12 notes": "about bees with #garden"."""
    parts: list[str] = []
    if request.about:
        parts.append(phrases.about.format(value=plain_name(request.about)))
    if request.title:
        kinds = plain_name(request.title).replace("|", " | ")
        parts.append(phrases.titled.format(value=kinds))
    parts += [_describe_tag(tag, phrases) for tag in request.tag.split()]
    for each in filter(None, request.property.split("; ")):
        named = readable_value(each.removeprefix("-")) or plain_name(each.removeprefix("-"))
        phrase = phrases.lacking if each.startswith("-") else phrases.having
        parts.append(phrase.format(value=named))
    if request.folder:
        named = plain_name(request.folder.removeprefix("-").rstrip("/"))
        is_outside = request.folder.startswith("-")
        phrase = phrases.outside_folder if is_outside else phrases.in_folder
        parts.append(phrase.format(value=named))
    parts += _describe_links(request, phrases)
    if request.excluded:
        phrase = phrases.but_not_about if parts else phrases.not_about
        parts.append(phrase.format(value=plain_name(request.excluded)))
    if request.what == DUE_TASKS:
        parts.append(_describe_due(request, phrases))
    elif request.dates:
        parts.append(f", {plain_name(request.dates)}")
    return " ".join(parts).replace(" ,", ",")


def _describe_tag(tag: str, phrases: NotePhrases) -> str:
    """`with #garden`, and for "-garden" and "-" that notes are without it, or without any."""
    name = plain_name(tag.removeprefix("-"))
    if not tag.startswith("-"):
        return phrases.having.format(value=f"#{name}")
    return phrases.lacking.format(value=f"#{name}") if name else phrases.untagged


def _describe_links(request: NoteRequest, phrases: NotePhrases) -> list[str]:
    """The links that the notes have and do not have."""
    parts: list[str] = []
    if request.note:
        parts.append(phrases.linking_to.format(value=plain_name(request.note)))
    if request.is_orphan and request.unlinked == "-":
        parts.append(phrases.isolated)
        return parts
    if request.is_orphan:
        parts.append(phrases.orphaned)
    if request.unlinked == "-":
        parts.append(phrases.without_links)
    elif request.unlinked:
        parts.append(phrases.not_linking_to.format(value=plain_name(request.unlinked)))
    return parts


def _describe_due(request: NoteRequest, phrases: NotePhrases) -> str:
    """When the tasks are due."""
    if request.is_overdue:
        return phrases.overdue
    if not request.dates:
        return phrases.with_due_date
    return phrases.due.format(value=plain_name(request.dates))


def count_of_notes(total: int, request: NoteRequest, phrases: NotePhrases) -> str:
    """`12 notes about bees`."""
    described = f"{phrases.notes(total)} {describe_notes(request, phrases)}"
    return described.strip().replace(" ,", ",")


def format_rest(left: int, request: NoteRequest, phrases: NotePhrases) -> str:
    """That there are more notes, and the command that lists them all; empty if there are none."""
    if left <= 0:
        return ""
    command = f"`{list_command(request)}`"
    return f"\n{phrases.and_more_by.format(count=phrases.number(left), command=command)}\n"
