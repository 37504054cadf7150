"""Onboarding: at a terminal, without settings and without notes at hand, two questions choose the notes and the model.

The answers are for this chat; they are saved to the settings only after a yes. Ctrl-C leaves and changes nothing.
"""

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from zkchat_cli.app import demo, factory
from zkchat_cli.app.startup_options import StartupOptions
from zkchat_cli.chat.runtime import AvailableModels
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.discovery import abbreviate_home, find_vaults

SERVER_TIMEOUT = 2.0
"""Seconds that servers have to list their models, counted from the first question: usually they answer before the user does."""
MAX_MODELS = 8
_HOSTED = ("openai", "anthropic")


def onboarding_config(env: Mapping[str, str], here: Path) -> LoadedConfig | None:
    """The default settings, if this is a first start: without a settings file, and no setting says which notes to use."""
    loaded = factory.settings(StartupOptions(), env, here)
    return None if loaded.places.config_file.exists() or factory.vault_folder(loaded, here) is not None else loaded


def run_onboarding(
    loaded: LoadedConfig, env: Mapping[str, str], here: Path, screen: Screen, write: Callable[[str, str], None]
) -> tuple[Path, str | None]:
    """The chosen vault and model (None: as configured). `write` saves a setting. Raises EOFError when the input ends."""
    screen = screen.with_width()
    available: list[AvailableModels] = []

    def list_models() -> None:
        with suppress(ZkchatError):  # then none are offered
            available.extend(factory.available_models(loaded, env, SERVER_TIMEOUT))

    listing = threading.Thread(target=list_models, daemon=True)
    listing.start()  # while the user reads and chooses
    screen.print("Welcome to zkchat. There are no settings yet; Enter takes the first answer.", "bold")
    vault = _ask_vault(screen, here, env)
    model = None
    if "model" not in loaded.origins:
        listing.join()
        model = _ask_model(screen, available)
    _offer_to_save(screen, {"vault.path": vault, "model": model}, loaded, write)
    return Path(vault) if vault else demo.demo_vault(loaded.places), model


def _ask_vault(screen: Screen, here: Path, env: Mapping[str, str]) -> str:
    """A folder; empty for the demo."""
    home = Path.home()
    choices = []
    for found in find_vaults(home, here, env):
        count = f"{'more than ' if found.more else ''}{found.notes} note{'s' if found.notes > 1 or found.more else ''}"
        choices.append((str(found.path), f"{abbreviate_home(found.path, home)}   {', '.join(filter(None, (count, found.why)))}"))
    screen.print("\nWhich notes do you want to chat with?")
    while True:
        answer = _ask(screen, [*choices, ("", "the built-in demo notes, to try it out")], "or type the path of a folder")
        if answer == "":
            return ""
        with suppress(OSError, RuntimeError, ValueError):  # `~nobody`, a NUL
            if (folder := Path(answer).expanduser().resolve()).is_dir():
                return str(folder)
        screen.print(f"There is no folder {sanitize_name(answer)}.", "yellow")


def _ask_model(screen: Screen, available: Sequence[AvailableModels]) -> str:
    local = [name for each in available if each.provider == "ollama" for name in each.names if "embed" not in name]
    hosted = [each.provider for each in available if each.provider in _HOSTED and each.names]
    choices = [(name, f"{name}   on this machine") for name in local[:MAX_MODELS]]
    choices.append(("offline", "offline   quotes your notes; no model, no network"))
    example = f"{hosted[0]}/NAME, which sends parts of your notes there" if hosted else "PROVIDER/NAME"
    screen.print("\nWhich model should answer?")
    while True:
        answer = _ask(screen, choices, f"or type {example}")
        if answer == "offline" or all(answer.partition("/")[::2]):
            return answer
        screen.print(f"{sanitize_name(answer)} is not a model name. Examples: offline, ollama/qwen3, openai/gpt-5", "yellow")


def _offer_to_save(screen: Screen, chosen: Mapping[str, str | None], loaded: LoadedConfig, write: Callable[[str, str], None]) -> None:
    settings = {key: value for key, value in chosen.items() if value}
    if not chosen["vault.path"] and settings.get("model") == "offline":
        return  # trying it out changes nothing
    screen.print(f"\nSave these settings in {loaded.places.config_file}?")
    for key, value in settings.items():
        screen.print(f"  {key} = {value}")
    if _read_line(screen, "[y/N] ").lower() not in ("y", "yes"):
        screen.print("Not saved: used for this chat only. `zkchat config set KEY VALUE` saves a setting.")
        return
    for key, value in settings.items():
        write(key, value)


def _ask(screen: Screen, choices: Sequence[tuple[str, str]], otherwise: str) -> str:
    """The value of the chosen (value, label) pair, by number or Enter for the first; or any other text."""
    for number, (_, label) in enumerate(choices, 1):
        screen.print(f"  {number}  {sanitize_name(label)}")
    screen.print(f"     {otherwise}", "dim")
    while True:
        answer = _read_line(screen, "[1] ")
        if not answer:
            return choices[0][0]
        if not answer.isdecimal():
            return answer
        if 1 <= int(answer[:9]) <= len(choices):
            return choices[int(answer) - 1][0]
        screen.print(f"Type a number from 1 to {len(choices)}, {otherwise}.", "yellow")


def _read_line(screen: Screen, prompt: str) -> str:
    screen.write(prompt)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        screen.print()
        raise
    if not line:
        raise EOFError
    return line.strip()
