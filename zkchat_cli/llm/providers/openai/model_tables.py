"""Facts about models that their servers do not report (November 2026). A model works without an
entry.
"""

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


def input_tokens(model: str) -> int | None:
    """The largest prompt of one of OpenAI's models in tokens; None if it is not in the table."""
    for prefix, tokens in INPUT_TOKENS.items():
        if model.startswith(prefix):
            return tokens
    return None


def is_known_without_tools(model: str) -> bool:
    """Whether a model is known to take no tools. llama.cpp may name a model by its path."""
    file = model.replace("\\", "/").rpartition("/")[2]
    return file.lower().startswith(WITHOUT_TOOLS)
