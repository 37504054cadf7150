"""What servers do not say about models (November 2026): the windows of OpenAI's models, and families of models that call no tools.

A model works without an entry: its window is then the default, or what a refusal tells, and it counts as able to call tools until its
answers show otherwise.
"""

OPENAI_INPUT = {
    "gpt-4": 8_192,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-5": 272_000,
    "gpt-5.4": 922_000,
    "gpt-5.5": 922_000,
    "o1": 200_000,
    "o3": 200_000,
    "o4": 200_000,
}
"""The largest prompt of OpenAI's models in tokens, by the beginning of their names; the longest that fits counts. OpenAI lists none."""
REASONING_MODELS = ("o1", "o3", "o4", "gpt-5")
"""Prefixes of OpenAI's models that take no temperature."""
WITHOUT_TOOLS = (
    *("chatgpt-4o", "gpt-4o-search", "gpt-4o-mini-search", "gpt-5-search", "o1-mini", "o1-preview"),
    *("smollm", "tinyllama", "llama-2", "llama2", "vicuna", "gemma-2", "gemma2", "phi-2", "phi-3", "phi3", "stablelm", "olmo"),
)
"""Beginnings of the names of models with templates that take no tools, or that were not trained to call any."""


def openai_input(model: str) -> int | None:
    known = max((prefix for prefix in OPENAI_INPUT if model.startswith(prefix)), key=len, default=None)
    return OPENAI_INPUT[known] if known else None


def calls_no_tools(model: str) -> bool:
    """Whether a model is of a family that calls no tools; the name may be the path of a file that llama.cpp has loaded."""
    return model.replace("\\", "/").rpartition("/")[2].lower().startswith(WITHOUT_TOOLS)
