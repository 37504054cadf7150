"""Commits a change of the notes in the git repository they are in, with the files of that change and no others.

git runs without a terminal, so that neither it, a hook nor a signing program can ask or draw on the screen; it opens no editor and signs
nothing. What the user has staged stays staged.

Hooks and filters of the repository run as in the user's own `git commit`; without its filters git-crypt would commit secrets in plain text.
So only the user's own settings can turn commits on. What a commit does not need is off: `core.fsmonitor` would run a program, and a folder
of notes that is itself a bare repository would bring hidden settings.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from zkchat_cli.errors import VaultError
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.filesystem import printable

COMMIT_IT = "The change itself is made; commit it yourself."
SECONDS = 60
"""A hook may take this long."""
TERMINATE_SECONDS = 2
"""Time for git to remove its locks when it is stopped."""
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
}
_INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")
"""Variables that name another repository when zkchat is started by one of its hooks."""
_SETTINGS = (
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"),
    *("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"),
)


def commit(root: Path, paths: Sequence[str], message: str, env: Mapping[str, str] = os.environ) -> str:
    """Commit files that were changed, added or deleted; returns the commit's short name.

    Raises VaultError when there is no git or no repository, or a hook or git refuses; the files keep their contents.
    """

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return _run(["git", *_SETTINGS, *arguments], root, {**{k: v for k, v in env.items() if k not in _INHERITED}, **_QUIET})

    added: list[str] = []
    is_committed = False
    try:
        if git("rev-parse", "--is-inside-work-tree").stdout.strip() != "true":
            raise VaultError(f"{root} is in no git repository", "`git init` makes one; or zkchat config unset vault.git.")
        tracked = set(git("ls-files", "-z", "--", *paths).stdout.split("\0"))
        for path in paths:
            if path not in tracked and os.path.lexists(root / path) and git("add", "--intent-to-add", "--", path).returncode == 0:
                added.append(path)  # noqa: PERF401 - git runs in between
        wanted = [path for path in paths if path in tracked or path in added]
        if not wanted:
            raise VaultError("git ignores what was changed", "Nothing was committed; the change itself is made.")
        done = git("commit", "--quiet", "--only", "-m", replace_surrogates(message), "--", *wanted)
        if done.returncode:
            output = (done.stderr.strip() or done.stdout.strip() or "git did not say why").splitlines()
            raise VaultError(f"git did not commit: {printable(' '.join(output[-3:]))[:300]}", COMMIT_IT)
        is_committed = True
        return git("rev-parse", "--short", "HEAD").stdout.strip()
    except FileNotFoundError as e:
        raise VaultError("git is not installed", "Install it; or zkchat config unset vault.git.") from e
    except subprocess.TimeoutExpired as e:
        raise VaultError(f"git did not commit: it or a hook took more than {SECONDS} s and was stopped", COMMIT_IT) from e
    except OSError as e:
        raise VaultError(f"git did not commit: {e}", COMMIT_IT) from e
    finally:
        if added and not is_committed:
            with suppress(OSError, subprocess.TimeoutExpired):
                git("reset", "--quiet", "--", *added)


def _run(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, not even /dev/tty. It is stopped with its hooks when it takes too long or Ctrl-C is pressed."""
    pipe, none = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdin=none, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True
    )
    try:
        out, err = process.communicate(timeout=SECONDS)
    except BaseException:
        _stop(process)
        raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _stop(process: "subprocess.Popen[str]") -> None:
    """SIGTERM first: a killed git would leave a lock that keeps the user from committing."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(OSError):
            os.killpg(process.pid, number) if hasattr(os, "killpg") else process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(TERMINATE_SECONDS)
            break
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
