"""The list of models of a server, in the forms that servers send it. Pure."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from zkchat_cli.llm.base import ModelInfo
from zkchat_cli.models.money import MILLION, Price
from zkchat_cli.text.numbers import whole_number

# Owners of the models that llama.cpp and LM Studio list
LLAMA_CPP = "llamacpp"
LM_STUDIO = "organization_owner"
# What LM Studio calls a model that takes pictures
VISION_MODEL = "vlm"
WINDOW_KEYS = (
    "max_input_tokens",  # Anthropic
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter
    "context_window",  # Groq
    "loaded_context_length",  # LM Studio
    "max_context_length",  # LM Studio
    # llama.cpp, in a table `meta`
    "n_ctx",
)
"""Keys of a model's window in the servers' lists of models."""


def read_model_list(answer: Mapping[str, Any]) -> tuple[ModelInfo, ...]:
    """The models in an answer, by name. Raises one of `UNREADABLE` for an answer of another
    form.
    """
    # Ollama lists them under "models"
    rows = answer["data"] if "data" in answer else answer["models"]
    return tuple(sorted(map(_read_row, rows or ()), key=lambda model: model.name))


def _read_row(row: Mapping[str, Any]) -> ModelInfo:
    # OpenRouter lists what a model can do
    parameters = row.get("supported_parameters")
    name = row["id"] if "id" in row else row["name"]
    return ModelInfo(
        str(name),
        window=_listed_window(row),
        calls_tools="tools" in parameters if isinstance(parameters, list) else None,
        takes_images=_takes_images(row),
        server=str(row.get("owned_by") or ""),
        price=_listed_price(row.get("pricing")),
    )


def _listed_price(prices: object) -> Price | None:
    """The price that OpenRouter lists, in dollars for a token."""
    if not isinstance(prices, Mapping):
        return None
    figures = {}
    for key in ("prompt", "completion", "input_cache_read", "input_cache_write"):
        with suppress(TypeError, ValueError):
            figure = float(prices[key]) if key in prices else None
            # A router lists -1: its models have different prices
            if figure is not None and 0 <= figure < 1:
                figures[key] = round(figure * MILLION, 6)
    if "prompt" not in figures or "completion" not in figures:
        return None
    cached = figures.get("input_cache_read")
    written = figures.get("input_cache_write")
    return Price(figures["prompt"], figures["completion"], cached, written)


def _takes_images(row: Mapping[str, Any]) -> bool | None:
    """Whether a row says that its model takes pictures: OpenRouter lists `input_modalities`,
    Mistral, LM Studio and Anthropic `capabilities`. None if it says nothing.
    """
    architecture = row.get("architecture")
    tables = [row, architecture] if isinstance(architecture, dict) else [row]
    for table in tables:
        if isinstance(modalities := table.get("input_modalities"), list):
            return "image" in modalities
    match row.get("capabilities"):
        case {"vision": bool(takes)} | {"image_input": {"supported": bool(takes)}}:
            return takes
    return True if row.get("type") == VISION_MODEL else None


def _listed_window(row: Mapping[str, Any]) -> int | None:
    tables = [row]
    if isinstance(meta := row.get("meta"), dict):
        tables.append(meta)
    for table in tables:
        for key in WINDOW_KEYS:
            if table.get(key):
                return whole_number(table[key], least=1)
    return None


def find_listed(model: str, listed: Sequence[ModelInfo]) -> ModelInfo | None:
    """A model in its server's list, where its name may differ: Ollama adds a tag, Gemini a folder,
    and OpenRouter lists no routing variants (`vendor/model:nitro`). llama.cpp answers to any name
    with the one model that it has loaded.
    """
    by_name = {each.name: each for each in reversed(listed)}
    names = (model, f"{model}:latest", f"models/{model}", model.rpartition(":")[0])
    for name in names:
        if name in by_name:
            return by_name[name]
    if len(listed) == 1 and listed[0].server == LLAMA_CPP:
        return listed[0]
    return None
