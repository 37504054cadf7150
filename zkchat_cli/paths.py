"""Where zkchat stores things. Not in `config`, which imports pydantic: a chat looks for a settings file before it shows the prompt."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.errors import ConfigError


@dataclass(frozen=True, slots=True)
class AppPaths:
    """The user's settings file, and the folders of conversations (data) and of rebuildable indexes (cache)."""

    config_file: Path
    data_dir: Path
    cache_dir: Path
    user_folder: Path | None = None
    """The user's settings folder, if --config names a file in another."""

    @property
    def store_file(self) -> Path:
        return self.data_dir / "conversations.db"

    @property
    def models_dir(self) -> Path:
        """Downloaded models."""
        return self.data_dir / "models"

    @property
    def keys_file(self) -> Path:
        """The API keys, always in the user's own folder, never beside a file that --config names."""
        return (self.user_folder or self.config_file.parent) / "keys.toml"


def app_paths(env: Mapping[str, str], config_file: Path | None = None) -> AppPaths:
    """The platform's folders, or all of them under `ZKCHAT_HOME`; `config_file` (--config) replaces the settings file."""
    if home := env.get("ZKCHAT_HOME"):
        try:
            root = Path(home).expanduser()
        except RuntimeError as e:
            raise ConfigError(f"ZKCHAT_HOME={home}: {e}", "It must be a folder such as ~/zkchat or /srv/zkchat.") from e
        own = root / "config"
        return AppPaths(config_file or own / "config.toml", root / "data", root / "cache", own if config_file else None)
    import platformdirs  # 2 ms, not needed with ZKCHAT_HOME

    own = platformdirs.user_config_path("zkchat")
    return AppPaths(
        config_file or own / "config.toml",
        platformdirs.user_data_path("zkchat"),
        platformdirs.user_cache_path("zkchat"),
        own if config_file else None,
    )
