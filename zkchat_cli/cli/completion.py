"""Values for the shell's completion, in the form that Typer takes: a function of what was typed that returns values, or values with help.

Each function imports what it needs when it is called, so that declaring the options stays cheap. Shells evaluate parts of what they are
given, so help texts that contain a user's words are reduced to harmless characters.
"""

import os
import re
from contextlib import closing

MAX_CONVERSATIONS = 50
_UNSAFE = re.compile(r"[^\w .,/@+=_%~’-]")


def complete_agents(incomplete: str) -> list[str]:
    from zkchat_cli import paths
    from zkchat_cli.agents import loader

    names = loader.list_names(paths.app_paths(os.environ).agents_folder)
    return [name for name in names if name.startswith(incomplete.lower())]


def complete_models(incomplete: str) -> list[str]:
    """The providers, and OpenAI's models: asking a server would take too long."""
    from zkchat_cli.llm import providers
    from zkchat_cli.llm.known_models import OPENAI_INPUT

    names = [name if name == "offline" else f"{name}/" for name in providers.suggested_names()]
    return [name for name in (*names, *(f"openai/{model}" for model in OPENAI_INPUT)) if name.startswith(incomplete)]


def complete_settings(incomplete: str) -> list[tuple[str, str]]:
    """Keys of settings with their descriptions."""
    from zkchat_cli.config import loader
    from zkchat_cli.llm.providers import settings_schema

    schema = settings_schema()
    keys = [key for key in loader.default_values(schema) if key.startswith(incomplete)]
    return [(key, _shell_safe(loader.describe_setting(key, schema))) for key in keys]


def complete_conversations(incomplete: str) -> list[tuple[str, str]]:
    """The most recent conversations: id, and title with date."""
    from zkchat_cli.paths import app_paths
    from zkchat_cli.store.chat_session_store import ChatSessionStore

    with closing(ChatSessionStore.open_to_read(app_paths(os.environ).store_file)) as store:
        found = [each for each in store.conversations(None, None) if each.id.startswith(incomplete)][:MAX_CONVERSATIONS]
    return [(each.id, _shell_safe(f"{each.title or ''} {each.updated_at[:10]}")) for each in found]


def _shell_safe(text: str) -> str:
    """The text with spaces for what a shell might evaluate."""
    return " ".join(_UNSAFE.sub(" ", text.replace("'", "’")).split())
