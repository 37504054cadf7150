"""What an installation consists of: metadata, manual page, release files, packaging."""

import json
import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from conftest import Program

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ADDRESS = PROJECT["urls"]["Repository"]


def test_the_manual_page_is_printed_and_installed(zkchat: Program, tmp_path: Path) -> None:
    assert zkchat("man").out.startswith(".TH ")
    zkchat.env["XDG_DATA_HOME"] = str(tmp_path)
    told = zkchat("man", "--install").out
    page = tmp_path / "man" / "man1" / "zkchat.1"
    assert (str(page) in told, page.read_text("utf-8")[:4]) == (True, ".TH ")
    (tmp_path / "file").touch()
    zkchat.env["XDG_DATA_HOME"] = str(tmp_path / "file")
    failed = zkchat("man", "--install")
    assert (failed.exit_status, "`zkchat man` prints the page" in failed.err) == (1, True)


def test_the_project_says_who_made_it_and_where_it_is() -> None:
    assert {"Repository", "Documentation", "Changelog", "Issues"} <= {*PROJECT["urls"]}
    assert all(url.startswith(ADDRESS) for url in PROJECT["urls"].values())
    assert PROJECT["authors"]
    assert any(each.startswith("Development Status ::") for each in PROJECT["classifiers"])


def test_links_and_pictures_of_the_readme_work_outside_of_the_repository() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", readme)
    assert len(targets) > 20
    for target in targets:
        assert target.startswith("https://"), target
        if target.startswith(ADDRESS):
            kind, _, path = target.removeprefix(f"{ADDRESS}/").partition("/main/")
            assert kind in ("blob", "raw"), target
            assert (ROOT / path.partition("#")[0]).exists(), target


@pytest.mark.parametrize("dependency", PROJECT["dependencies"])
def test_each_dependency_has_a_lower_and_an_upper_bound(dependency: str) -> None:
    assert ">=" in dependency
    assert ",<" in dependency


def test_the_version_is_written_once_and_tags_name_it() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    assert "tags:" in workflow
    assert "id-token: write" in workflow
    assert "attestations: write" in workflow
    assert "packaging/release.sh" in workflow
    version = (ROOT / "zkchat_cli" / "__init__.py").read_text("utf-8")
    assert f'__version__ = "{PROJECT["version"]}"' in version
    formula = (ROOT / "packaging" / "homebrew" / "zkchat.rb").read_text("utf-8")
    assert f'homepage "{ADDRESS}"' in formula
    assert f"/zkchat-{PROJECT['version']}.tar.gz" in formula


def test_the_entry_for_the_registry_of_agents_keeps_its_rules_and_is_this_version() -> None:
    folder = ROOT / "packaging" / "acp-registry" / "zkchat"
    entry = json.loads((folder / "agent.json").read_text("utf-8"))
    rules = json.loads((ROOT / "tests" / "samples" / "acp_registry_entry.json").read_text("utf-8"))
    jsonschema.Draft7Validator(rules, format_checker=jsonschema.FormatChecker()).validate(entry)
    assert entry["id"] == folder.name
    assert (entry["version"], entry["repository"]) == (PROJECT["version"], ADDRESS)
    assert entry["distribution"]["uvx"]["package"] == f"zkchat=={PROJECT['version']}"
    assert entry["license"] == PROJECT["license"]
    # The registry's icons are squares of 16 pixels in the color of the text around them
    icon = ET.parse(folder / "icon.svg").getroot()
    assert (icon.get("width"), icon.get("height")) == ("16", "16")
    assert {part.get("fill") for part in icon} == {"currentColor"}


def test_the_command_in_the_registry_answers_an_editor_at_once(zkchat: Program) -> None:
    file = ROOT / "packaging" / "acp-registry" / "zkchat" / "agent.json"
    uvx = json.loads(file.read_text("utf-8"))["distribution"]["uvx"]
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    [answer] = zkchat(*uvx["args"], stdin=f"{json.dumps(hello)}\n").lines
    # It takes only agents that tell how to log in; those of an absent type are of the type `agent`
    assert any("type" not in each for each in answer["result"]["authMethods"])
