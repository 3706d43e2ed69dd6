"""The table of settings for the README, made from the settings themselves so that it can't go stale."""

from __future__ import annotations

from pydantic import AliasChoices
from pydantic_core import PydanticUndefined

from litrag.config import Settings


def settings_table() -> str:
    """Markdown: variable, default, meaning; secrets show no default."""
    lines = ["| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        variable = str(alias.choices[-1]) if isinstance(alias, AliasChoices) else f"LITRAG_{name.upper()}"
        default = "" if field.default in (None, PydanticUndefined) else f"`{field.default}`"
        lines.append(f"| `{variable}` | {default} | {field.description or ''} |")
    return "\n".join(lines)


def with_table(readme: str) -> str:
    """The README with the table between its two markers."""
    begin, end = "<!-- settings:begin -->", "<!-- settings:end -->"
    head, _, rest = readme.partition(begin)
    _, _, tail = rest.partition(end)
    return f"{head}{begin}\n{settings_table()}\n{end}{tail}"
