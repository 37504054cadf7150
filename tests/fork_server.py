"""A fork server: zkchat is imported once and forked for each run, so that tests do not wait for
imports.

`python fork_server.py SOCKET` imports the program and waits; each `ProgramRun` gets a process of
its own, with arguments, environment, folder and three streams, which may be a pseudo-terminal's.
`python fork_server.py SOCKET ARGUMENT…` is such a run as a command.

A run is a real process with its own streams, signals and exit code. Only what happens before the
first line of `main.run` and after its last is missing. Tests that depend on that (encodings of the
streams, import paths, what is imported) start Python: see conftest.Program.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path

DEFERRED = ("dateparser.date", "encodings.utf_8_sig", "jinja2", "tomlkit", "yaml")
"""What functions of the program import."""
_LENGTH = 8
_NUMBER = 4


def load_program(without: tuple[str, ...] = (), *, prepares_all: bool = True) -> None:
    """Import and load what every run needs, except modules that begin with `without`.

    `prepares_all` takes 2 s and makes a question take 50 ms instead of 130.
    """
    import zkchat_cli
    from zkchat_cli.tokens.counter import open_encoder
    from zkchat_cli.tokens.encodings import ENCODINGS, load_vocabulary

    use_empty_certificates()
    open_encoder("o200k_base")
    for encoding in ENCODINGS:
        load_vocabulary(encoding)
    # Commands defer some imports
    for module in pkgutil.walk_packages(zkchat_cli.__path__, "zkchat_cli."):
        if not module.name.endswith("__main__") and not module.name.startswith(without):
            importlib.import_module(module.name)
    for library in DEFERRED:
        importlib.import_module(library)
    if prepares_all:
        _prepare_lazy_values()
    gc.collect()
    # Otherwise the collector of each run would copy the memory
    gc.freeze()


def _prepare_lazy_values() -> None:
    """Make what the program makes at its first use, and would make in each run: patterns and
    models, three quarters of the time of a question.
    """
    from zkchat_cli.models.base import Value
    from zkchat_cli.text.dates import find_period
    from zkchat_cli.text.patterns import LazyPattern

    # Most of them are in tables: the frames of requests
    for value in gc.get_objects():
        if isinstance(value, LazyPattern):
            value.match  # noqa: B018
    for model in _subclasses(Value):
        model.model_rebuild()
    # Its patterns are a third of the time of a question about days
    find_period("last week", date(2025, 5, 8))


def _subclasses(model: type) -> list[type]:
    found = model.__subclasses__()
    return [*found, *(below for each in found for below in _subclasses(each))]


def use_huge_pages() -> None:
    """Put this process's memory into pages of 2 MB, where Linux can: copying its page table was
    half of a short run, 8 of 17 ms.
    """
    libc = ctypes.CDLL(None)
    collapse = 25  # MADV_COLLAPSE
    regions = (
        [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        if sys.platform == "linux"
        else []
    )
    for place, rights, *_, file in regions:
        # "0" is an inode: a region without a file
        if rights == "rw-p" and file in ("0", "[heap]"):
            start, end = (int(address, 16) for address in place.split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), collapse)


def serve(address: str) -> None:
    """Runs until it is killed, or the test process ends, which closes its standard input."""
    # No test starts the window so, and Qt is a quarter of the memory
    load_program(without=("zkchat_cli.gui",))
    use_huge_pages()
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    server = socket.socket(socket.AF_UNIX)
    server.bind(address + ".new")
    server.listen(16)
    Path(address + ".new").rename(address)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([0, server, woken], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            _tell_who_ended(running)
        if server in ready:
            _start(server, running)
        if 0 in ready:
            os._exit(0)


def _start(server: socket.socket, running: dict[int, socket.socket]) -> None:
    connection, _ = server.accept()
    try:
        head, streams, _, _ = socket.recv_fds(connection, _LENGTH, 3)
        wanted = json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
    except (ConnectionError, ValueError):  # the caller was stopped meanwhile
        connection.close()
        return
    program = os.fork()
    if program == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for others in (server, connection, *running.values()):
            others.close()
        _become(wanted, streams)
    for stream in streams:
        os.close(stream)
    running[program] = connection
    with suppress(OSError):
        connection.sendall(program.to_bytes(_NUMBER, "big", signed=True))


def _tell_who_ended(running: dict[int, socket.socket]) -> None:
    while running:
        program, status = os.waitpid(-1, os.WNOHANG)
        if program == 0:
            return
        with running.pop(program) as connection, suppress(OSError):
            connection.sendall(
                os.waitstatus_to_exitcode(status).to_bytes(_NUMBER, "big", signed=True)
            )


def _become(wanted: dict, streams: list[int]) -> None:
    """Become the program, with the caller's arguments, environment, folder and streams."""
    if wanted["terminal"]:
        os.setsid()
        # Its terminal's signals reach it, as those of a shell's do
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    sys.argv = ["zkchat", *wanted["arguments"]]
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", errors="replace")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.__stdin__ = sys.stdin
    sys.__stdout__ = sys.stdout
    sys.__stderr__ = sys.stderr
    from zkchat_cli.cli.app import run

    try:
        run()
    except SystemExit as end:
        if isinstance(end.code, int):
            _leave(end.code)
        raise


def _leave(code: int) -> None:
    """End as Python does, but without tearing down all modules, which takes nine times as long as a
    run.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def use_empty_certificates() -> None:
    """Tests use no TLS, but each HTTP client would read all certificate authorities, which takes 20
    ms.
    """
    import certifi

    nobody = str(Path(__file__).with_name("samples") / "nobody.pem")
    certifi.where = lambda: nobody
    os.environ["SSL_CERT_FILE"] = nobody


class ProgramRun:
    """A run that takes over these three streams. `pid` is valid until `end` is called."""

    def __init__(
        self,
        address: str,
        arguments: list[str],
        environment: dict,
        folder: Path,
        streams: list[int],
        *,
        terminal: bool,
    ) -> None:
        wanted = {
            "arguments": arguments,
            "environment": environment,
            "folder": str(folder),
            "terminal": terminal,
        }
        message = json.dumps(wanted).encode()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        socket.send_fds(self._connection, [len(message).to_bytes(_LENGTH, "big")], streams)
        self._connection.sendall(message)
        for stream in set(streams):
            os.close(stream)
        self.pid = self._read_number()

    def ended(self) -> bool:
        self._connection.setblocking(False)
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        finally:
            self._connection.setblocking(True)

    def end(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code; negative for a signal, as with Popen. Raises
        TimeoutError after so many seconds.
        """
        with self._connection:
            self._connection.settimeout(timeout)
            return self._read_number()

    def _read_number(self) -> int:
        data = self._connection.recv(_NUMBER, socket.MSG_WAITALL)
        if len(data) < _NUMBER:
            raise ConnectionError("the fork server has ended")
        return int.from_bytes(data, "big", signed=True)


def run_piped(
    address: str,
    arguments: list[str],
    environment: dict,
    folder: Path,
    stdin: bytes,
    timeout: float,
) -> subprocess.CompletedProcess[bytes]:
    """Run the program with pipes to its end, as `subprocess.run` does."""
    (given, keyboard), (out, output), (err, errors) = os.pipe(), os.pipe(), os.pipe()
    run = ProgramRun(
        address, arguments, environment, folder, [given, output, errors], terminal=False
    )
    with ThreadPoolExecutor() as pool:
        shown = [pool.submit(_read_all, pipe) for pipe in (out, err)]
        pool.submit(_write_all, keyboard, stdin)
        try:
            code = run.end(timeout)
        except TimeoutError as e:
            os.kill(run.pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, timeout) from e
        return subprocess.CompletedProcess(arguments, code, *(each.result() for each in shown))


def _read_all(pipe: int) -> bytes:
    with os.fdopen(pipe, "rb") as opened:
        return opened.read()


def _write_all(pipe: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as opened:
        opened.write(data)


if __name__ == "__main__":
    # A run with this process's own streams, for a client that starts its server itself
    if sys.argv[2:]:
        streams = [os.dup(number) for number in range(3)]
        sys.exit(
            ProgramRun(
                sys.argv[1], sys.argv[2:], dict(os.environ), Path.cwd(), streams, terminal=False
            ).end()
        )
    serve(sys.argv[1])
