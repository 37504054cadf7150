"""Onboarding: at a terminal, without settings and without notes at hand, two questions choose the notes and the model.

The answers are saved to the settings unless the user says no. Ctrl-C leaves and changes nothing.
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from zkchat_cli.app import demo, factory
from zkchat_cli.app.factory import StartupOptions
from zkchat_cli.paths import AppPaths
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.discovery import find_vaults

SERVER_TIMEOUT = 2.0
"""Seconds that servers have to list their models."""
MAX_MODELS = 8
MAX_LINE = 4096


def run_onboarding(env: Mapping[str, str], here: Path, screen: Screen) -> tuple[Path | None, str | None]:
    """The chosen vault and model (None: as configured). Raises EOFError when the input ends."""
    loaded = factory.settings(StartupOptions(), env, here)
    if factory.vault_folder(loaded, here) is not None:
        return None, None
    screen = screen.with_width()
    screen.print("Welcome to zkchat. There are no settings yet; Enter takes the first answer.", "bold")
    vault = _ask_vault(screen)
    settings = {"vault.path": vault} if vault else {}
    model = None
    if "model" not in loaded.origins:
        offers = factory.available_models(loaded, env, SERVER_TIMEOUT)
        local = [name for each in offers if each.provider == "ollama" for name in each.names if "embed" not in name]
        choices = [*local[:MAX_MODELS], "offline"]
        labels = [*choices[:-1], "offline (quotes your notes; no model, no network)"]
        model = _ask(screen, "Which model should answer?", dict(zip(labels, choices, strict=True)), "or type PROVIDER/NAME")
        settings["model"] = model
    if vault or model != "offline":  # trying it out changes nothing
        _offer_to_save(screen, settings, loaded.places)
    return Path(vault) if vault else demo.demo_vault(loaded.places), model


def _ask_vault(screen: Screen) -> str:
    """A folder; empty for the demo."""
    choices = {str(folder): str(folder) for folder in find_vaults(Path.home())} | {"the built-in demo notes, to try it out": ""}
    while answer := _ask(screen, "Which notes do you want to chat with?", choices, "or type the path of a folder"):
        with suppress(OSError, RuntimeError, ValueError):  # `~nobody`, a NUL
            if (folder := Path(answer).expanduser().resolve()).is_dir():
                return str(folder)
        screen.print(f"There is no folder {sanitize_name(answer)}.", "yellow")
    return ""


def _offer_to_save(screen: Screen, settings: Mapping[str, str], where: AppPaths) -> None:
    screen.print(f"\nSave these settings in {where.config_file}?")
    for key, value in settings.items():
        screen.print(f"  {key} = {value}")
    if _read_line(screen, "[Y/n] ").lower() not in ("", "y", "yes"):
        screen.print("Not saved: used for this chat only. `zkchat config set KEY VALUE` saves a setting.")
        return
    for key, value in settings.items():
        factory.save_setting(key, value, where)
    screen.print(f"Saved in {where.config_file}.")


def _ask(screen: Screen, question: str, choices: Mapping[str, str], otherwise: str) -> str:
    """The value of the chosen label, by number or Enter for the first; or any other text."""
    screen.print(f"\n{question}")
    for number, label in enumerate(choices, 1):
        screen.print(f"  {number}  {sanitize_name(label)}")
    screen.print(f"     {otherwise}", "dim")
    values: Sequence[str] = list(choices.values())
    while (answer := _read_line(screen, "[1] ") or "1").isdecimal():
        if 1 <= int(answer[:9]) <= len(values):
            return values[int(answer) - 1]
        screen.print(f"Type a number from 1 to {len(values)}, {otherwise}.", "yellow")
    return answer


def _read_line(screen: Screen, prompt: str) -> str:
    screen.write(prompt)
    line = sys.stdin.readline(MAX_LINE)
    if not line:
        raise EOFError
    return line.strip()
