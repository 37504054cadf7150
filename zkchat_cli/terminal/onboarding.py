"""Onboarding: if nothing names a vault, two questions at a terminal choose the notes and the model.

The answers are saved to the settings unless the user says no. Ctrl-C leaves and changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.app.model_servers import available_models, llama_cpp_server
from zkchat_cli.app.settings import (
    StartupOptions,
    check_settings,
    demo_vault,
    load_settings,
    save_setting,
    vault_folder,
)
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ConfigError
from zkchat_cli.llm import providers
from zkchat_cli.references.file_imports import list_files
from zkchat_cli.terminal.plain_input import read_line
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.filesystem import find_vaults
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

# Seconds in which a server must list its models
SERVER_TIMEOUT = 2.0
MAX_MODELS = 8
MAX_HOSTED = 3
# Longest number, in digits, that is read as an answer
MAX_DIGITS = 9
# llama.cpp has a variable of its own, because it must not get a key of OpenAI
LLAMA_KEY = "LLAMA_API_KEY"


# Answers that mean yes; Enter alone is one
YES = ("", "y", "yes")
_QUESTION = "Which model should answer?"

ModelSettings = dict[str, str]
"""Further settings that a model needs, by key."""


class FirstChoice(NamedTuple):
    """What the user chose; None means the configured value.

    `settings` are further settings that the model needs.
    """

    vault: Path | None
    model: str | None
    settings: dict[str, object]


def run_onboarding(model: str | None, env: Mapping[str, str], screen: Screen) -> FirstChoice:
    """Ask for the vault and the model if nothing names them; `model` is the one from the command
    line.

    Raises EOFError when the input ends.
    """
    loaded = load_settings(StartupOptions(model=model), env, Path.cwd())
    if vault_folder(loaded) is not None:
        return FirstChoice(None, model, {})
    screen = screen.with_width()
    screen.print("Welcome to zkchat. Enter takes the first answer.", "bold")
    vault = _ask_vault(screen)
    settings: dict[str, str] = {}
    if vault:
        settings["vault.path"] = vault
    model_settings: ModelSettings = {}
    if "model" not in loaded.origins:
        offers = _model_offers(loaded)
        model = _ask_model(loaded, offers, screen)
        model_settings = offers.get(model, {})
        settings |= model_settings | {"model": model}
    # Trying it with the demo changes no settings
    if settings not in ({}, {"model": "offline"}):
        _offer_to_save(settings, loaded, screen)
    folder = Path(vault) if vault else demo_vault(loaded.paths)
    return FirstChoice(folder, model, {**model_settings})


def _ask_model(loaded: LoadedConfig, offers: Mapping[str, ModelSettings], screen: Screen) -> str:
    """The name of a model that the settings accept: one of the offers or another one."""
    labels = {}
    for name, needed in offers.items():
        label = f"{name} (llama.cpp on this machine)" if needed else _label(name)
        labels[label] = name
    labels[_label("offline")] = "offline"
    while True:
        name = _ask(screen, _QUESTION, labels, "or type its name")
        try:
            return check_settings(loaded.with_model(name)).values.model
        except ConfigError as e:
            _, _, problem = e.message.partition(": ")
            problem = sanitize_name(problem)
            screen.print(f"{problem[:1].upper()}{problem[1:]}. {e.hint}", "yellow")


def _offer_to_save(settings: Mapping[str, str], loaded: LoadedConfig, screen: Screen) -> None:
    screen.print()
    answer = read_line("Save this choice for the next start? [Y/n] ").strip().lower()
    if answer not in YES:
        screen.print("Not saved: used for this chat only.")
        return
    for key, value in settings.items():
        save_setting(key, value, loaded.paths)
    screen.print("Saved. `zkchat config show` lists all settings.")


def _model_offers(loaded: LoadedConfig) -> dict[str, ModelSettings]:
    """The models that can be used now, each with the further settings that it needs.

    Those of this machine come first.
    """
    local: dict[str, ModelSettings] = {}
    hosted: dict[str, ModelSettings] = {}
    llama_cpp = llama_cpp_server(loaded.env)
    has_other = "openai.base_url" in loaded.origins or loaded.env.get("OPENAI_BASE_URL")
    servers = {} if has_other else {"llama.cpp": llama_cpp}
    for each in available_models(loaded, SERVER_TIMEOUT, servers):
        names = [name for name in each.names if _is_chat_model(name)]
        preferred = _preferred_models(each.provider)
        if preferred:
            begins = [f"{each.provider}/{prefix}" for prefix in preferred]
            hosted |= {name: {} for name in _best_names(names, begins)}
        elif each.provider == "llama.cpp":
            local |= _llama_cpp_offers(names, llama_cpp.server.address)
        else:
            local |= {name: {} for name in names}
    return dict(islice(local.items(), MAX_MODELS)) | hosted


def _llama_cpp_offers(names: Iterable[str], address: str) -> dict[str, ModelSettings]:
    """The models of a llama.cpp server, which are called in the same way as OpenAI's."""
    needed = {"openai.base_url": address, "openai.key_variable": LLAMA_KEY}
    return {name.replace("llama.cpp/", "openai/", 1): needed for name in names}


def _is_chat_model(name: str) -> bool:
    return "embed" not in name and name != "offline"


def _best_names(names: Sequence[str], begins: Sequence[str]) -> list[str]:
    """A few names that begin with one of these texts, in the order of the texts; if there are none,
    any names.
    """
    found: list[str] = []
    for begin in begins:
        found += [name for name in names if name.startswith(begin)]
    return list(found or names)[:MAX_HOSTED]


def _preferred_models(name: str) -> tuple[str, ...]:
    """The beginnings of the models to offer, among the many that a hosted provider lists.

    Empty for a server of this machine.
    """
    if name not in providers.names():
        return ()
    return providers.provider(name).preferred_models


def _label(model: str) -> str:
    """A model with what its provider says about it."""
    label = providers.provider(model.partition("/")[0]).label
    return f"{model} ({label})" if label else model


def _ask_vault(screen: Screen) -> str:
    """A folder with notes; empty for the demo."""
    choices = {str(folder): str(folder) for folder in find_vaults(Path.home())}
    choices["the built-in demo notes, to try it out"] = ""
    question = "Which notes do you want to chat with?"
    while answer := _ask(screen, question, choices, "or type the path of a folder"):
        # Errors of paths such as `~nobody`, or with a NUL
        with suppress(OSError, RuntimeError, ValueError):
            folder = Path(answer).expanduser().resolve()
            if any(name.lower().endswith(NOTE_SUFFIXES) for name in list_files(folder)):
                return str(folder)
        screen.print(f"{sanitize_name(answer)} is no folder with Markdown notes.", "yellow")
    return ""


def _ask(screen: Screen, question: str, choices: Mapping[str, str], alternative: str) -> str:
    """The value of the label that was chosen by number, or the first one after Enter; any other
    text is returned.
    """
    screen.print(f"\n{question}")
    for number, label in enumerate(choices, 1):
        screen.print(f"  {number}  {sanitize_name(label)}")
    screen.print(f"     {alternative}", "dim")
    values = [*choices.values()]
    numbers = "1" if len(values) == 1 else f"a number from 1 to {len(values)}"
    while (answer := read_line("[1] ").strip() or "1").isdecimal():
        number = int(answer[:MAX_DIGITS])
        if 1 <= number <= len(values):
            return values[number - 1]
        screen.print(f"Type {numbers}, {alternative}.", "yellow")
    return answer
