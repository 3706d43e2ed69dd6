"""LibreOffice as a person uses it: open a table, save it as something else."""

import shutil
import subprocess
from pathlib import Path

from fakes.needed import unavailable

#: Filters to save by, and what they make.
CSV, XLSX = "csv:Text - txt - csv (StarCalc):44,34,76,1", "xlsx"


def through_libreoffice(path: Path, kind: str) -> Path:
    """Open a CSV in LibreOffice Calc with its usual guesses at cell types, and save it as `kind`; the saved file."""
    office = shutil.which("soffice")
    if office is None:
        unavailable("no LibreOffice found: apt-get install -y libreoffice-calc-nogui")
    target = path.parent / "saved"
    subprocess.run(
        [office, f"-env:UserInstallation=file://{path.parent}/profile", "--headless", "--infilter=CSV:44,34,76,1",
         "--convert-to", kind, "--outdir", str(target), str(path)], check=True, capture_output=True, timeout=180,
    )
    return next(target.iterdir())
