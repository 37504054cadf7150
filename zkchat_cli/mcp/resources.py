"""The notes as resources: a list in pages, two templates, reading, and completion.

The SDK lists what was registered once and in one piece, but notes come and go, and there may be
thousands. So these are handlers of our own, and everything goes through the same `ServedVault` as
the tools: what it does not have, no list, no completion and no address shows.
"""

import base64
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.mcp.cache_hints import FIXED_MILLISECONDS
from zkchat_cli.mcp.calls import run_in_thread
from zkchat_cli.mcp.note_address import NoteAddress, find_address, find_lines, write_address
from zkchat_cli.mcp.skill_file import SkillFile
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.tools.served.read_note import read_note
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.index.values import NoteEntry
from zkchat_cli.vault.links.note_completer import best_matches
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES
from zkchat_cli.vault.sections import heading_names

NOTE_TEMPLATE = "note://{+path}"
SECTION_TEMPLATE = "note://{+path}{#heading}"
# Notes on one page of the list
PAGE = 200
# Most values of a completion that the protocol allows
MOST_COMPLETIONS = 100
_MARKDOWN = "text/markdown"
_RequestContext = ServerRequestContext[Any, Any]


class NoteResources:
    """Answers the requests about resources. `refresh` updates the index before each."""

    def __init__(
        self, served: ServedVault, skill: SkillFile, refresh: Callable[[], Awaitable[None]]
    ) -> None:
        self._served = served
        self._skill = skill
        self._refresh = refresh

    async def list_resources(
        self, _: _RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        """A page of the notes by path; the skill is on the first. Raises MCPError for a cursor
        that no list had, and if the vault cannot be read.
        """
        after = _read_cursor(params.cursor)
        try:
            await self._refresh()
            notes = await run_in_thread(partial(self._notes_after, after))
        except ZkchatError as e:
            raise MCPError(types.INTERNAL_ERROR, on_one_line(e.message, e.hint)) from None
        page = [_describe_note(note) for note in notes[:PAGE]]
        if params.cursor is None:
            page.insert(0, self._describe_skill())
        more = _write_cursor(notes[PAGE - 1].path) if len(notes) > PAGE else None
        return types.ListResourcesResult(resources=page, next_cursor=more)

    async def list_templates(
        self, _: _RequestContext, __: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        """How notes and their sections are addressed."""
        note = types.ResourceTemplate(
            uri_template=NOTE_TEMPLATE,
            name="note",
            title="A note",
            description="The text of a note by its path.",
            mime_type=_MARKDOWN,
        )
        section = types.ResourceTemplate(
            uri_template=SECTION_TEMPLATE,
            name="section",
            title="A section of a note",
            description="The section below a heading, or a block (^id).",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[note, section])

    async def read(
        self, _: _RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """The text of a note, of a section, or of the skill. Raises MCPError with a sentence for
        an unknown address.
        """
        uri = params.uri
        if uri == self._skill.uri:
            text = types.TextResourceContents(uri=uri, text=self._skill.text, mime_type=_MARKDOWN)
            return types.ReadResourceResult(
                contents=[text], ttl_ms=FIXED_MILLISECONDS, cache_scope="public"
            )
        try:
            await self._refresh()
            content = await run_in_thread(partial(self._read_note, uri))
        except ZkchatError as e:
            sentence = on_one_line(e.message, e.hint)
            raise MCPError(types.INVALID_PARAMS, sentence, {"uri": uri}) from None
        return types.ReadResourceResult(contents=[content])

    async def complete(
        self, _: _RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Paths of notes that match what was typed, and headings of a note. Nothing for other
        arguments. Raises MCPError if the vault cannot be read.
        """
        argument = params.argument
        given = (params.context.arguments if params.context else None) or {}
        try:
            if _is_path_argument(params.ref, argument.name):
                await self._refresh()
                find = partial(self._complete_path, argument.value)
            elif _is_heading_argument(params.ref, argument.name) and given.get("path"):
                await self._refresh()
                find = partial(self._complete_heading, given["path"], argument.value)
            else:
                return types.CompleteResult(completion=types.Completion(values=[]))
            found = await run_in_thread(find)
        except ZkchatError as e:
            raise MCPError(types.INVALID_PARAMS, on_one_line(e.message, e.hint)) from None
        values = found[:MOST_COMPLETIONS]
        completion = types.Completion(values=values, has_more=len(found) > MOST_COMPLETIONS)
        return types.CompleteResult(completion=completion)

    def _notes_after(self, path: str) -> list[NoteEntry]:
        """The notes after this path, in the order of the paths."""
        notes = self._served.vault.catalog.list_notes(NoteSelection())
        return sorted((note for note in notes if note.path > path), key=lambda note: note.path)

    def _describe_skill(self) -> types.Resource:
        return types.Resource(
            uri=self._skill.uri,
            name=self._skill.name,
            description=self._skill.description,
            mime_type=_MARKDOWN,
            size=len(self._skill.text.encode()),
        )

    def _read_note(self, uri: str) -> types.TextResourceContents:
        """The text at an address, with a line that says how to get the rest of a long one."""
        vault = self._served.vault
        address = find_address(vault, uri)
        lines = find_lines(vault, address)
        first, last = lines or (None, None)
        note = read_note(self._served, address.path, first, last)
        text = note["text"]
        if note["more"]:
            text += (
                f"\n\n[{note['relative_path']} has {note['lines']} lines. "
                f"{note['more']} The tool is read_note.]"
            )
        is_note = address.path.lower().endswith(NOTE_SUFFIXES)
        return types.TextResourceContents(
            uri=uri, text=text, mime_type=_MARKDOWN if is_note else "text/plain"
        )

    def _complete_path(self, typed: str) -> list[str]:
        # One more shows whether there are more
        found = self._served.vault.complete(typed, MOST_COMPLETIONS + 1)
        return list(dict.fromkeys(each.path for each in found))

    def _complete_heading(self, path: str, typed: str) -> list[str]:
        vault = self._served.vault
        note = vault.reader.parse(vault.locate(path).path)
        return best_matches(list(heading_names(note.markup)), typed, MOST_COMPLETIONS + 1)


def _is_path_argument(
    ref: types.PromptReference | types.ResourceTemplateReference, name: str
) -> bool:
    """Whether an argument is the path of a note: that of both templates, and the draft that is
    to be verified may be one.
    """
    if isinstance(ref, types.PromptReference):
        return (ref.name, name) == ("verify-draft", "draft")
    return ref.uri in (NOTE_TEMPLATE, SECTION_TEMPLATE) and name == "path"


def _is_heading_argument(
    ref: types.PromptReference | types.ResourceTemplateReference, name: str
) -> bool:
    if isinstance(ref, types.PromptReference):
        return False
    return (ref.uri, name) == (SECTION_TEMPLATE, "heading")


def _describe_note(note: NoteEntry) -> types.Resource:
    changed = _write_time(note.changed)
    return types.Resource(
        uri=write_address(NoteAddress(note.path)),
        name=sanitize_name(note.path),
        title=sanitize_name(note.title),
        mime_type=_MARKDOWN,
        annotations=types.Annotations(last_modified=changed) if changed else None,
    )


def _write_time(nanoseconds: int) -> str | None:
    """A time as in `2026-05-01T08:30:00Z`; None for one that the calendar does not have."""
    with suppress(OverflowError, OSError, ValueError):
        return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return None


def _write_cursor(path: str) -> str:
    """A cursor that stays right when notes come and go: the last path of the page."""
    return base64.urlsafe_b64encode(path.encode()).decode()


def _read_cursor(cursor: str | None) -> str:
    """The path after which a page begins; empty for the first page. Raises MCPError."""
    if cursor is None:
        return ""
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except ValueError:
        raise MCPError(
            types.INVALID_PARAMS, "This cursor is from no list: begin again without one."
        ) from None
