"""The files and folders of zkchat. They are not in the package `config`, which imports pydantic,
because a chat looks for a settings file before it shows the prompt.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.errors import ConfigError

NAME = "zkchat"
MAX_SETTINGS_BYTES = 32_000
"""Limit for a settings file: a vault from someone else may contain one, and the parser's time grows
with the square of a key's length.
"""

NO_HOME = Path(os.devnull) / "no-home-folder"
"""In place of a home folder that nobody knows: nothing can be written there, so all is as with a
folder that may not be written.
"""


class AppPaths(NamedTuple):
    """The user's settings file, and the folders of conversations (data) and of rebuildable indexes
    (cache).
    """

    config_file: Path
    data_dir: Path
    cache_dir: Path
    # The user's settings folder, if --config names a file in another
    user_folder: Path | None = None

    @property
    def store_file(self) -> Path:
        """The database of conversations and memory."""
        return self.data_dir / "conversations.db"

    @property
    def models_dir(self) -> Path:
        """The downloaded embedding models."""
        return self.data_dir / "models"

    @property
    def model_reports_file(self) -> Path:
        """What servers said about their models, for the time when they do not answer."""
        return self.cache_dir / "model_reports.json"

    @property
    def agents_folder(self) -> Path:
        """The user's agents, next to the settings file."""
        return self.config_file.parent / "agents"

    @property
    def keys_file(self) -> Path:
        """The API keys, always in the user's own folder, never beside a file that --config
        names.
        """
        return (self.user_folder or self.config_file.parent) / "keys.toml"


def app_paths(env: Mapping[str, str], config_file: Path | None = None) -> AppPaths:
    """The platform's folders, or all of them under `ZKCHAT_HOME`; `config_file` (--config) replaces
    the settings file.
    """
    home = env.get("ZKCHAT_HOME")
    if home:
        try:
            root = Path(home).expanduser()
        except RuntimeError as e:
            raise ConfigError(
                f"ZKCHAT_HOME={home}: {e}", "It must be a folder such as ~/zkchat or /srv/zkchat."
            ) from e
        config = root / "config"
        data = root / "data"
        cache = root / "cache"
    else:
        # 2 ms, which ZKCHAT_HOME does not need
        import platformdirs

        try:
            config = platformdirs.user_config_path(NAME)
            data = platformdirs.user_data_path(NAME)
            cache = platformdirs.user_cache_path(NAME)
        # A user without HOME whom the system does not know, for example in a container
        except RuntimeError:
            config = NO_HOME / "config"
            data = NO_HOME / "data"
            cache = NO_HOME / "cache"
    return AppPaths(
        config_file=config_file or config / "config.toml",
        data_dir=data,
        cache_dir=cache,
        user_folder=config if config_file else None,
    )
