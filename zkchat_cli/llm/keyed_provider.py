"""A provider with an API key: its server, or a compatible one elsewhere, as the settings and the
environment name it.
"""

from collections.abc import Callable
from typing import NamedTuple

from zkchat_cli.config.schema import KeyedSettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import ModelConfig
from zkchat_cli.llm.http_client import Endpoint


class KeyedProvider(NamedTuple):
    """A company with an API at `address` that needs a key. Compatible servers elsewhere may need
    none, and are called `other_name`. `headers` makes the headers for a key; its second argument
    says whether the server is the company's own.
    """

    name: str
    company: str
    address: str
    other_name: str
    headers: Callable[[str, bool], dict[str, str]]
    # Removed from the end of an address: some people copy the path of a call with it
    path: str
    # The end of the hint for a compatible server that cannot be reached
    check: str = ""

    @property
    def address_variable(self) -> str:
        """The environment variable with the address of the server."""
        return f"{self.name.upper()}_BASE_URL"

    def server(self, config: ModelConfig, settings: KeyedSettings) -> Endpoint:
        """The server that environment and settings name, with its key."""
        address = self._address(config, settings)
        official = address == self.address
        given = config.key.for_address("" if official else address)
        key = given.value or config.env.get(settings.key_variable, "").strip()
        key_name = "the key in zkchat's file" if given.source == "file" else settings.key_variable
        return Endpoint(
            self.company if official else self.other_name,
            address,
            "Check your network." if official else self._check_of_other_server(),
            key=key,
            check_key=f"Check {key_name}.",
            headers=self.headers(key, official),
            table=self.name,
            allow_insecure=settings.allow_insecure,
            key_error=self._key_error(key, settings.key_variable, is_needed=official),
            key_status=self._key_status(key, key_name, config),
            is_configured=bool(key) or not official,
        )

    def _address(self, config: ModelConfig, settings: KeyedSettings) -> str:
        """The address that the environment names, else the settings, else the company's own."""
        given = config.env.get(self.address_variable, "").strip() or settings.base_url.strip()
        return given.rstrip("/").removesuffix(self.path) or self.address

    def _check_of_other_server(self) -> str:
        """The hint if a compatible server cannot be reached."""
        settings = f"{self.name}.base_url or {self.address_variable}"
        return f"Is it running? Check {settings}{self.check}."

    def _key_status(self, key: str, key_name: str, config: ModelConfig) -> str:
        """Tells the user whether there is a key, and whether one is stored for another address."""
        status = f"{key_name} is {'set' if key else 'not set'}"
        if not key and any(config.key.stored.values()):
            status += (
                f"; the stored key is for another address (zkchat keys set {self.name} stores "
                "one for this)"
            )
        return status

    def _key_error(self, key: str, variable: str, *, is_needed: bool) -> ProviderError | None:
        """Why a key cannot be right, without any call."""
        if is_needed and not key:
            hint = (
                f"Set it, or run zkchat keys set {self.name}; or set {self.address_variable} to a "
                "server that needs none."
            )
            return ProviderError(
                "auth", f"{self.company} needs a key, and {variable} is not set", hint
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            problem = f"{variable} contains characters that are not valid in a key"
            return ProviderError("auth", problem, "Set it again, and copy only the key.")
        return None


def bearer(key: str, _official: bool = False) -> dict[str, str]:
    """The header with a key that most servers read; none without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}
