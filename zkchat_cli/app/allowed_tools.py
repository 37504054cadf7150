"""The tools of other programs that the user always allows."""

from zkchat_cli.config.loader import LoadedConfig, edit_toml


class AllowedTools:
    """The tools of MCP servers that are called without asking, as the settings file has them."""

    def __init__(self, loaded: LoadedConfig) -> None:
        self._file = loaded.paths.config_file
        servers = loaded.values.mcp.servers
        self._names = {server: [*settings.always] for server, settings in servers.items()}

    def includes(self, server: str, tool: str) -> bool:
        """Whether a tool of a server is called without asking."""
        return tool in self._names[server]

    def add(self, server: str, tool: str) -> None:
        """Call a tool without asking from now on, and save that. Raises ConfigError if it cannot be
        saved; then it is valid until zkchat ends.
        """
        self._names[server].append(tool)
        edit_toml(self._file, {f"mcp.servers.{server}.always": self._names[server]})
