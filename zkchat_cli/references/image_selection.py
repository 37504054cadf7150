"""Which pictures of a message are sent, and why others are not. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.events import Notice
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.mentions import MentionedDocument

MAX_IMAGES = 20
"""Pictures of one message. With more, Anthropic takes only smaller ones:
https://platform.claude.com/docs/en/build-with-claude/vision
"""
MAX_TOTAL_BYTES = 20_000_000
"""Bytes of the pictures of one message: Anthropic takes requests of 32 MB, in base64."""
OTHER_MODEL = "Use a model that does, such as openai/gpt-5, anthropic/claude-… or ollama/gemma3."


class ImageLimits(NamedTuple):
    """Why the model takes no pictures (empty if it does), and the tokens of one."""

    refusal: str
    count: Callable[[Image], int]


class SelectedImage(NamedTuple):
    """A picture's reference with the decision, the tokens it takes, and a warning if it is not
    sent.
    """

    reference: DocumentReference
    tokens: int = 0
    warning: Notice | None = None


class ImageSelection(NamedTuple):
    """The decisions about the pictures among the documents that a message names, by position, and
    the tokens of those that are sent.
    """

    mentions: Sequence[MentionedDocument]
    selected: dict[int, SelectedImage]

    @property
    def tokens(self) -> int:
        """Tokens of all pictures that are sent."""
        return sum(image.tokens for image in self.selected.values())

    @property
    def others(self) -> list[MentionedDocument]:
        """The documents that are no pictures."""
        numbered = enumerate(self.mentions)
        return [mention for position, mention in numbered if position not in self.selected]

    @property
    def warnings(self) -> list[Notice]:
        """What to tell the user about pictures that are not sent."""
        warnings: list[Notice] = []
        for position, image in self.selected.items():
            warnings += self.mentions[position].warnings
            if image.warning is not None:
                warnings.append(image.warning)
        return warnings

    def merge(self, others: Iterable[DocumentReference]) -> tuple[DocumentReference, ...]:
        """The references of pictures and of the other documents, in the message's order."""
        references = list(others)
        for position, image in sorted(self.selected.items()):
            references.insert(position, image.reference)
        return tuple(references)


def select_images(
    mentions: Sequence[MentionedDocument], limits: ImageLimits, room: int
) -> ImageSelection:
    """Decide about each picture. They take at most `room` tokens together, the first ones first."""
    selected: dict[int, SelectedImage] = {}
    sent = 0
    sent_bytes = 0
    for position, mention in enumerate(mentions):
        if mention.image is None:
            if mention.problem is not None:
                selected[position] = SelectedImage(_left_out(mention, mention.problem.message))
            continue
        tokens = limits.count(mention.image)
        why = _why_not(limits, sent, tokens, room)
        if why is None and sent_bytes + mention.image.size > MAX_TOTAL_BYTES:
            problem = f"the pictures of a message may have {MAX_TOTAL_BYTES // 1_000_000} MB"
            why = Notice(problem, "Send the others with the next message.")
        if why is not None:
            message = f"{mention.reference.wikilink} was not sent: {why.message}"
            warning = Notice(message, why.hint)
            selected[position] = SelectedImage(_left_out(mention, why.message), warning=warning)
            continue
        sent += 1
        sent_bytes += mention.image.size
        room -= tokens
        update = {"delivery": "injected", "delivery_reason": f"{mention.image}; {tokens:,} tokens"}
        selected[position] = SelectedImage(mention.reference.model_copy(update=update), tokens)
    return ImageSelection(mentions, selected)


def _why_not(limits: ImageLimits, sent: int, tokens: int, room: int) -> Notice | None:
    """Why a picture is not sent, and what to do; None if it is. `sent` are sent before it."""
    if limits.refusal:
        return Notice(limits.refusal, OTHER_MODEL)
    if sent >= MAX_IMAGES:
        problem = f"a message sends at most {MAX_IMAGES} pictures"
        return Notice(problem, "Send the others with the next message.")
    if tokens > room:
        problem = f"it takes {tokens:,} tokens, and {max(room, 0):,} are left"
        return Notice(problem, "Make it smaller, or raise context.max_tokens.")
    return None


def _left_out(mention: MentionedDocument, why: str) -> DocumentReference:
    update = {"delivery": "left_out", "delivery_reason": why}
    return mention.reference.model_copy(update=update)
