"""The tokens of pictures, by the rules and examples that providers publish."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Model, ModelConfig
from zkchat_cli.llm.providers.openai.server import OpenAISettings
from zkchat_cli.tokens.image_rules import PatchRule, TileRule


def open_model(provider: str, name: str, settings: Any = None) -> Model:
    found = providers.provider(provider)
    return found.open(ModelConfig(name, settings, {"OPENAI_API_KEY": "k"}))


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # The examples of https://platform.openai.com/docs/guides/images-vision
        ("gpt-4o", (1024, 1024), 765),
        ("gpt-4o", (2048, 4096), 1105),
        ("gpt-4.1-mini", (1024, 1024), 1659),
        ("gpt-4.1-mini", (1800, 2400), 2353),
        ("gpt-4o-mini", (1024, 1024), 25_501),
        ("gpt-5", (1024, 1024), 630),
        ("o3", (1024, 1024), 675),
        # Measured: 1,024 patches times 1.2
        ("gpt-5.5", (1024, 1024), 1229),
    ],
)
def test_openai(model: str, size: tuple[int, int], tokens: int) -> None:
    rule = open_model("openai", model).image_rule
    assert rule is not None
    # The documentation rounds the scaled size in another order
    assert rule.tokens(*size) == pytest.approx(tokens, rel=0.05)


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        ("claude-sonnet-4-5", (200, 200), 64),
        ("claude-sonnet-4-5", (1000, 1000), 1296),
        ("claude-sonnet-4-5", (4000, 3000), 1568),
        ("claude-opus-4-7", (4000, 3000), 4784),
    ],
)
def test_claude(model: str, size: tuple[int, int], tokens: int) -> None:
    rule = open_model("anthropic", model).image_rule
    assert rule is not None
    assert rule.tokens(*size) == pytest.approx(tokens, rel=0.05)
    assert rule.tokens(*size) <= 4784


def test_gemma_takes_the_same_tokens_for_any_picture() -> None:
    rule = open_model("ollama", "gemma3:4b").image_rule
    assert rule is not None
    assert rule.tokens(4000, 3000) == rule.tokens(10, 10) == 256


@given(st.integers(1, 8000), st.integers(1, 8000))
def test_no_picture_takes_more_patches_than_the_rule_allows(width: int, height: int) -> None:
    assert 1 <= PatchRule(28, 1568, 1568).tokens(width, height) <= 1568
    assert TileRule(85, 170).tokens(width, height) <= 85 + 170 * 8


@pytest.mark.parametrize(
    ("provider", "name", "takes"),
    [
        ("offline", "", False),
        ("anthropic", "claude-2.1", False),
        ("anthropic", "claude-haiku-4-5", True),
        ("openai", "unheard-of", None),
    ],
)
def test_what_is_known_before_the_first_call(provider: str, name: str, takes: bool | None) -> None:
    assert open_model(provider, name).takes_images is takes


@pytest.mark.parametrize(
    ("name", "takes"),
    [("gpt-3.5-turbo", False), ("gpt-4", False), ("o3-mini", False), ("gpt-4o", None)],
)
def test_openais_models_without_pictures_are_known(name: str, takes: bool | None) -> None:
    model: Any = open_model("openai", name, OpenAISettings())
    model.find_window()
    assert model.takes_images is takes
