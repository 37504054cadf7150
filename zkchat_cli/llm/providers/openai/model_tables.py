"""Facts about models that their servers do not report (November 2026). A model works without an
entry.
"""

from zkchat_cli.tokens.image_rules import ImageRule, PatchRule, TileRule

INPUT_TOKENS = {
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4": 8_192,
    "gpt-5.4": 922_000,
    "gpt-5.5": 922_000,
    "gpt-5": 272_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""The largest prompt of OpenAI's models in tokens, by the beginning of their names; the first that
fits counts. OpenAI lists none.
"""
O200K_MODELS = ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt", "o1", "o3", "o4")
"""Prefixes of OpenAI's models with the tokenizer o200k_base (tiktoken's own table)."""
REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
"""Prefixes of OpenAI's models that take no temperature."""
NEVER_REASONING = ("gpt-3", "gpt-4", "chatgpt", "gpt-5-chat")
"""Prefixes of models that refuse settings of reasoning. Any other model that refuses them is called
again without them.
"""
WITHOUT_TOOLS = (
    "chatgpt-4o",
    "gpt-4o-search",
    "gpt-4o-mini-search",
    "gpt-5-search",
    "o1-mini",
    "o1-preview",
    "smollm",
    "tinyllama",
    "llama-2",
    "llama2",
    "vicuna",
    "gemma-2",
    "gemma2",
    "phi-2",
    "phi-3",
    "phi3",
    "stablelm",
    "olmo",
)
"""Prefixes of models that were not trained to call tools, or have templates without tools."""
WITHOUT_IMAGES = (
    *WITHOUT_TOOLS[WITHOUT_TOOLS.index("o1-mini") :],
    "gpt-3",
    "gpt-4-0",
    "gpt-4-32k",
    "gpt-oss",
    "o3-mini",
    "deepseek-chat",
    "deepseek-reasoner",
    "codellama",
    "mixtral",
    "qwq",
)
"""Prefixes of models that take no pictures, where the server does not say so."""
IMAGE_DETAIL = "high"
"""In what detail OpenAI's models look at a picture. By default newer ones take up to 10,000 patches
of a large one.
"""
_TILES = TileRule(85, 170)
IMAGE_RULES: dict[str, ImageRule] = {
    "gpt-4o-mini": TileRule(2833, 5667),
    "gpt-4.1-mini": PatchRule(32, 2048, 1536, 1.62),
    "gpt-4.1-nano": PatchRule(32, 2048, 1536, 2.46),
    "gpt-4": _TILES,
    "chatgpt-4o": _TILES,
    "gpt-5-mini": PatchRule(32, 2048, 1536, 1.62),
    "gpt-5-nano": PatchRule(32, 2048, 1536, 2.46),
    "gpt-5.4-mini": PatchRule(32, 2048, 1536, 1.62),
    "gpt-5.4-nano": PatchRule(32, 2048, 1536, 2.46),
    "gpt-5.2": PatchRule(32, 2048, 1536, 1.2),
    "gpt-5.3": PatchRule(32, 2048, 1536, 1.2),
    "gpt-5.1": TileRule(70, 140),
    "gpt-5.": PatchRule(32, 2048, 2500, 1.2),
    "gpt-5": TileRule(70, 140),
    "o4-mini": PatchRule(32, 2048, 1536, 1.72),
    "o1": TileRule(75, 150),
    "o3": TileRule(75, 150),
}
"""How OpenAI's models count pictures in high detail, by the beginning of their names; the first
that fits counts. Source: https://platform.openai.com/docs/guides/images-vision, "Calculating
costs". Where it names no factor for patches, the largest is used that was measured (1.2).
"""
NEWEST_IMAGE_RULE = PatchRule(32, 2048, 2500, 1.2)
"""The rule for OpenAI's models that are not in the table."""


def openai_image_rule(model: str) -> ImageRule:
    """How one of OpenAI's models counts pictures."""
    for prefix, rule in IMAGE_RULES.items():
        if model.startswith(prefix):
            return rule
    return NEWEST_IMAGE_RULE


def input_tokens(model: str) -> int | None:
    """The largest prompt of one of OpenAI's models in tokens; None if it is not in the table."""
    for prefix, tokens in INPUT_TOKENS.items():
        if model.startswith(prefix):
            return tokens
    return None


def is_known_without_tools(model: str) -> bool:
    """Whether a model is known to take no tools."""
    return _file_name(model).startswith(WITHOUT_TOOLS)


def is_known_without_images(model: str) -> bool:
    """Whether a model is known to take no pictures."""
    name = _file_name(model)
    return name == "gpt-4" or name.startswith(WITHOUT_IMAGES)


def _file_name(model: str) -> str:
    """The name without folders: llama.cpp may name a model by its path."""
    return model.replace("\\", "/").rpartition("/")[2].lower()
