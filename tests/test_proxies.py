"""Which proxy leads to a server: the variables of the environment, as curl, Go and Docker write
them.
"""

import pytest
from conftest import Program
from model_server import ModelServer, Reply, openai_text

from zkchat_cli.llm.proxies import proxy_for

PROXY = "http://proxy.lan:3128"
DOCKER = "localhost,127.0.0.0/8,::1/128"


@pytest.mark.parametrize(
    ("address", "no_proxy"),
    [
        ("https://api.example/v1", "*"),
        ("https://api.example/v1", "api.example"),
        ("https://API.example./v1", "api.EXAMPLE"),
        ("https://eu.api.example/v1", "api.example"),
        ("https://eu.api.example/v1", ".api.example"),
        ("https://eu.api.example/v1", "*.api.example"),
        ("https://api.example/v1", "other.example, api.example"),
        ("https://api.example/v1", "other.example api.example"),
        ("https://api.example/v1", "api.example:443"),
        ("http://nas:8080/v1", "nas:8080"),
        ("http://10.1.2.3/v1", "10.1.2.3"),
        ("http://10.1.2.3/v1", "10.0.0.0/8"),
        ("http://10.1.2.3/v1", "10.1.2.9/8"),
        ("http://10.1.2.3:80/v1", "10.0.0.0/8:80"),
        ("http://[fd00::5]/v1", "fd00::/8"),
        ("http://[fd00::5]/v1", "fd00::5"),
        ("http://[fd00::5]/v1", "[fd00::5]"),
        ("http://[fd00::5]:81/v1", "[fd00::5]:81"),
        # Never a proxy between this machine and itself
        ("http://localhost:11434", ""),
        ("http://127.0.0.1:11434", ""),
        ("http://[::1]:11434", ""),
    ],
)
def test_no_proxy_leads_to(address: str, no_proxy: str) -> None:
    assert proxy_for(address, {"all": PROXY, "no": no_proxy}) is None


@pytest.mark.parametrize(
    ("address", "no_proxy"),
    [
        ("https://api.example/v1", ""),
        ("https://api.example/v1", DOCKER),
        ("https://myapi.example/v1", "api.example"),
        ("https://api.example/v1", "api.example:8443"),
        ("https://api.example/v1", "eu.api.example"),
        ("http://11.1.2.3/v1", "10.0.0.0/8"),
        ("http://[fd00::5]/v1", "10.0.0.0/8"),
        ("http://10.1.2.3/v1", "fd00::/8"),
        # An entry that is none of the known forms concerns no server
        ("http://10.1.2.3/v1", "10.0.0.0/99"),
        ("http://10.1.2.3/v1", "3"),
        ("https://api.example/v1", ". , .. , :80, [, http://api.example"),
    ],
)
def test_a_proxy_leads_to(address: str, no_proxy: str) -> None:
    assert proxy_for(address, {"all": PROXY, "no": no_proxy}) == PROXY


def test_the_proxy_is_that_of_the_scheme() -> None:
    proxies = {"http": "web.lan:80", "https": "https://tls.lan", "all": PROXY}
    assert proxy_for("http://api.example", proxies) == "http://web.lan:80"
    assert proxy_for("https://api.example", proxies) == "https://tls.lan"
    assert proxy_for("https://api.example", {"http": PROXY}) is None
    assert proxy_for("https://api.example", {"https": "", "all": PROXY}) == PROXY


def test_networks_in_no_proxy_end_no_command(zkchat: Program, server: ModelServer) -> None:
    """Docker and OrbStack set them; httpx and Ollama's client fail for them."""
    zkchat.env |= {
        "OPENAI_BASE_URL": "http://models.invalid/v1",
        "NO_PROXY": DOCKER,
        "no_proxy": DOCKER,
        "http_proxy": server.address,
    }
    server.says(Reply(openai_text("Yes.")))
    done = zkchat("ask", "--answer-only", "--model", "openai/m", "What is a filter?")
    assert (done.exit_status, done.out.strip()) == (0, "Yes.")
    assert "POST http://models.invalid/v1/chat/completions" in server.everything
    zkchat("doctor", "--model", "openai/m")
    assert "GET http://models.invalid/v1/models" in server.everything
    zkchat.env |= {"no_proxy": "models.invalid/8, models.invalid", "NO_PROXY": ""}
    direct = zkchat("ask", "--model", "openai/m", "What is a filter?")
    assert "its name is not known" in direct.err
