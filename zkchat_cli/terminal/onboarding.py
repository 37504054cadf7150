"""The first start: no settings, no notes at hand, and somebody at a terminal. Two questions with numbered answers, the first by Enter.

What was chosen holds for this chat; it is written to the settings only on a yes. Ctrl-C leaves, and nothing was changed.
"""

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.app import demo, factory
from zkchat_cli.app.startup_options import StartupOptions
from zkchat_cli.chat.runtime import AvailableModels
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.discovery import VaultCandidate, abbreviate_home, find_vaults

SECONDS = 2.0
"""For which servers are waited, from the first question on: mostly they have answered before somebody has chosen the notes."""
_MOST_MODELS = 8
_FAR = {
    "openai": "what a prompt holds of your notes is sent to OpenAI",
    "anthropic": "what a prompt holds of your notes is sent to Anthropic",
}
_YES = ("y", "yes")
DEMO = "the built-in demo notes"


@dataclass(frozen=True, slots=True)
class OnboardingChoice:
    """One numbered answer: what it stands for, and its line."""

    value: str
    line: str


def wanted(env: Mapping[str, str], here: Path) -> LoadedConfig | None:
    """The settings, if this is a first start: at a terminal, without a settings file, where nothing says which notes to use."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    loaded = factory.settings(StartupOptions(), env, here)
    return None if loaded.places.config_file.exists() or factory.vault_folder(loaded, here) is not None else loaded


def guide(
    loaded: LoadedConfig, env: Mapping[str, str], here: Path, screen: Screen, write: Callable[[str, str], None]
) -> tuple[Path, str | None]:
    """The folder of notes and the model that were chosen (None: the settings' own). `write` puts a setting into the user's file.

    Raises EOFError when the input ends.
    """
    home, screen = Path.home(), screen.with_width()
    offered: list[AvailableModels] = []

    def ask_servers() -> None:
        with suppress(ZkchatError):  # then none of them is offered
            offered.extend(factory.available_models(loaded, env, SECONDS))

    asking = threading.Thread(target=ask_servers, daemon=True)
    asking.start()  # while somebody reads and chooses
    screen.print("Welcome to zkchat. There are no settings yet, so it asks; Enter takes the first answer.", "bold")
    notes = _notes(screen, find_vaults(home, here, env), home)
    model = None
    if not loaded.is_set("model"):
        asking.join()
        model = _model(screen, offered)
    _keep(screen, {"vault.path": notes, "model": model}, loaded, write)
    return Path(notes) if notes else demo.demo_vault(loaded.places), model


def _notes(screen: Screen, found: Sequence[VaultCandidate], home: Path) -> str:
    """A folder; empty for the demo."""
    lines = [OnboardingChoice(str(each.path), f"{abbreviate_home(each.path, home)}   {_told(each)}") for each in found]
    screen.print("\nWhich notes do you want to chat with?")
    while True:
        said = _ask(screen, [*lines, OnboardingChoice("", f"{DEMO}, to try it out")], "or type the path of a folder")
        if said == "":
            return ""
        try:
            folder = Path(said).expanduser().resolve()
            if folder.is_dir():
                return str(folder)
        except (OSError, RuntimeError, ValueError):  # `~nobody`, a NUL
            pass
        screen.print(f"There is no folder {sanitize_name(said)}.", "yellow")


def _told(candidate: VaultCandidate) -> str:
    count = f"{'more than ' if candidate.more else ''}{candidate.notes} note{'s' if candidate.notes > 1 or candidate.more else ''}"
    return f"{count}, {candidate.why}" if candidate.why else count


def _model(screen: Screen, offers: Sequence[AvailableModels]) -> str:
    here = [name for offer in offers if offer.provider == "ollama" for name in offer.names if "embed" not in name]
    choices = [OnboardingChoice(name, f"{name}   on this machine") for name in here[:_MOST_MODELS]]
    choices.append(OnboardingChoice("offline", "offline   quotes your notes; no model, no network"))
    far = {offer.provider: offer for offer in offers if offer.provider in _FAR and (offer.names or offer.problem)}
    choices += [OnboardingChoice(provider, f"{provider}   {_FAR[provider]}") for provider in far]
    screen.print("\nWhich model shall answer?")
    while True:
        said = _ask(screen, choices, "or type PROVIDER/NAME")
        if said in far:
            said = _one_of(screen, far[said])
        if said == "offline" or all(said.partition("/")[::2]):
            return said
        screen.print(f"{sanitize_name(said)} is no model: it must be offline, or as ollama/qwen3.", "yellow")


def _one_of(screen: Screen, offer: AvailableModels) -> str:
    """A model of a server that has many."""
    if offer.problem:
        screen.print(offer.problem, "yellow")
    screen.print(f"\nWhich of its models? There are {len(offer.names)}." if offer.names else "\nWhich of its models?")
    choices = [OnboardingChoice(name, name) for name in sorted(offer.names, key=_likely)[:_MOST_MODELS]]
    said = _ask(screen, choices, "or type its name")
    return said if said.startswith(f"{offer.provider}/") else f"{offer.provider}/{said}"


def _likely(name: str) -> tuple[bool, bool, str]:
    """Those that chat, and of them the ones that are not for one purpose only, first."""
    chats = any(part in name for part in ("/gpt-", "/claude-", "/o3", "/o4"))
    special = any(part in name for part in ("embed", "audio", "realtime", "image", "tts", "transcribe", "search", "instruct"))
    return not chats, special, name


def _keep(screen: Screen, chosen: Mapping[str, str | None], loaded: LoadedConfig, write: Callable[[str, str], None]) -> None:
    settings = {key: value for key, value in chosen.items() if value}
    if not chosen["vault.path"] and settings.get("model") == "offline":
        return  # trying it out leaves nothing behind
    screen.print(f"\nKeep this in {loaded.places.config_file} for the next time?")
    for key, value in settings.items():
        screen.print(f"  {key} = {value}")
    if _line(screen, "[y/N] ").lower() not in _YES:
        screen.print("Not kept: it holds for this chat. `zkchat config set KEY VALUE` keeps something for good.")
        return
    for key, value in settings.items():
        write(key, value)


def _ask(screen: Screen, choices: Sequence[OnboardingChoice], otherwise: str) -> str:
    """The value of the choice whose number was typed, of the first for Enter alone, or what else was typed."""
    for number, choice in enumerate(choices, 1):
        screen.print(f"  {number}  {sanitize_name(choice.line)}")
    screen.print(f"     {otherwise}", "dim")
    while True:
        said = _line(screen, "[1] " if choices else "> ")
        if not said and choices:
            return choices[0].value
        if said.isdecimal() and not 1 <= int(said[:9]) <= len(choices):
            screen.print(f"Type a number from 1 to {len(choices)}, {otherwise}.", "yellow")
        elif said.isdecimal():
            return choices[int(said) - 1].value
        elif said:
            return said


def _line(screen: Screen, prompt: str) -> str:
    screen.write(prompt)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        screen.print()
        raise
    if not line:
        raise EOFError
    return line.strip()
