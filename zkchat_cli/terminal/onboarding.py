"""Onboarding: at a terminal, where nothing names a vault, two questions choose the notes and the
model.

The answers are saved to the settings unless the user says no. Ctrl-C leaves and changes nothing.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from zkchat_cli.app.factory import available_models, llama_cpp_server
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

# Seconds that servers have to list their models
SERVER_TIMEOUT = 2.0
MAX_MODELS = 8
MAX_HOSTED = 3
# llama.cpp's own variable: it must not get a key of OpenAI
LLAMA_KEY = "LLAMA_API_KEY"


def run_onboarding(
    model: str | None, env: Mapping[str, str], screen: Screen
) -> tuple[Path | None, str | None, dict[str, object]]:
    """The chosen vault and model (None: as configured), and the further settings of that model;
    `model` is the one that the command line names. Raises EOFError when the input ends.
    """
    loaded = load_settings(StartupOptions(model=model), env, Path.cwd())
    if vault_folder(loaded) is not None:
        return None, model, {}
    screen = screen.with_width()
    screen.print("Welcome to zkchat. Enter takes the first answer.", "bold")
    vault = _ask_vault(screen)
    settings = {"vault.path": vault} if vault else {}
    model_settings: dict[str, str] = {}
    if "model" not in loaded.origins:
        offers = _model_offers(loaded)
        labels = {
            f"{name} (llama.cpp on this machine)" if needed else _label(name): name
            for name, needed in offers.items()
        }
        while True:
            name = _ask(
                screen,
                "Which model should answer?",
                labels | {_label("offline"): "offline"},
                "or type its name",
            )
            try:
                model = check_settings(loaded.with_model(name)).values.model
                break
            except ConfigError as e:
                problem = sanitize_name(e.message.partition(": ")[2])
                screen.print(f"{problem[:1].upper()}{problem[1:]}. {e.hint}", "yellow")
        model_settings = offers.get(model, {})
        settings |= model_settings | {"model": model}
    if settings not in ({}, {"model": "offline"}):  # trying it out changes nothing
        screen.print()
        if read_line("Save this choice for the next start? [Y/n] ").strip().lower() in (
            "",
            "y",
            "yes",
        ):
            for key, value in settings.items():
                save_setting(key, value, loaded.paths)
            screen.print("Saved. `zkchat config show` lists all settings.")
        else:
            screen.print("Not saved: used for this chat only.")
    return Path(vault) if vault else demo_vault(loaded.paths), model, {**model_settings}


def _model_offers(loaded: LoadedConfig) -> dict[str, dict[str, str]]:
    """The models that can be used now, those of this machine first, each with the further settings
    that it needs.
    """
    local: dict[str, dict[str, str]] = {}
    hosted: list[str] = []
    llama_cpp = llama_cpp_server(loaded.env)
    has_other = "openai.base_url" in loaded.origins or loaded.env.get("OPENAI_BASE_URL")
    for each in available_models(
        loaded, SERVER_TIMEOUT, {} if has_other else {"llama.cpp": llama_cpp}
    ):
        names = [name for name in each.names if "embed" not in name and name != "offline"]
        preferred = _preferred_models(each.provider)
        if preferred:
            begins = [f"{each.provider}/{prefix}" for prefix in preferred]
            hosted += (
                [name for begin in begins for name in names if name.startswith(begin)] or names
            )[:MAX_HOSTED]
        elif each.provider == "llama.cpp":
            needed = {"openai.base_url": llama_cpp.server.address, "openai.key_variable": LLAMA_KEY}
            local |= {name.replace("llama.cpp/", "openai/", 1): needed for name in names}
        else:
            local |= {name: {} for name in names}
    return dict([*local.items()][:MAX_MODELS]) | {name: {} for name in hosted}


def _preferred_models(name: str) -> tuple[str, ...]:
    """How the models to offer begin, among the many that a hosted provider lists; empty for a
    server of this machine.
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
    choices = {str(folder): str(folder) for folder in find_vaults(Path.home())} | {
        "the built-in demo notes, to try it out": ""
    }
    while answer := _ask(
        screen, "Which notes do you want to chat with?", choices, "or type the path of a folder"
    ):
        with suppress(OSError, RuntimeError, ValueError):  # `~nobody`, a NUL
            folder = Path(answer).expanduser().resolve()
            if any(name.lower().endswith(NOTE_SUFFIXES) for name in list_files(folder)):
                return str(folder)
        screen.print(f"{sanitize_name(answer)} is no folder with Markdown notes.", "yellow")
    return ""


def _ask(screen: Screen, question: str, choices: Mapping[str, str], alternative: str) -> str:
    """The value of the chosen label, by number or Enter for the first; or any other text."""
    screen.print(f"\n{question}")
    for number, label in enumerate(choices, 1):
        screen.print(f"  {number}  {sanitize_name(label)}")
    screen.print(f"     {alternative}", "dim")
    values = [*choices.values()]
    while (answer := read_line("[1] ").strip() or "1").isdecimal():
        if 1 <= int(answer[:9]) <= len(values):
            return values[int(answer) - 1]
        screen.print(
            f"Type {'1' if len(values) == 1 else f'a number from 1 to {len(values)}'}, "
            f"{alternative}.",
            "yellow",
        )
    return answer
