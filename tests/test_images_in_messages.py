"""Pictures that a message names: sent to models that take them, in each provider's format, and
refused with a reason by others.
"""

import base64
import json
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Program, ProgramResult
from model_server import (
    ModelServer,
    Reply,
    anthropic_text,
    ollama_error,
    ollama_text,
    openai_error,
    openai_text,
    responses_text,
)
from pictures import jpeg, png

PHOTO = png(1024, 768)
PLAN = jpeg(200, 100)


class Wire(NamedTuple):
    """A provider's API: a model's name, the settings, and a reply."""

    model: str
    reply: Reply
    env: dict[str, str]


WIRES = {
    "chat": Wire("openai/m", Reply(openai_text("A roof.")), {}),
    "responses": Wire(
        "openai/m", Reply(responses_text("A roof.")), {"ZKCHAT_OPENAI__API": "responses"}
    ),
    "anthropic": Wire("anthropic/claude-sonnet-4-5", Reply(anthropic_text("A roof.")), {}),
    "ollama": Wire("ollama/gemma3", Reply(ollama_text("A roof.")), {}),
}


@pytest.fixture
def zkchat(zkchat: Program, vault: Path, server: ModelServer) -> Program:
    (vault / "photo.png").write_bytes(PHOTO)
    (vault / "Plans").mkdir()
    (vault / "Plans" / "roof plan.jpg").write_bytes(PLAN)
    server.says(Reply(openai_text("A roof.")))
    zkchat.env = {
        "OPENAI_BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": "k",
        "ANTHROPIC_BASE_URL": server.address,
        "ANTHROPIC_API_KEY": "k",
        "OLLAMA_HOST": server.address,
    }
    return zkchat


def ask(zkchat: Program, question: str, *more: object, model: str = "openai/m") -> ProgramResult:
    done = zkchat("ask", "-m", model, *more, question, "--json")
    assert done.exit_status == 0, done.err
    return done


def find_data(value: Any) -> list[bytes]:
    """All base64 of a request's body that is that of a picture, decoded."""
    if isinstance(value, dict):
        return [data for each in value.values() for data in find_data(each)]
    if isinstance(value, list):
        return [data for each in value for data in find_data(each)]
    encoded = str(value).rpartition("base64,")[2]
    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        return []
    return [data] if data.startswith((b"\x89PNG", b"\xff\xd8\xff")) else []


def parts_with_images(server: ModelServer) -> list[dict[str, Any]]:
    """The messages with pictures in the last request, with hashes in place of the data."""
    body = server.bodies[-1]
    messages = body.get("messages") or body["input"]
    found = [message for message in messages if find_data(message)]
    text = json.dumps(found)
    for name, data in (("PHOTO", PHOTO), ("PLAN", PLAN)):
        text = text.replace(base64.b64encode(data).decode(), name)
    parts: list[dict[str, Any]] = json.loads(text)
    return parts


# each provider's format


def sent_over(wire: Wire, zkchat: Program, server: ModelServer) -> dict[str, Any]:
    server.says(wire.reply)
    zkchat.env |= wire.env
    ask(zkchat, "What is on @photo.png and ![[roof plan.jpg]]?", model=wire.model)
    [message] = parts_with_images(server)
    return message


def test_chat_completions_get_parts_with_data_urls(zkchat: Program, server: ModelServer) -> None:
    message = sent_over(WIRES["chat"], zkchat, server)
    assert message["role"] == "user"
    text, photo, plan = message["content"]
    assert text["type"] == "text"
    assert "- @photo.png (photo.png): a picture" in text["text"]
    assert photo == {"type": "image_url", "image_url": {"url": "data:image/png;base64,PHOTO"}}
    assert plan == {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,PLAN"}}


def test_responses_get_input_images(zkchat: Program, server: ModelServer) -> None:
    message = sent_over(WIRES["responses"], zkchat, server)
    text, photo, plan = message["content"]
    assert text["type"] == "input_text"
    assert photo == {
        "type": "input_image",
        "image_url": "data:image/png;base64,PHOTO",
        "detail": "high",
    }
    assert plan["image_url"] == "data:image/jpeg;base64,PLAN"


def test_anthropic_gets_image_blocks_before_the_text(zkchat: Program, server: ModelServer) -> None:
    message = sent_over(WIRES["anthropic"], zkchat, server)
    photo, plan, *texts = message["content"]
    assert photo == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "PHOTO"},
    }
    assert plan["source"]["media_type"] == "image/jpeg"
    assert [text["type"] for text in texts] == ["text", "text"]


def test_ollama_gets_a_list_of_base64(zkchat: Program, server: ModelServer) -> None:
    message = sent_over(WIRES["ollama"], zkchat, server)
    assert message["images"] == ["PHOTO", "PLAN"]
    assert isinstance(message["content"], str)


# what is reported and stored


def test_a_picture_is_an_import_reference_and_its_tokens_are_counted(
    zkchat: Program, server: ModelServer
) -> None:
    plain = ask(zkchat, "What is on the picture?").json["context"]
    done = ask(zkchat, "What is on @photo.png?").json
    [reference] = [each for each in done["references"] if each["relative_path"] == "photo.png"]
    assert (reference["reference_type"], reference["delivery"]) == ("import", "injected")
    image = reference["image"]
    assert (image["width"], image["height"], image["size"]) == (1024, 768, len(PHOTO))
    assert "data" not in image
    # 37 × 28 patches of 28 pixels
    assert done["context"]["components"]["images"] == 1036
    assert done["context"]["total_tokens"] > plain["total_tokens"] + 1036
    assert done["warnings"] == []


def test_the_next_turn_sends_it_again_and_says_when_its_file_has_changed(
    zkchat: Program, server: ModelServer, vault: Path
) -> None:
    ask(zkchat, "What is on @photo.png?")
    ask(zkchat, "And what else?", "-c")
    assert find_data(server.bodies[-1]) == [PHOTO]
    (vault / "photo.png").write_bytes(png(10, 10))
    again = ask(zkchat, "And what else?", "-c").json
    assert find_data(server.bodies[-1]) == []
    assert "photo.png is not sent: its file is gone, or it has changed" in str(server.bodies[-1])
    assert again["context"]["components"]["images"] == 0


def test_past_prompts_and_exports_say_which_picture_was_sent(
    zkchat: Program, server: ModelServer
) -> None:
    ask(zkchat, "What is on @photo.png?")
    hash_ = sha256(PHOTO).hexdigest()[:12]
    shown = zkchat("context", "show", "-m", "openai/m").out
    assert f"[picture photo.png: 1,024 × 768 PNG, 2 kB, sha256 {hash_}]" in shown
    past = zkchat("chat", "-c", stdin="/show last\n").out
    assert f"[picture photo.png: 1,024 × 768 PNG, 2 kB, sha256 {hash_}]" in past
    markdown = zkchat("context", "export", "--format", "md").out
    assert "the picture was in the prompt (1,024 × 768 PNG, 2 kB, sha256 " in markdown
    page = zkchat("context", "export", "--format", "html").out
    assert "the picture was in the prompt (1,024 × 768 PNG" in page
    exported = zkchat("context", "export", "--format", "json").out
    assert base64.b64encode(PHOTO).decode() not in exported
    call = zkchat("context", "export", "--format", "context", "-m", "openai/m").out
    assert "data:image/png,sha256:" in call
    archive = json.loads(exported)
    [image] = [
        image for message in archive["prompts"]["messages"] for image in message.get("images", ())
    ]
    assert image["relative_path"] == "photo.png"


def test_an_exported_conversation_with_a_picture_is_imported_again(
    zkchat: Program, tmp_path: Path
) -> None:
    ask(zkchat, "What is on @photo.png?")
    file = tmp_path / "c.json"
    zkchat("context", "export", "--format", "json", "-o", file)
    other = Program(zkchat.vault, tmp_path / "other", zkchat.env)
    assert other("context", "import", "--file", file).exit_status == 0
    assert "[picture photo.png" in other("context", "show", "-m", "openai/m").out


def test_undo_takes_the_picture_out_of_the_prompt(zkchat: Program, server: ModelServer) -> None:
    chat = zkchat("chat", "-m", "openai/m", stdin="What is on @photo.png?\n/undo\nAnd now?\n")
    assert chat.exit_status == 0, chat.err
    assert [len(find_data(body)) for body in server.bodies] == [1, 0]


def test_a_compaction_masks_the_picture(zkchat: Program, server: ModelServer) -> None:
    ask(zkchat, "What is on @photo.png?")
    for question in ("Why is that?", "And then?", "What else?"):
        ask(zkchat, question, "-c")
    done = zkchat("context", "compact", "--keep", 1, "-m", "openai/m", "--json")
    assert done.json["tokens_before"] - done.json["tokens_after"] > 900
    shown = zkchat("context", "show", "-m", "openai/m", "--json").json
    assert all(not message.get("images") for message in shown["messages"])
    zkchat("context", "compact", "--undo")
    shown = zkchat("context", "show", "-m", "openai/m", "--json").json
    assert any(message.get("images") for message in shown["messages"])


def test_a_preview_of_the_next_prompt_counts_it(zkchat: Program) -> None:
    ask(zkchat, "Hello?")
    shown = zkchat("context", "show", "--next", "See ![[photo.png]]", "-m", "openai/m").out
    assert "picture     ![[photo.png]]  photo.png: 1,024 × 768 PNG, 2 kB; 1,036 tokens" in shown


# models that take none


def test_the_offline_provider_refuses_a_picture_with_a_reason(zkchat: Program) -> None:
    done = ask(zkchat, "What is on @photo.png?", model="offline")
    assert "@photo.png was not sent: offline takes no pictures" in done.err
    [reference] = [each for each in done.json["references"] if each["wikilink"] == "@photo.png"]
    assert reference["delivery"] == "left_out"
    assert done.json["warnings"][0]["hint"].startswith("Use a model that does")


@pytest.mark.parametrize(
    ("listed", "takes"),
    [
        ({"architecture": {"input_modalities": ["text", "image"]}}, True),
        ({"architecture": {"input_modalities": ["text"]}}, False),
        ({"input_modalities": ["text"]}, False),
        ({"capabilities": {"vision": False}}, False),
        ({"capabilities": {"vision": True}}, True),
        ({}, True),
    ],
)
def test_the_servers_list_of_models_decides(
    zkchat: Program, server: ModelServer, listed: dict[str, Any], takes: bool
) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m", **listed}]}
    done = ask(zkchat, "What is on @photo.png?")
    assert bool(find_data(server.bodies[-1])) is takes
    assert ("openai/m takes no pictures" in done.err) is not takes


@pytest.mark.parametrize(("abilities", "takes"), [(["vision"], True), (["completion"], False)])
def test_ollamas_capabilities_decide(
    zkchat: Program, server: ModelServer, abilities: list[str], takes: bool
) -> None:
    server.gets["/api/show"] = {"capabilities": abilities, "model_info": {}}
    server.says(Reply(ollama_text("A roof.")))
    done = ask(zkchat, "What is on @photo.png?", model="ollama/x")
    assert bool(find_data(server.bodies[-1])) is takes
    assert ("ollama/x takes no pictures" in done.err) is not takes


REFUSALS = [
    # OpenAI
    "Invalid content type. image_url is only supported by certain models.",
    # LM Studio
    "Model does not support images. Please use a model that does.",
    # llama.cpp
    "image input is not supported - hint: you may need to provide the mmproj",
    # vLLM
    "meta-llama/Llama-3.1-8B is not a multimodal model",
    "At most 0 image(s) may be provided in one prompt.",
    # OpenRouter
    "No endpoints found that support image input",
    # DeepSeek
    "messages[1]: unknown variant `image_url`, expected `text` at line 1 column 900",
    # Groq
    "'messages.1' : for 'role:user' messages[1].content must be a string",
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_is_told_and_the_question_sent_without_pictures(
    zkchat: Program, server: ModelServer, refusal: str
) -> None:
    server.says(openai_error(400, refusal), Reply(openai_text("I see no picture.")))
    done = ask(zkchat, "What is on @photo.png?")
    assert [len(find_data(body)) for body in server.bodies] == [1, 0]
    assert "openai/m takes no pictures" in done.err
    assert "a picture that you were not sent" in str(server.bodies[-1])
    assert done.json["answer"] == "I see no picture."
    assert done.json["context"]["components"]["images"] == 0


def test_a_refusal_with_the_status_of_a_failure_is_not_tried_again(
    zkchat: Program, server: ModelServer
) -> None:
    server.says(
        openai_error(500, "image input is not supported"), Reply(openai_text("I see no picture."))
    )
    ask(zkchat, "What is on @photo.png?")
    assert [len(find_data(body)) for body in server.bodies] == [1, 0]


def test_a_refusal_of_ollama_is_answered_too(zkchat: Program, server: ModelServer) -> None:
    server.says(
        ollama_error(400, "this model is missing data required for image input"),
        Reply(ollama_text("None.")),
    )
    ask(zkchat, "What is on @photo.png?", model="ollama/x")
    assert [len(find_data(body)) for body in server.bodies] == [1, 0]


def test_a_conversation_with_a_picture_continues_with_a_model_without_pictures(
    zkchat: Program, server: ModelServer
) -> None:
    ask(zkchat, "What is on @photo.png?")
    server.gets["/v1/models"] = {"data": [{"id": "blind", "input_modalities": ["text"]}]}
    ask(zkchat, "And what else?", "-c", model="openai/blind")
    assert find_data(server.bodies[-1]) == []
    assert "photo.png is not sent: openai/blind takes no pictures" in str(server.bodies[-1])


# files that cannot be sent


def test_a_damaged_picture_is_named_and_the_question_is_sent(
    zkchat: Program, server: ModelServer, vault: Path
) -> None:
    (vault / "cut.png").write_bytes(PHOTO[:-20])
    done = ask(zkchat, "What is on @cut.png and ![[cut.png]]?")
    assert "@cut.png was not sent: cut.png is damaged: it ends before its last part" in done.err
    assert find_data(server.bodies[-1]) == []
    assert done.json["references"][0]["delivery"] == "left_out"


@pytest.mark.parametrize("written", ["@../outside.png", "@link.png", "![[link.png]]"])
def test_a_picture_outside_of_the_vault_is_refused(
    zkchat: Program, server: ModelServer, vault: Path, written: str
) -> None:
    (vault.parent / "outside.png").write_bytes(PHOTO)
    (vault / "link.png").symlink_to(vault.parent / "outside.png")
    done = ask(zkchat, f"What is on {written}?")
    assert find_data(server.bodies[-1]) == []
    assert "outside.png is neither in" in done.err or "link.png" in done.err


def test_a_picture_below_the_current_folder_is_sent(
    zkchat: Program, server: ModelServer, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "shot.png").write_bytes(PHOTO)
    done = zkchat("ask", "-m", "openai/m", "-v", zkchat.vault, "What is on @shot.png?", cwd=folder)
    assert done.exit_status == 0
    assert find_data(server.bodies[-1]) == [PHOTO]


def test_a_plain_link_to_a_picture_only_names_it(zkchat: Program, server: ModelServer) -> None:
    done = ask(zkchat, "Where is [[photo.png]] used?")
    assert find_data(server.bodies[-1]) == []
    assert "To send it, write ![[photo.png]]." in done.err


def test_a_picture_that_does_not_fit_is_refused(zkchat: Program, server: ModelServer) -> None:
    done = ask(zkchat, "What is on @photo.png?", "--max-context", 1000)
    assert "@photo.png was not sent: it takes 1,036 tokens, and " in done.err
    usage = done.json["context"]
    assert usage["total_tokens"] <= usage["effective_limit"]
