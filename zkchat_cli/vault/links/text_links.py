"""Links outside of notes (in a message, on a command line): what each points to, and what a broken one may have meant."""

from zkchat_cli.models import LinkResolution
from zkchat_cli.vault import filesystem, note_parser
from zkchat_cli.vault.index.database import IndexDatabase
from zkchat_cli.vault.links import name_suggestions
from zkchat_cli.vault.links.wikilinks import WrittenLink, resolve, split_target

MOST_NEAREST = 100
"""Different broken names of one text that get suggestions: a note of 100 000 broken links must not take minutes."""


def of_text(index: IndexDatabase, text: str, source: str | None) -> list[LinkResolution]:
    """The links of `text`, in its order, as if it stood in the note `source`; those that mean no note or file are left out."""
    near: dict[str, tuple[str, ...]] = {}
    links = note_parser.parse_note(source or "", filesystem.replace_surrogates(text)).markup.links
    return [found for link in links if (found := _resolved(index, link, source, near))]


def of_target(index: IndexDatabase, target: str, source: str | None) -> LinkResolution:
    """What `[[target]]` points to; brackets are not needed."""
    target = filesystem.replace_surrogates(target)
    bare = target.strip().removeprefix("!").removeprefix("[[").removesuffix("]]")
    found = _resolved(index, WrittenLink(target, "wikilink", *split_target(bare), False), source, {})
    assert found  # only Markdown links can mean no note
    return found


def _resolved(index: IndexDatabase, link: WrittenLink, source: str | None, near: dict[str, tuple[str, ...]]) -> LinkResolution | None:
    """None if the link means no note. `near` remembers nearest names, which are looked for `MOST_NEAREST` times at most."""
    answer = resolve(link, source, index.names)
    if answer.status is None:
        return None
    if answer.status == "broken" and link.text not in near and len(near) < MOST_NEAREST:
        near[link.text] = tuple(path for _, path in name_suggestions.suggest_names(index, link.text, 3))
    return LinkResolution(
        raw=link.raw,
        kind=link.kind,
        target=answer.target,
        heading=link.heading,
        alias=link.alias,
        embed=link.embed,
        status=answer.status,
        candidates=near.get(link.text, ()) if answer.status == "broken" else answer.losers,
        via=answer.via,
        reason=answer.reason,
        line=link.line,
        text=link.text,
        end=link.end,
    )
