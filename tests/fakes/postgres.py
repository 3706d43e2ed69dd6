"""A PostgreSQL server of one's own in a temporary folder, reachable through a Unix socket only."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _as_server_user(*command: str) -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as the user that Debian's package made for it."""
    return [*(["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []), *command]


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server, yield its SQLAlchemy URL, stop it and remove every file.

    It doesn't wait for the disk: tests kill clients, never the server or the machine.
    """
    if not BINARIES:
        raise FileNotFoundError("no PostgreSQL under /usr/lib/postgresql: apt-get install -y postgresql")
    folder = Path(tempfile.mkdtemp(prefix="litrag-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
    data, control = folder / "data", str(BINARIES[-1] / "pg_ctl")

    def run(*command: str) -> None:
        subprocess.run(_as_server_user(*command), check=True, capture_output=True, cwd=folder, timeout=120)

    try:
        run(str(BINARIES[-1] / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        run(control, "-D", str(data), "-w", "-l", str(folder / "log"),
            "-o", f"-c listen_addresses='' -c fsync=off -k {folder}", "start")
        try:
            yield f"postgresql://postgres@/postgres?unix_sock={folder}/.s.PGSQL.5432"
        finally:
            run(control, "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder)
