"""Where an Ollama server is, for those who chat with it and those who get vectors from it."""

from urllib.parse import urlsplit


def address(host: str) -> str:
    """OLLAMA_HOST as Ollama itself reads it: scheme, host and port may each be left out. Where it listens everywhere, it is called here."""
    host = host.strip().strip("\"'")
    try:
        url = urlsplit(host if "://" in host else f"http://{host}")
        port = url.port or ({"http": 80, "https": 443}.get(url.scheme, 11434) if "://" in host else 11434)
    except ValueError:
        return host  # the first call says that it is none
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(url.hostname or "", url.hostname or "127.0.0.1")
    user = "".join(url.netloc.rpartition("@")[:2])
    return f"{url.scheme}://{user}{f'[{name}]' if ':' in name else name}:{port}{url.path}".rstrip("/")
