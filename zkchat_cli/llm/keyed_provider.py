"""What providers with a key have in common: the client for their server, checks before a call, and how the server is described."""

from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelConfig, ServerInfo
from zkchat_cli.llm.json_client import JsonClient
from zkchat_cli.llm.remote_model import RemoteModel


@dataclass(frozen=True, slots=True)
class KeyedProvider:
    """A company whose API needs a key, at `address`; compatible servers elsewhere may not need one, and are called `other_name`."""

    name: str
    company: str
    address: str
    other_name: str
    address_hint: str = ""

    @property
    def address_variable(self) -> str:
        return f"{self.name.upper()}_BASE_URL"

    def server_name(self, address: str) -> str:
        return self.company if address == self.address else self.other_name

    def client(
        self, config: ModelConfig, address: str, key_variable: str, headers: Callable[[str], dict[str, str]] | None = None
    ) -> JsonClient:
        key = config.key.value or config.env.get(key_variable, "").strip()
        check = f"Is it running? Check {self.name}.base_url or {self.address_variable}{self.address_hint}."
        return JsonClient(
            self.server_name(address),
            address,
            "Check your network." if address == self.address else check,
            key=key,
            check_key=f"Check {config.key.description or key_variable}.",
            headers=headers(key) if headers else None,
        )

    def key_error(self, server: JsonClient, key_variable: str) -> ProviderError | None:
        key = server.key
        if server.address == self.address and not key:
            hint = f"Set it, or run zkchat keys set {self.name}; or set {self.address_variable} to a server that needs none."
            return ProviderError("auth", f"{self.company} needs a key, and {key_variable} is not set", hint)
        if not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"{key_variable} contains characters that no key has"
            return ProviderError("auth", problem, "Set it again; was more copied than the key?")
        return None

    def config_error(self, model: RemoteModel, key_variable: str) -> ProviderError | None:
        if not model.model:
            hint = f"Use {self.name}/NAME; /model and zkchat doctor list the models."
            return ProviderError("unknown_model", f"{self.name} needs the name of a model", hint)
        return self.key_error(model.server, key_variable) or model.server.address_error()

    def server_info(self, config: ModelConfig, model: RemoteModel, key_variable: str, base_url: str) -> ServerInfo:
        key_source = config.key.description or key_variable
        configured_by = [key_source] if model.server.key else []
        if config.env.get(self.address_variable):
            configured_by.append(self.address_variable)
        elif base_url:
            configured_by.append(f"{self.name}.base_url")
        optional = "" if model.server.address == self.address else ", which many servers do not need"
        key = f"{key_source} is set" if model.server.key else f"{key_variable} is not set{optional}"
        return ServerInfo(model.server.address, key, ", ".join(configured_by), model.list_models)


OPENAI = KeyedProvider("openai", "OpenAI", "https://api.openai.com/v1", "the OpenAI-compatible server", "; most end in /v1")
ANTHROPIC = KeyedProvider("anthropic", "Anthropic", "https://api.anthropic.com", "the server for anthropic")
