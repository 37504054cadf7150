"""zkchat, started once and forked for each run: what a test waits for is the program's work, not Python's imports.

    python warm.py serve SOCKET      imports the program and waits; each request is run in a process of its own
    python warm.py run SOCKET …      hands its arguments, environment, folder and the three standard streams over, and ends as the run does

A run is as real as any (its own process, streams, environment, exit code), but for what happens before the first line of `main.run`;
what depends on that (encodings of the streams, import paths, what is imported) starts Python itself: see conftest.Program.
"""

import array
import json
import os
import socket
import sys
from pathlib import Path

_LENGTH = 8


def serve(address: str) -> None:
    """Runs until it is killed."""
    import tiktoken

    from zkchat_cli import cli, drawer
    from zkchat_cli.tokens import VOCABULARY

    for name in drawer.names(cli):
        drawer.take(cli, name, "COMMAND")
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
    _, status = os.waitpid(program, 0)
    connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    os._exit(0)


def _become(wanted: dict, streams: list[int]) -> None:
    """The program, with somebody else's arguments, environment, folder and streams. Ends as Python does."""
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


def run(address: str, arguments: list[str]) -> int:
    """The exit code of the run; of one that a signal ended, what Popen would say."""
    message = json.dumps({"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        connection.sendmsg([len(message).to_bytes(_LENGTH, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
        connection.sendall(message)
        for stream in (0, 1, 2):
            os.close(stream)
        code = int.from_bytes(_exactly(connection, 4), "big", signed=True)
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
