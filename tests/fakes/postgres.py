"""A PostgreSQL server of one's own in a temporary folder, on a free port of 127.0.0.1, with a password of its own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _as_server_user(*command: str) -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as the user that Debian's package made for it."""
    return [*(["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []), *command]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server, yield its SQLAlchemy URL, stop it and remove every file.

    It doesn't wait for the disk: tests kill clients, never the server or the machine.
    """
    folder = Path(tempfile.mkdtemp(prefix="litrag-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
    data, control, port = folder / "data", str(BINARIES[-1] / "pg_ctl"), _free_port()
    password = secrets.token_hex(8)
    (folder / "password").write_text(password, encoding="utf-8")

    def run(*command: str) -> None:
        subprocess.run(_as_server_user(*command), check=True, capture_output=True, cwd=folder, timeout=120)

    try:
        run(str(BINARIES[-1] / "initdb"), "-D", str(data), "-U", "postgres", "-A", "scram-sha-256",
            "--pwfile", str(folder / "password"), "-E", "UTF8", "--no-sync")
        run(control, "-D", str(data), "-w", "-l", str(folder / "log"),
            "-o", f"-h 127.0.0.1 -p {port} -c fsync=off -k {folder}", "start")
        try:
            yield f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)
