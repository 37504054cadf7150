"""OpenAI's address and key, and its table in the settings file."""

from typing import Literal

from pydantic import Field

from zkchat_cli.config.schema import KeyedSettings
from zkchat_cli.llm.keyed_provider import KeyedProvider, bearer


class OpenAISettings(KeyedSettings):
    """The table [openai] of the settings file."""

    base_url: str = Field(
        "",
        description=(
            "URL of a server such as http://localhost:8080/v1; empty: OPENAI_BASE_URL, "
            "otherwise OpenAI"
        ),
    )
    key_variable: str = Field("OPENAI_API_KEY", description="environment variable with the API key")
    api: Literal["auto", "responses", "chat"] = Field(
        "auto",
        description=(
            "responses, chat (completions) or auto: responses for OpenAI itself, chat for "
            "compatible servers"
        ),
    )
    verbosity: Literal["", "low", "medium", "high"] = Field(
        "",
        description=(
            "length of the answers of GPT-5 and later: low, medium or high; empty: the model's "
            "default"
        ),
    )


OPENAI = KeyedProvider(
    name="openai",
    company="OpenAI",
    address="https://api.openai.com/v1",
    other_name="the OpenAI-compatible server",
    headers=bearer,
    path="/chat/completions",
    check="; OpenAI-compatible ones mostly end in /v1",
)
