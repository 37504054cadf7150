"""What an installation consists of: metadata, manual page, release files, packaging."""

import re
import tomllib
from pathlib import Path

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
