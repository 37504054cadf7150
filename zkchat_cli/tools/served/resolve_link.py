"""Finds the notes that links mean."""

from typing import Annotated, TypedDict

from pydantic import Field

from zkchat_cli.tools.served_tool import Document, ServedVault, declare_served_tool


class ResolvedLinks(TypedDict):
    links: list[Document]


def resolve_link(
    served: ServedVault,
    link: Annotated[
        str,
        Field(
            description="A link such as [[Note#Heading]], or a text with links.", max_length=20_000
        ),
    ],
    from_note: Annotated[
        str | None, Field(description="The note that has the link.", max_length=4096)
    ] = None,
) -> ResolvedLinks:
    """Find the note that a link means. A broken link has the nearest notes as candidates, an
    ambiguous one the other notes.
    """
    vault = served.vault
    source = vault.locate(from_note).path if from_note else None
    found = vault.resolve_links(link, source) or [vault.resolve(link, source)]
    return {"links": [each.model_dump(mode="json") for each in found]}


TOOL = declare_served_tool(resolve_link, order=40)
