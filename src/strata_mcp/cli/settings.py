"""Settings of the user: one JSON file that only the user may read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from strata_mcp.errors import fail

KEYS: Final = {
    "default_db": "database for command lines that begin with a family",
    "branch": "branch for commands that name none",
    "space": "space for commands that name none",
    "durability": "always or standard; how commits of the command line are kept",
}
HINT: Final = "strata config --help lists the settings; strata config get shows yours."
"""What can be set, and what it means."""


def settings_path() -> Path:
    """Where the settings are kept."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "strata" / "config.json"


def read_settings() -> dict[str, str]:
    """All settings; none when there is no file."""
    path = settings_path()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise fail(
            "invalid_argument.engine.config_key",
            f"the settings in {path} cannot be read: {error}",
            hint="Correct the file, or remove it to begin with none.",
        ) from error
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def write_setting(key: str, value: str) -> None:
    """Set one value; the file is replaced as a whole and readable by the user alone."""
    check_key(key)
    if key == "durability" and value not in ("always", "standard"):
        raise fail("invalid_argument.engine.config_key", "durability is always or standard", hint=HINT, key=key)
    path = settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {**read_settings(), key: value}
    temporary = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=2)
        file.write("\n")
    temporary.replace(path)


def check_key(key: str) -> None:
    """Refuse a setting that does not exist."""
    if key not in KEYS:
        raise fail(
            "invalid_argument.engine.config_key",
            f"there is no setting {key!r}; there are {', '.join(KEYS)}",
            hint=HINT,
            key=key,
        )
