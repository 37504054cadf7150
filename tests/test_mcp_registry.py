"""`server.json`, with which the MCP server can be published in the MCP registry."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import Program

from zkchat_cli import __version__

ROOT = Path(__file__).parent.parent
SERVER = json.loads((ROOT / "server.json").read_text("utf-8"))
SCHEMA = json.loads((ROOT / "tests" / "schemas" / "mcp_server.json").read_text("utf-8"))
[PACKAGE] = SERVER["packages"]


def test_the_manifest_is_what_the_registry_accepts() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(SERVER, SCHEMA)
    assert len(SERVER["description"]) <= 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"description": "x" * 101},
        {"name": "zkchat"},
        {"version": None},
        {"status": "active"},
        {"packages": [{**PACKAGE, "version": "latest"}]},
        {"packages": [{**PACKAGE, "packageArguments": [{"type": "positional"}]}]},
    ],
)
def test_a_wrong_manifest_is_noticed(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**SERVER, **wrong}, SCHEMA)


def test_the_manifest_names_this_version_and_this_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert SERVER["version"] == PACKAGE["version"] == __version__
    assert PACKAGE["identifier"] == project["name"]
    assert PACKAGE["runtimeArguments"][0]["value"] == f"{project['name']}[mcp]=={__version__}"
    assert project["urls"]["Repository"] == SERVER["repository"]["url"]


def test_the_description_on_pypi_proves_who_owns_the_name() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert re.findall(r"^<!-- mcp-name: (\S+) -->$", readme, re.MULTILINE) == [SERVER["name"]]


def test_the_arguments_of_the_manifest_start_the_server(zkchat: Program) -> None:
    arguments = []
    for each in PACKAGE["packageArguments"]:
        arguments += [each[key] for key in ("name", "value") if key in each]
    assert arguments == ["mcp", "--vault"]
    done = zkchat(*arguments, str(zkchat.vault), stdin="")
    assert (done.exit_status, done.out) == (0, "")
