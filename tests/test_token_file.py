"""The token file of `zkchat mcp --http`: who may see what, and how often they may ask."""

import hashlib
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from zkchat_cli.errors import ConfigError
from zkchat_cli.mcp.http_server import RequestCheck
from zkchat_cli.mcp.people import PeopleFile, Person, digest_token, find_person, read_people
from zkchat_cli.mcp.rate_limit import RateLimit
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

ANNA_TOKEN = "anna-0123456789-0123456789"
BEN_TOKEN = "ben-0123456789-0123456789"
TWO_PEOPLE = f"""
[anna]
token = "{ANNA_TOKEN}"
folders = ["Team", "Recipes/"]
exclude = ["Team/Salaries"]
write = true

["Ben Ott"]
sha256 = "{hashlib.sha256(BEN_TOKEN.encode()).hexdigest()}"
folders = ["."]
requests_per_second = 2.5
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a token file that only its owner can read."""

    def write(text: str) -> Path:
        file = tmp_path / "tokens.toml"
        file.write_text(text)
        file.chmod(0o600)
        return file

    return write


def test_a_person_has_folders_and_reads_only_unless_the_file_says_otherwise(
    write: Callable[[str], Path],
) -> None:
    anna, ben = read_people(write(TWO_PEOPLE))
    assert (anna.name, anna.may_write, anna.requests_per_second) == ("anna", True, 20)
    assert anna.view == VaultView(("Team", "Recipes"), ("Team/Salaries",))
    assert (ben.name, ben.may_write, ben.requests_per_second) == ("Ben Ott", False, 2.5)
    assert ben.view.is_whole


def test_a_person_is_found_by_the_token_or_its_hash_and_no_token_is_kept(
    write: Callable[[str], Path],
) -> None:
    people = read_people(write(TWO_PEOPLE))
    found = [find_person(people, token.encode()) for token in (ANNA_TOKEN, BEN_TOKEN)]
    assert [person.name for person in found if person] == ["anna", "Ben Ott"]
    assert find_person(people, b"somebody else's") is None
    assert ANNA_TOKEN not in repr(people)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602])
def test_a_file_that_others_can_read_or_change_is_refused(
    write: Callable[[str], Path], mode: int
) -> None:
    file = write(TWO_PEOPLE)
    file.chmod(mode)
    with pytest.raises(ConfigError, match="other users") as refused:
        read_people(file)
    assert refused.value.hint == f"chmod 600 {file}"


LONG = "x" * 20


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names nobody"),
        ("anna", "cannot be used: Expected '='"),
        ("anna = 1", "anna is not a person"),
        (f'[anna]\ntoken = "{LONG}"', "anna.folders: "),
        (f'[anna]\ntoken = "{LONG}"\nfolders = []', "anna.folders: "),
        (f'[anna]\ntoken = "{LONG}"\nfolders = "Team"', "anna.folders: "),
        (f'[anna]\ntoken = "{LONG}"\nfolders = ["../other"]', "anna.folders: it must be a folder"),
        (f'[anna]\ntoken = "{LONG}"\nfolders = ["/etc"]', "anna.folders: it must be a folder"),
        (f'[anna]\ntoken = "{LONG}"\nfolders = [""]', "anna.folders: it must be a folder"),
        (f'[anna]\ntoken = "{LONG}"\nfolders = [".git"]', "anna.folders: hidden folders"),
        (f'[anna]\ntoken = "{LONG}"\nfolders = ["."]\nwrite = "no"', "anna.write: "),
        (f'[anna]\ntoken = "{LONG}"\nfolders = ["."]\nexcluded = ["A"]', "anna.excluded: "),
        (f'[anna]\ntoken = "{LONG}"\nfolders = ["."]\nrequests_per_second = 0', "per_second: "),
        ('[anna]\ntoken = "short"\nfolders = ["."]', "anna.token: it must have at least 20"),
        (f'[anna]\ntoken = "{LONG} {LONG}"\nfolders = ["."]', "anna.token: a token has letters"),
        ('[anna]\nsha256 = "abc"\nfolders = ["."]', "anna.sha256: it must be 64"),
        ('[anna]\nfolders = ["."]', "anna needs either a token or its sha256"),
        (
            f'[a]\ntoken = "{LONG}"\nfolders = ["A"]\n[b]\ntoken = "{LONG}"\nfolders = ["B"]',
            "a and b have the same token",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named_and_no_token_is_shown(
    write: Callable[[str], Path], text: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        read_people(write(text))
    assert problem in refused.value.message
    assert LONG not in f"{refused.value.message} {refused.value.hint}"


def test_a_changed_file_counts_from_the_next_request_and_a_mistake_lets_nobody_in(
    write: Callable[[str], Path],
) -> None:
    file = write(TWO_PEOPLE)
    people = PeopleFile(file)
    assert [person.name for person in people.people()] == ["anna", "Ben Ott"]
    write(TWO_PEOPLE.replace("[anna]", "[carla]"))
    assert [person.name for person in people.people()] == ["carla", "Ben Ott"]
    write(TWO_PEOPLE + "[dora]")
    with pytest.raises(ConfigError, match=r"dora\.folders"):
        people.people()
    file.unlink()
    with pytest.raises(ConfigError, match="no such file"):
        people.people()
    write(TWO_PEOPLE)
    assert people.people()


# requests

PORT = 8080
GOOD = {
    "authorization": f"Bearer {ANNA_TOKEN}",
    "host": f"127.0.0.1:{PORT}",
}


def check(headers: dict[str, str], *more: tuple[str, str]) -> object:
    """The person of a request with these headers, or the status with which it is refused."""
    anna = Person("anna", digest_token(ANNA_TOKEN.encode()))
    sent = [(name.encode(), value.encode()) for name, value in (*headers.items(), *more)]
    found = RequestCheck(lambda: [anna], PORT).person(sent)
    return found.name if isinstance(found, Person) else int(found.status)


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        ({}, "anna"),
        ({"authorization": f"bearer {ANNA_TOKEN}"}, "anna"),
        ({"authorization": ANNA_TOKEN}, 401),
        ({"authorization": f"Basic {ANNA_TOKEN}"}, 401),
        ({"authorization": f"Bearer {ANNA_TOKEN} "}, 401),
        ({"authorization": f"Bearer {ANNA_TOKEN.upper()}"}, 401),
        ({"authorization": "Bearer "}, 401),
        # A name that an attacker points to 127.0.0.1
        ({"host": f"rebound.example:{PORT}"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": f"127.0.0.1.nip.io:{PORT}"}, 421),
        ({"origin": f"http://127.0.0.1:{PORT}"}, "anna"),
        ({"origin": f"http://rebound.example:{PORT}"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_a_request_needs_a_token_and_the_host_and_origin_of_the_server(
    changed: dict[str, str], answer: object
) -> None:
    assert check(GOOD | changed) == answer


def test_headers_that_come_twice_are_refused() -> None:
    assert check(GOOD, ("authorization", f"Bearer {ANNA_TOKEN}")) == 401
    assert check(GOOD, ("host", f"127.0.0.1:{PORT}")) == 421
    assert check(GOOD, ("origin", "null"), ("origin", f"http://127.0.0.1:{PORT}")) == 403


def test_where_nobody_is_known_the_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    problem = ConfigError("the token file is gone", "Bring it back.")

    def nobody() -> list[Person]:
        raise problem

    requests = RequestCheck(nobody, PORT)
    found = [requests.person([]) for _ in range(3)]
    assert [int(each.status) for each in found if not isinstance(each, Person)] == [503] * 3
    assert caplog.messages == ["the token file is gone. Bring it back."]


# how often


def test_so_many_requests_a_second_are_answered_also_at_once_after_a_pause() -> None:
    now = [0.0]
    limit = RateLimit(3, lambda: now[0])
    assert [limit.take() for _ in range(3)] == [0, 0, 0]
    assert limit.take() == pytest.approx(1 / 3)
    now[0] += 0.34
    assert limit.take() == 0
    assert limit.take() > 0
    now[0] += 100
    assert [limit.take() == 0 for _ in range(4)] == [True, True, True, False]


def test_less_than_one_request_a_second_is_answered_now_and_then() -> None:
    now = [0.0]
    limit = RateLimit(0.1, lambda: now[0])
    assert limit.take() == 0
    assert limit.take() == pytest.approx(10)
    now[0] += 10.001
    assert limit.take() == 0


# what is seen

ALLOWED = VaultView(("Team", "Recipes/Bread.md"), ("Team/Büro",))


@pytest.mark.parametrize(
    ("path", "is_allowed"),
    [
        ("Team/Plan.md", True),
        ("Team", True),
        ("Recipes/Bread.md", True),
        ("Recipes/Soup.md", False),
        ("Teamwork/Plan.md", False),
        ("team/Plan.md", False),
        ("Plan.md", False),
        ("", False),
        ("Team/Büro/Plan.md", False),
        (unicodedata.normalize("NFD", "Team/Büro/Plan.md"), False),
        ("Team/BÜRO/Plan.md", False),
        ("Team/buro/Plan.md", False),
        ("Team/Bü\u200bro/Plan.md", False),
        ("Team/Bürokratie.md", True),
    ],
)
def test_what_is_allowed_has_the_same_letters_and_what_is_excluded_any_spelling(
    path: str, is_allowed: bool
) -> None:
    assert ALLOWED.allows(path) == is_allowed


def test_a_folder_is_allowed_however_its_letters_are_composed() -> None:
    view = VaultView((unicodedata.normalize("NFD", "Büro"),))
    assert view.allows(unicodedata.normalize("NFC", "Büro/Plan.md"))


def test_the_folders_above_an_allowed_one_lead_to_it_and_may_not_be_seen() -> None:
    view = VaultView(("Team/North",))
    assert view.leads_to("Team") and not view.allows("Team")
    assert not view.leads_to("Tea") and not view.leads_to("Team/South")
    assert WHOLE_VAULT.leads_to("anything")
