"""How OpenAI's models count pictures. What else is known of them is in llm/known_models.toml."""

from functools import partial

from zkchat_cli.tokens.image_rules import ImageRule, PatchRule, TileRule

IMAGE_DETAIL = "high"
"""In what detail OpenAI's models look at a picture. By default newer ones take up to 10,000 patches
of a large one.
"""
_TILES = TileRule(85, 170)
# Pixels: the sides of a patch, and the longest side of a picture
_patches = partial(PatchRule, 32, 2048)
IMAGE_RULES: dict[str, ImageRule] = {
    "gpt-4o-mini": TileRule(2833, 5667),
    "gpt-4.1-mini": _patches(1536, 1.62),
    "gpt-4.1-nano": _patches(1536, 2.46),
    "gpt-4": _TILES,
    "chatgpt-4o": _TILES,
    "gpt-5-mini": _patches(1536, 1.62),
    "gpt-5-nano": _patches(1536, 2.46),
    "gpt-5.4-mini": _patches(1536, 1.62),
    "gpt-5.4-nano": _patches(1536, 2.46),
    "gpt-5.2": _patches(1536, 1.2),
    "gpt-5.3": _patches(1536, 1.2),
    "gpt-5.1": TileRule(70, 140),
    "gpt-5.": _patches(2500, 1.2),
    "gpt-5": TileRule(70, 140),
    "o4-mini": _patches(1536, 1.72),
    "o1": TileRule(75, 150),
    "o3": TileRule(75, 150),
}
"""How OpenAI's models count pictures in high detail, by the beginning of their names; the first
that fits counts. Source: https://platform.openai.com/docs/guides/images-vision, "Calculating
costs". Where it names no factor for patches, the largest is used that was measured (1.2).
"""
NEWEST_IMAGE_RULE = _patches(2500, 1.2)
"""The rule for OpenAI's models that are not in the table."""


def openai_image_rule(model: str) -> ImageRule:
    """How one of OpenAI's models counts pictures."""
    for prefix, rule in IMAGE_RULES.items():
        if model.startswith(prefix):
            return rule
    return NEWEST_IMAGE_RULE
