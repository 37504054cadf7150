"""How many tokens a picture takes, by the rules that providers publish. Pure."""

import math
from typing import NamedTuple

# Pixels of a square tile of OpenAI's older rule, and the sides that a picture is scaled to first
_TILE = 512
_TILED_LONGEST = 2048
_TILED_SHORTEST = 768


class PatchRule(NamedTuple):
    """A token for each patch of `patch` × `patch` pixels, times a `factor`.

    The picture is first scaled down to a longest side of `longest` pixels and to at most `most`
    patches.
    """

    patch: int
    longest: int
    most: int
    factor: float = 1.0

    def tokens(self, width: int, height: int) -> int:
        """The tokens of a picture of this size."""
        scale = min(1.0, self.longest / max(width, height, 1))
        patches = self._patches(width * scale, height * scale)
        if patches > self.most:
            scale = math.sqrt(self.most * self.patch**2 / (width * height))
            columns = width * scale / self.patch
            rows = height * scale / self.patch
            # A whole number of patches fits on one side
            scale *= min(max(1, int(columns)) / columns, max(1, int(rows)) / rows)
            patches = min(self.most, self._patches(width * scale, height * scale))
        return math.ceil(patches * self.factor)

    def _patches(self, width: float, height: float) -> int:
        columns = max(1, math.ceil(width / self.patch))
        return columns * max(1, math.ceil(height / self.patch))


class TileRule(NamedTuple):
    """OpenAI's older rule: `base` tokens, and `tile` tokens for each tile of 512 pixels.

    The picture is first scaled to fit into 2,048 × 2,048 pixels, then to a shortest side of 768.
    """

    base: int
    tile: int

    def tokens(self, width: int, height: int) -> int:
        """The tokens of a picture of this size."""
        scale = min(1.0, _TILED_LONGEST / max(width, height, 1))
        scale *= min(1.0, _TILED_SHORTEST / max(1.0, min(width, height) * scale))
        columns = max(1, math.ceil(round(width * scale) / _TILE))
        rows = max(1, math.ceil(round(height * scale) / _TILE))
        return self.base + self.tile * columns * rows


ImageRule = PatchRule | TileRule
UNKNOWN_MODEL = PatchRule(patch=28, longest=8000, most=4096)
"""The rule for other models, rather too much than too little. Qwen's take a token for 28 × 28
pixels (https://github.com/QwenLM/Qwen2.5-VL), and llama.cpp sends at most 4,096 of them.
"""
OPEN_MODELS: dict[str, ImageRule] = {"gemma": TileRule(256, 0), "llava:": TileRule(576, 0)}
"""Rules of models that take the same number of tokens for any picture, by a part of their names:
Gemma 3 (https://arxiv.org/abs/2503.19786) and LLaVA 1.5 (https://arxiv.org/abs/2310.03744).
"""


def open_model_rule(name: str) -> ImageRule:
    """How a model that runs on any server counts pictures, by its name."""
    for part, rule in OPEN_MODELS.items():
        if part in name.lower():
            return rule
    return UNKNOWN_MODEL
