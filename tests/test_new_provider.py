"""A provider, or an embedder, is one file, which declares everything that zkchat knows about it."""

import io
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer, Reply

from zkchat_cli.app.embedder_choice import open_embedder
from zkchat_cli.app.factory import open_model
from zkchat_cli.app.model_servers import available_models, keyed_servers
from zkchat_cli.app.settings import StartupOptions, load_settings
from zkchat_cli.cli.options import complete_models
from zkchat_cli.config import loader, provider_tables
from zkchat_cli.config.credentials import stored_name, write_keys
from zkchat_cli.config.loader import LoadedConfig
from zkchat_cli.errors import ConfigError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm import embedders, providers
from zkchat_cli.llm.base import Request
from zkchat_cli.paths import app_paths
from zkchat_cli.terminal.onboarding import run_onboarding
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.vault.search.embedder import compute_vectors

ROOT = Path(__file__).parent.parent
PLUM_PROVIDER = '''"""Models of the Plum company: `plum/NAME`, at PLUM_BASE_URL or plum.base_url."""

from pydantic import Field

from zkchat_cli.config.schema import KeyedSettings
from zkchat_cli.llm.base import ModelConfig, Provider
from zkchat_cli.llm.keyed_provider import KeyedProvider, bearer
from zkchat_cli.llm.providers.ollama import OllamaModel


class PlumSettings(KeyedSettings):
    base_url: str = Field("", description="URL of a server of plums")
    key_variable: str = Field("PLUM_KEY", description="environment variable with the key of plums")
    ripeness: int = Field(3, ge=1, description="how ripe an answer is")


class PlumModel(OllamaModel):
    provider = "plum"

    def find_window(self) -> None:
        return None


PLUM = KeyedProvider("plum", "Plum", "https://plum.example", "the plum server", bearer, "/api")


def _open(config: ModelConfig) -> PlumModel:
    settings = config.settings or PlumSettings()
    return PlumModel(config.name, PLUM.server(config, settings), settings)


PROVIDER = Provider(
    name="plum",
    open=_open,
    open_remote=_open,
    settings=PlumSettings,
    label="plums from the garden",
    preferred_models=("stone-",),
    model_families=("plumtree",),
    known_models=lambda: ("stone-1",),
)
'''
PLUM_EMBEDDER = '''"""Vectors that count plums."""

from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider


class PlumEmbedder:
    batch = 1
    languages = None

    def __init__(self, model: str) -> None:
        self.id = f"plum/{model}"

    def load(self) -> None:
        pass

    def embed(self, texts, *, purpose):
        return [[text.count("plum"), 1.0] for text in texts]

    def close(self) -> None:
        pass


def _open(config: EmbedderConfig) -> PlumEmbedder:
    return PlumEmbedder(config.model or "small-plum")


EMBEDDER = EmbeddingProvider(_open, default_model="small-plum", is_on_this_machine=True)
'''


@pytest.fixture
def orchard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home folder, while the registries have one more file each."""
    for package, text in ((providers, PLUM_PROVIDER), (embedders, PLUM_EMBEDDER)):
        folder = tmp_path / package.__name__.rpartition(".")[2]
        folder.mkdir()
        (folder / "plum.py").write_text(text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    home = tmp_path / "home"
    (home / "config").mkdir(parents=True)
    yield home
    for package in (providers, embedders):
        sys.modules.pop(f"{package.__name__}.plum", None)
        vars(package).pop("plum", None)


def load(home: Path, model: str = "offline", **env: str) -> LoadedConfig:
    return load_settings(StartupOptions(model=model), {"ZKCHAT_HOME": str(home), **env}, home)


def test_its_settings_are_read_checked_and_described(orchard: Path) -> None:
    assert loader.default_values()["plum.ripeness"] == 3
    assert provider_tables.describe_setting("plum.ripeness") == "how ripe an answer is"
    loaded = load(orchard, ZKCHAT_PLUM__RIPENESS="7")
    assert loader.flatten(loaded.values)["plum.ripeness"] == 7
    assert loaded.origins["plum.ripeness"] == "ZKCHAT_PLUM__RIPENESS"
    with pytest.raises(ConfigError, match=r"plum\.ripeness = \"0\" is not valid"):
        load(orchard, ZKCHAT_PLUM__RIPENESS="0")
    with pytest.raises(ConfigError, match="is not a setting") as refused:
        load(orchard, ZKCHAT_PLUM__RIPE="1")
    assert "plum.ripeness" in refused.value.hint


def test_its_model_answers_with_the_key_of_the_environment_or_of_the_file(
    orchard: Path, server: ModelServer
) -> None:
    server.says(Reply([b'{"message": {"content": "Sweet."}, "done": true}\n']))
    env = {"PLUM_BASE_URL": server.address, "PLUM_KEY": "sk-of-plums"}
    model = open_model(load(orchard, "plum/stone-1", **env)).model
    assert [delta.text for delta in model.stream(Request(())) if isinstance(delta, TextDelta)] == [
        "Sweet."
    ]
    assert model.name == "plum/stone-1"
    assert server.asked[-1][2]["authorization"] == "Bearer sk-of-plums"

    del env["PLUM_KEY"]
    where = app_paths({"ZKCHAT_HOME": str(orchard)})
    write_keys({stored_name("plum", server.address): "sk-of-the-file"}, where)
    loaded = load(orchard, "plum/stone-1", **env)
    assert keyed_servers(loaded)["plum"] == ("PLUM_KEY", server.address)
    server.says(Reply([b'{"message": {"content": "Sour."}, "done": true}\n']))
    list(open_model(loaded).model.stream(Request(())))
    assert server.asked[-1][2]["authorization"] == "Bearer sk-of-the-file"


def test_its_models_are_listed_and_completed(orchard: Path, server: ModelServer) -> None:
    names = [{"name": name} for name in ("stone-1", "stone-2", "pip-1")]
    server.gets["/api/tags"] = {"models": names}
    loaded = load(orchard, PLUM_BASE_URL=server.address)
    [listed] = [each for each in available_models(loaded) if each.provider == "plum"]
    assert listed.names == ("plum/pip-1", "plum/stone-1", "plum/stone-2")
    assert {"plum/", "plum/stone-1"} <= set(complete_models())


def test_its_best_models_are_offered_at_the_first_start(
    orchard: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [{"name": name} for name in ("stone-1", "stone-2", "pip-1")]
    server.gets["/api/tags"] = {"models": names}
    monkeypatch.chdir(orchard)
    monkeypatch.setenv("HOME", str(orchard))
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nplum/stone-2\nn\n"))
    printed = io.StringIO()
    screen = Screen(printed, printed, color=False, err_is_terminal=False)
    env = {"ZKCHAT_HOME": str(orchard), "PLUM_BASE_URL": server.address}
    assert run_onboarding(None, env, screen)[1] == "plum/stone-2"
    assert "plum/stone-1 (plums from the garden)" in printed.getvalue()
    assert "plum/pip-1" not in printed.getvalue()


def test_its_well_known_models_need_no_provider(orchard: Path) -> None:
    assert load(orchard, "plumtree-9").values.model == "plum/plumtree-9"


def test_the_documents_have_its_settings(orchard: Path) -> None:
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    pages = {file.name: text for file, text in generate["documents"]().items()}
    assert "| `plum.ripeness` | `3` | how ripe an answer is |" in pages["settings.md"]
    assert "\n[plum]\n" in pages["config.example.toml"]
    assert "# how ripe an answer is\nripeness = 3\n" in pages["config.example.toml"]


def test_an_embedder_is_chosen_described_and_opened(orchard: Path) -> None:
    assert "plum" in provider_tables.describe_setting("semantic.provider")
    assert "small-plum (plum)" in provider_tables.describe_setting("semantic.model")
    embedder = open_embedder(load(orchard, ZKCHAT_SEMANTIC__PROVIDER="plum"))
    assert embedder is not None
    assert embedder.id == "plum/small-plum"
    assert len(compute_vectors(embedder, ["plum, plum"], "query")) == 1


def test_settings_without_a_providers_table_load_no_provider() -> None:
    program = """if True:
        import sys
        from pathlib import Path
        from zkchat_cli.config.loader import load_config
        from zkchat_cli.paths import app_paths
        env = {"ZKCHAT_HOME": "/nonexistent", "ZKCHAT_CONTEXT__MAX_TOKENS": "9000"}
        assert load_config({}, env, app_paths(env)).values.context.max_tokens == 9000
        print(*(name for name in sys.modules if name.startswith("zkchat_cli.llm")))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
