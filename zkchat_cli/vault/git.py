"""A change of the notes as a commit of the git repository they are in, with the files of that change and no other.

git runs without a terminal, so that neither it, nor a hook, nor a program that signs can ask anything or draw on the screen; it opens no
editor and signs nothing. What the user has staged stays staged.

A repository's hooks and filters run, as with the user's own `git commit`: without its filters git-crypt would commit what is to be secret.
So only the user's own settings can turn this on. What a commit does not need is off: `core.fsmonitor` would run a program at each look at
the repository, and a folder of notes that is itself laid out as a bare one would bring settings that nobody sees.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from zkchat_cli.errors import VaultError
from zkchat_cli.vault.filesystem import printable, replace_surrogates

COMMIT_IT = "The change itself is made; commit it yourself."
SECONDS = 60
"""That a hook may take."""
TO_TIDY_UP = 2
"""Seconds that git has to take its locks away when it is stopped."""
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
}
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")
"""What a hook of another repository, from which zkchat may run, says of that one."""
_SETTINGS = (
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"),
    *("-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"),
)


def commit(root: Path, paths: Sequence[str], message: str, env: Mapping[str, str] = os.environ) -> str:
    """Commit these files as they are now, or are no more; the commit's short name.

    Raises VaultError when there is no repository or no git, or a hook or git itself refuses: the files stay as they are.
    """

    def git(*arguments: str) -> subprocess.CompletedProcess[str]:
        return _run(["git", *_SETTINGS, *arguments], root, {**{k: v for k, v in env.items() if k not in _ELSEWHERE}, **_QUIET})

    new: list[str] = []
    committed = False
    try:
        inside = git("rev-parse", "--is-inside-work-tree")
        if inside.stdout.strip() != "true":
            raise VaultError(f"{root} is in no git repository", "`git init` makes one; or zkchat config unset vault.git.")
        known = _known(git("ls-files", "-z", "--", *paths).stdout)
        for path in paths:
            if path not in known and os.path.lexists(root / path) and git("add", "--intent-to-add", "--", path).returncode == 0:
                new.append(path)  # noqa: PERF401 - git is asked in between
        wanted = [path for path in paths if path in known or path in new]
        if not wanted:
            raise VaultError("git ignores what was changed", "Nothing was committed; the change itself is made.")
        done = git("commit", "--quiet", "--only", "-m", replace_surrogates(message), "--", *wanted)
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip() or "git did not say why").splitlines()
            raise VaultError(f"git did not commit: {printable(' '.join(said[-3:]))[:300]}", COMMIT_IT)
        committed = True
        return git("rev-parse", "--short", "HEAD").stdout.strip()
    except FileNotFoundError as e:
        raise VaultError("there is no git on this machine", "Install it; or zkchat config unset vault.git.") from e
    except subprocess.TimeoutExpired as e:
        raise VaultError(f"git did not commit: it, or a hook, took more than {SECONDS} s and was stopped", COMMIT_IT) from e
    except OSError as e:
        raise VaultError(f"git did not commit: {e}", COMMIT_IT) from e
    finally:
        if new and not committed:
            with suppress(OSError, subprocess.TimeoutExpired):
                git("reset", "--quiet", "--", *new)


def _run(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, not even /dev/tty. It and its hooks are stopped when it takes too long, or Ctrl-C is pressed."""
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
    """First politely: killed, git would leave a lock that keeps the user from committing."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(OSError):
            os.killpg(process.pid, number) if hasattr(os, "killpg") else process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(TO_TIDY_UP)
            break
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _known(listed: str) -> set[str]:
    return set(listed.split("\0"))
