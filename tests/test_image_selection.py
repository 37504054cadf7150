"""Which pictures of a message are sent, and what a compaction does with old ones."""

from collections.abc import Sequence

from factories import COUNTER, make_history, message

from zkchat_cli.context.masks import find_maskable, is_masked, mask_messages
from zkchat_cli.models.images import Image
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.image_selection import (
    MAX_IMAGES,
    ImageLimits,
    ImageSelection,
    select_images,
)
from zkchat_cli.references.mentions import MentionedDocument


def make_reference(name: str, size: int = 1000, **more: object) -> DocumentReference:
    image = Image(
        relative_path=name, media_type="image/png", sha256="0" * 64, size=size, width=1, height=1
    )
    values = {"wikilink": f"@{name}", "relative_path": name, "reference_type": "import"}
    return DocumentReference.model_validate({**values, "image": image, **more})


def select(references: Sequence[DocumentReference], room: int = 10_000) -> ImageSelection:
    mentions = [MentionedDocument(reference) for reference in references]
    return select_images(mentions, ImageLimits("", lambda _: 300), room)


def deliveries(selection: ImageSelection) -> list[str | None]:
    return [each.reference.delivery for each in selection.selected.values()]


def test_the_first_pictures_that_fit_are_sent() -> None:
    selection = select([make_reference(f"{n}.png") for n in range(3)], room=650)
    assert deliveries(selection) == ["injected", "injected", "left_out"]
    assert selection.tokens == 600
    [warning] = selection.warnings
    assert warning.message == "@2.png was not sent: it takes 300 tokens, and 50 are left"


def test_a_message_sends_a_limited_number_of_pictures() -> None:
    selection = select([make_reference(f"{n}.png") for n in range(MAX_IMAGES + 2)])
    assert deliveries(selection).count("injected") == MAX_IMAGES
    assert "at most 20 pictures" in selection.warnings[0].message


def test_a_message_sends_a_limited_number_of_bytes() -> None:
    selection = select([make_reference(f"{n}.png", size=9_000_000) for n in range(3)])
    assert deliveries(selection) == ["injected", "injected", "left_out"]


def test_pictures_and_other_documents_keep_the_order_of_the_message() -> None:
    note = DocumentReference(wikilink="[[N]]", relative_path="N.md", reference_type="direct")
    selection = select([make_reference("a.png"), note, make_reference("b.png")])
    assert [each.reference for each in selection.others] == [note]
    merged = selection.merge([note])
    assert [each.relative_path for each in merged] == ["a.png", "N.md", "b.png"]


def test_an_old_picture_is_masked_as_an_old_document_is() -> None:
    reference = make_reference("photo.png", delivery="injected")
    image = reference.image
    assert image is not None
    large = image.model_copy(update={"width": 1000, "height": 1000})
    reference = reference.model_copy(update={"image": large})
    question = message("user", "What is it?", "q", references=[reference.model_dump()])
    history = make_history([question, message("assistant", "A roof.", "a")], COUNTER)
    [turn] = history.turns
    assert turn.tokens > 1000
    assert find_maskable(history.turns, COUNTER) == ("q",)
    [masked] = mask_messages(history, {"q"}, COUNTER).turns
    assert masked.tokens < 100
    assert is_masked(masked.prompt[0])
    assert not masked.prompt[0].images
    assert "pictures of this older message are left out: photo.png" in masked.prompt[0].content
