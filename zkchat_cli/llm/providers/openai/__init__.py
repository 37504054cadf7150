"""OpenAI, or any server that speaks its language: `openai/NAME`, at OPENAI_BASE_URL or
openai.base_url, with a key or without.

llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, Groq and many more do. OpenAI itself is called by
its Responses API, the others by chat completions, unless `openai.api` says otherwise.
"""

from dataclasses import replace

from zkchat_cli.llm.base import ModelConfig, Provider
from zkchat_cli.llm.known_models import known_models, model_names
from zkchat_cli.llm.providers.openai.chat_completions import OpenAIModel
from zkchat_cli.llm.providers.openai.responses import OpenAIResponsesModel
from zkchat_cli.llm.providers.openai.server import OPENAI, OpenAISettings


def _open(config: ModelConfig) -> OpenAIModel:
    settings: OpenAISettings = config.settings or OpenAISettings()
    server = OPENAI.server(config, settings)
    is_official = server.address == OPENAI.address
    if settings.api == "responses" and not is_official:
        check = f"{server.check} Without a Responses API it needs openai.api chat."
        server = replace(server, check=check)
    known = known_models().find("openai", config.name)
    has_responses = known is None or known.api is None or "responses" in known.api
    takes_responses = settings.api == "auto" and is_official and has_responses
    if settings.api == "responses" or takes_responses:
        return OpenAIResponsesModel(config.name, server, settings, reports=config.reports)
    return OpenAIModel(config.name, server, settings, reports=config.reports)


PROVIDER = Provider(
    name="openai",
    open=_open,
    open_remote=_open,
    settings=OpenAISettings,
    preferred_models=("gpt-6", "gpt-5", "gpt-4.1", "gpt-4o"),
    model_families=("gpt-", "chatgpt-", "o1", "o3", "o4"),
    known_models=model_names("openai"),
)
