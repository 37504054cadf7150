"""zkchat, started once and forked for each run: what a test waits for is the program's work, not Python's imports.

    python warm.py serve SOCKET      imports the program and waits; each request is run in a process of its own
    python warm.py run SOCKET …      hands its arguments, environment, folder and the three standard streams over, and ends as the run does

`Run` starts one in a pseudo-terminal instead.

A run is as real as any (its own process, streams, environment, exit code), but for what happens before the first line of `main.run`;
what depends on that (encodings of the streams, import paths, what is imported) starts Python itself: see conftest.Program.
"""

import array
import fcntl
import json
import os
import socket
import sys
import termios
from pathlib import Path

_LENGTH, _NUMBER = 8, 4


def serve(address: str) -> None:
    """Runs until it is killed."""
    import tiktoken

    import zkchat_cli.llm.compatible
    import zkchat_cli.llm.messages_api
    import zkchat_cli.llm.native
    import zkchat_cli.session
    import zkchat_cli.terminal.repl  # noqa: F401
    from zkchat_cli import cli, drawer, slash
    from zkchat_cli.tokens import VOCABULARY

    for kind in (cli, slash):
        for name in drawer.names(kind):
            drawer.take(kind, name, "COMMAND")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARY)
    tiktoken.get_encoding("o200k_base")
    server = socket.socket(socket.AF_UNIX)
    server.bind(address + ".new")
    server.listen(16)
    Path(address + ".new").rename(address)
    while True:
        connection, _ = server.accept()
        if os.fork() == 0:  # who waits for the run, so that this one can go on
            server.close()
            _keep(connection)
        connection.close()


def _keep(connection: socket.socket) -> None:
    length, streams = _received(connection)
    wanted = json.loads(_exactly(connection, length))
    program = os.fork()
    if program == 0:
        connection.close()
        _become(wanted, streams)
    for stream in streams:
        os.close(stream)
    connection.sendall(program.to_bytes(_NUMBER, "big"))
    _, status = os.waitpid(program, 0)
    connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(_NUMBER, "big", signed=True))
    os._exit(0)


def _become(wanted: dict, streams: list[int]) -> None:
    """The program, with somebody else's arguments, environment, folder and streams. Ends as Python does."""
    if wanted["terminal"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)  # its terminal's signals reach it, as those of a shell's do
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(wanted["folder"])
    coverage = {k: v for k, v in os.environ.items() if k.startswith("COV")}
    os.environ.clear()
    os.environ.update(wanted["environment"] | coverage)
    sys.argv = ["zkchat", *wanted["arguments"]]
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", errors="replace")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    from zkchat_cli.main import run

    run()


class Run:
    """A run with these three streams, its own from now on. `pid` is valid until `end` has been asked for."""

    def __init__(self, address: str, arguments: list[str], environment: dict, folder: Path, streams: list[int], *, terminal: bool) -> None:
        wanted = {"arguments": arguments, "environment": environment, "folder": str(folder), "terminal": terminal}
        message = json.dumps(wanted).encode()
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(address)
        handed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        self._connection.sendmsg([len(message).to_bytes(_LENGTH, "big")], handed)
        self._connection.sendall(message)
        for stream in set(streams):
            os.close(stream)
        self.pid = int.from_bytes(_exactly(self._connection, _NUMBER), "big")

    def ended(self) -> bool:
        self._connection.setblocking(False)
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        finally:
            self._connection.setblocking(True)

    def end(self) -> int:
        """Wait for the end: the exit code; of one that a signal ended, what Popen would say."""
        with self._connection:
            return int.from_bytes(_exactly(self._connection, _NUMBER), "big", signed=True)


def run(address: str, arguments: list[str]) -> int:
    """The exit code of the run."""
    code = Run(address, arguments, dict(os.environ), Path.cwd(), [0, 1, 2], terminal=False).end()
    if code < 0:
        os.kill(os.getpid(), -code)
    return code


def _received(connection: socket.socket) -> tuple[int, list[int]]:
    given = array.array("i")
    head, attached, _, _ = connection.recvmsg(_LENGTH, socket.CMSG_LEN(3 * given.itemsize))
    for _, _, data in attached:
        given.frombytes(data[: len(data) - len(data) % given.itemsize])
    return int.from_bytes(head, "big"), list(given)


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = connection.recv(length - len(data))
        if not more:
            raise ConnectionError("the other side is gone")
        data += more
    return data


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    os._exit(run(sys.argv[2], sys.argv[3:]))
