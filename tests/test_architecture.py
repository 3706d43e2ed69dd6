"""The shape of the library: who may import whom, who may read the environment, and how long the spine may be."""

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
LIBRARY = PROJECT / "litrag"
SPINE = ("models", "index", "generate", "grounding", "judges", "pipeline")
#: Modules in layers, lowest first; a module imports only from its own layer's inside or from below.
STATIONS = {"ingest", "index", "generate", "grounding", "judges", "reviews"}


def _modules() -> list[Path]:
    return sorted(path for path in LIBRARY.rglob("*.py"))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_only_the_ui_imports_streamlit():
    offenders = [
        _name(path) for path in _modules()
        if any(name.split(".")[0] == "streamlit" for name in _imports(path)) and "ui" not in path.relative_to(LIBRARY).parts
    ]
    assert offenders == []


def test_only_config_reads_the_environment():
    offenders = []
    for path in _modules():
        text = path.read_text(encoding="utf-8")
        if path.name != "config.py" and ("os.environ" in text or "os.getenv" in text):
            offenders.append(_name(path))
    assert offenders == []


@pytest.mark.parametrize("station", sorted(STATIONS))
def test_stations_never_import_each_other(station):
    path = LIBRARY / f"{station}.py"
    others = {f"litrag.{name}" for name in STATIONS - {station}}
    allowed = {"index": {"litrag.ingest"}}  # an index is built from what ingest reads
    assert _imports(path) & others - allowed.get(station, set()) == set()


def test_models_and_errors_import_nothing_from_above():
    assert {name for name in _imports(LIBRARY / "errors.py") if name.startswith("litrag")} == set()
    assert {name for name in _imports(LIBRARY / "models.py") if name.startswith("litrag")} <= {"litrag.errors"}


def test_nothing_below_the_pages_imports_the_pipeline():
    above = {"litrag.cli", "litrag.__main__", "litrag", "litrag.cli_evaluate", "litrag.batch", "litrag.api"}
    offenders = [
        _name(path) for path in _modules()
        if "litrag.pipeline" in _imports(path) and _name(path) not in above and not _name(path).startswith("litrag.ui")
    ]
    assert offenders == []


def test_no_module_can_unpickle():
    offenders = [
        _name(path) for path in _modules()
        if {"pickle", "dill", "joblib"} & {name.split(".")[0] for name in _imports(path)}
        or "allow_dangerous_deserialization" in path.read_text(encoding="utf-8")
    ]
    assert offenders == []


def _code_lines(path: Path) -> int:
    """Lines that hold code: no blanks, comments or docstrings."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    prose: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.splitlines()
    return sum(
        1 for number, line in enumerate(lines, start=1)
        if line.strip() and not line.strip().startswith("#") and number not in prose
    )


def test_the_spine_reads_in_ten_minutes():
    lengths = {name: _code_lines(LIBRARY / f"{name}.py") for name in SPINE}
    assert sum(lengths.values()) <= 950, lengths


def test_pages_are_thin():
    for page in sorted((PROJECT / "pages").glob("*.py")):
        assert _code_lines(page) <= 90, page.name
