"""The house rules as ordinary tests: sizes, layers, banned calls, dead modules, leftovers, documents."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

MODULE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
AGENTS_LINES_MAX = 150

# Imports point from a higher number to a lower one, or stay within a number.
LAYERS = {
    "model": 0,
    "errors": 0,
    "error_registry": 0,
    "clock": 0,
    "results": 0,
    "journal": 1,
    "tables": 2,
    "store": 3,
    "primitives": 4,
    "upkeep": 5,
    "engine": 5,
    "admin": 5,
    "tools": 6,
    "sdk": 7,
    "server": 7,
    "cli": 7,
}
PACKAGE_NAMES = ("strata_mcp", "stratadb")

HEAVY = {
    "duckdb",
    "lance",
    "lancedb",
    "litellm",
    "mcp",
    "networkx",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "rich",
    "typer",
}
MAY_IMPORT_HEAVY = ("strata_mcp.tools", "strata_mcp.server", "strata_mcp.cli")

BANNED_CALLS = {
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "os.urandom",
    "time.time",
    "time.time_ns",
    "uuid.uuid1",
    "uuid.uuid4",
}
BANNED_MODULES = ("random", "secrets")
MAY_READ_THE_WORLD = "strata_mcp.clock"

MAY_PRINT = ("strata_mcp.cli", "stratadb.demo", "stratadb.init")

# "module:function" of each handler that must catch everything, and why it must.
BROAD_HANDLERS: dict[str, str] = {
    "strata_mcp.server.app:call_tool": "a fault of ours must reach the log and the model, not end the server",
}

# Reached from outside the package: console scripts, `python -m`, and what users import.
ENTRY_POINTS = ("strata_mcp.cli", "strata_mcp.server", "stratadb")

SKIPPED_DIRECTORIES = {
    ".demo",
    ".git",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "build",
    "dist",
}
TEXT_SUFFIXES = {"", ".json", ".jsonl", ".md", ".py", ".sh", ".toml", ".txt", ".typed", ".yaml", ".yml"}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module: its dotted name, where, and whether importing the file imports it too."""

    target: str
    line: int
    at_import: bool
    typing_only: bool


@dataclass(slots=True)
class Module:
    """One parsed file of the package."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: list[Import] = field(default_factory=list)

    @property
    def layer(self) -> str:
        """First name below the package, or the package itself for its `__init__`."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else parts[0]

    def at(self, line: int) -> str:
        """Where something is, for a message."""
        return f"{self.path.relative_to(ROOT)}:{line}"


@cache
def modules() -> dict[str, Module]:
    """Every module of the packages by dotted name."""
    found: dict[str, Module] = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = list(path.relative_to(SRC).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        text = path.read_text(encoding="utf-8")
        found[".".join(parts)] = Module(".".join(parts), path, text, ast.parse(text))
    for module in found.values():
        module.imports = list(imports_of(module, set(found)))
    return found


def imports_of(module: Module, known: set[str]) -> Iterator[Import]:
    """Imports of a module, `from package import submodule` resolved to the submodule."""
    for node, inside, typing_only in walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, not inside, typing_only)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            targets = {f"{node.module}.{alias.name}" for alias in node.names} & known or {node.module}
            for target in sorted(targets):
                yield Import(target, node.lineno, not inside, typing_only)


def walk(node: ast.AST, inside: bool = False, typing_only: bool = False) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every node with: is it inside a function, is it under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        yield child, inside, typing_only
        nested = inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for part in child.body:
                yield part, inside, True
                yield from walk(part, inside, True)
            for part in child.orelse:
                yield part, inside, typing_only
                yield from walk(part, nested, typing_only)
        else:
            yield from walk(child, nested, typing_only)


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method of a module."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def code_lines(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function that are neither blank nor its docstring."""
    skipped: set[int] = set()
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        skipped.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = module.text.splitlines()
    span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return sum(1 for number in span if number not in skipped and lines[number - 1].strip())


def dotted_uses(module: Module) -> Iterator[tuple[str, int]]:
    """Dotted names a module uses, its import aliases resolved: `dt.now` becomes `datetime.datetime.now`."""
    names: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield f"{node.module}.{alias.name}", node.lineno
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            parts: list[str] = []
            value: ast.expr = node
            while isinstance(value, ast.Attribute):
                parts.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name) and value.id in names:
                yield ".".join([names[value.id], *reversed(parts)]), node.lineno


def enclosing_function(module: Module, line: int) -> str:
    """Name of the innermost function around a line."""
    around = [node for node in functions(module) if node.lineno <= line <= (node.end_lineno or line)]
    return max(around, key=lambda node: node.lineno).name if around else "<module>"


def broad_handlers() -> Iterator[tuple[str, str]]:
    """("module:function", place) of each handler that swallows everything; cleaning up and raising again is fine."""
    for module in modules().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and not raises_again(node):
                caught = ast.unparse(node.type) if node.type is not None else "BaseException"
                if re.search(r"\b(Base)?Exception\b", caught):
                    yield f"{module.name}:{enclosing_function(module, node.lineno)}", module.at(node.lineno)


def raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler ends in a plain `raise`."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def is_under(name: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a module is one of the prefixes or inside one."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


@cache
def text_files() -> dict[str, str]:
    """Every text file of the checkout by its relative path."""
    found: dict[str, str] = {}
    pending = [ROOT]
    while pending:
        for path in pending.pop().iterdir():
            if path.is_dir():
                generated = path.name.endswith(".egg-info") or path == ROOT / "benchmarks" / "results"
                if path.name not in SKIPPED_DIRECTORIES and not generated:
                    pending.append(path)
            elif path.suffix in TEXT_SUFFIXES and path.is_file():
                found[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    return found


def occurrences(pattern: str) -> list[str]:
    """`file:line: text` of every match in the checkout's text files."""
    regex = re.compile(pattern)
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in sorted(text_files().items())
        for number, line in enumerate(text.splitlines(), 1)
        if regex.search(line)
    ]


# ---- size ----


def test_modules_stay_small() -> None:
    """Ours: no module has more than 500 lines (the aim is 300; the test summary lists those above)."""
    long = {m.at(1): n for m in modules().values() if (n := len(m.text.splitlines())) > MODULE_LINES_MAX}
    assert long == {}


def test_functions_fit_on_a_screen() -> None:
    """Ours: no function has more than 70 lines besides its docstring and blank lines."""
    long = {
        f"{module.at(node.lineno)} {node.name}": size
        for module in modules().values()
        for node in functions(module)
        if (size := code_lines(module, node)) > FUNCTION_LINES_MAX
    }
    assert long == {}


# ---- imports ----


def test_imports_point_down() -> None:
    """Ours: a layer imports itself and lower layers only; `stratadb` stands on top of all."""
    wrong: list[str] = []
    for module in modules().values():
        if module.name in PACKAGE_NAMES or module.name.startswith("stratadb"):
            continue
        assert module.layer in LAYERS, f"{module.name}: give it a place in LAYERS (and in docs/architecture.md)"
        for item in module.imports:
            parts = item.target.split(".")
            if parts[0] == "stratadb":
                wrong.append(f"{module.at(item.line)} imports {item.target}")
            elif parts[0] == "strata_mcp" and len(parts) > 1:
                same = parts[1] == module.layer
                if not same and LAYERS.get(parts[1], 99) > LAYERS[module.layer]:
                    wrong.append(f"{module.at(item.line)} ({module.layer}) imports {item.target}")
    assert wrong == []


def test_imports_form_no_cycle() -> None:
    """Ours: no module imports itself by way of others when it is loaded."""
    graph = {
        module.name: {i.target for i in module.imports if i.at_import and not i.typing_only and i.target in modules()}
        for module in modules().values()
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name] - {name}):
                visit(target, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_no_relative_imports() -> None:
    """Ours: every import names its module in full."""
    wrong = [
        module.at(node.lineno)
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.level > 0
    ]
    assert wrong == []


def test_sdk_loads_without_tools() -> None:
    """Ours: the SDK reaches for the wire layer (pydantic) only when something needs it."""
    wrong = [
        module.at(item.line)
        for module in modules().values()
        if is_under(module.name, ("strata_mcp.sdk", "stratadb"))
        for item in module.imports
        if item.at_import and not item.typing_only and is_under(item.target, ("strata_mcp.tools", "strata_mcp.server"))
    ]
    assert wrong == []


def test_heavy_packages_load_lazily() -> None:
    """Ours: outside the surfaces a heavy package is imported inside the function that needs it."""
    wrong = [
        f"{module.at(item.line)} imports {item.target}"
        for module in modules().values()
        if not is_under(module.name, MAY_IMPORT_HEAVY)
        for item in module.imports
        if item.at_import and not item.typing_only and item.target.split(".")[0] in HEAVY
    ]
    assert wrong == []


def test_no_dead_modules() -> None:
    """Ours: every module is an entry point, or another module imports it or names it (`python -m`)."""
    used = {name for name in modules() if name in ENTRY_POINTS or name.startswith("stratadb.")}
    for module in modules().values():
        used.update(item.target for item in module.imports if item.target != module.name)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in modules():
                used.add(node.value)
    for name in list(used):
        parts = name.split(".")
        used.update(".".join(parts[:length]) for length in range(1, len(parts)))
    dead = [name for name in modules() if name not in used and not name.endswith(".__main__")]
    assert dead == []


# ---- calls ----


def test_only_the_clock_reads_the_world() -> None:
    """Ours: wall time, randomness and fresh ids come from `strata_mcp.clock`; nothing else replays."""
    wrong = [
        f"{module.at(line)} uses {name}"
        for module in modules().values()
        if module.name != MAY_READ_THE_WORLD
        for name, line in dotted_uses(module)
        if name in BANNED_CALLS or is_under(name, BANNED_MODULES)
    ]
    assert wrong == []


def test_only_surfaces_print() -> None:
    """Ours: stdout belongs to the protocol; only the CLI and the demo print."""
    wrong = [
        module.at(node.lineno)
        for module in modules().values()
        if not is_under(module.name, MAY_PRINT)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert wrong == []


def test_nothing_catches_everything() -> None:
    """Ours: only listed top-level handlers catch Exception; the list has no stale entries."""
    found = dict(broad_handlers())
    assert {place: where for place, where in found.items() if place not in BROAD_HANDLERS} == {}
    assert sorted(set(BROAD_HANDLERS) - set(found)) == []


def test_invariants_do_not_use_assert() -> None:
    """Ours: `python -O` must not remove a check from the package."""
    wrong = [
        module.at(node.lineno)
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assert)
    ]
    assert wrong == []


# ---- leftovers ----


def test_nothing_is_left_over() -> None:
    """Ours: no notes to self in what we ship."""
    assert occurrences(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b") == []


@pytest.mark.parametrize("root", ["home", "root", "tmp", "work", "Users"])
def test_no_file_names_a_path_of_one_machine(root: str) -> None:
    """Ours: nothing depends on, or tells about, the machine it was written on."""
    assert occurrences(rf"(?<![\w.}}*])/{root}/") == []


def test_no_file_names_a_registry() -> None:
    """Ours: where packages come from is the user's setting, not ours."""
    hosts = ["py" + r"pi\.org", "python" + r"hosted\.org", "npm" + r"js\.org", "deb" + r"ian\.org"]
    assert occurrences("|".join(hosts)) == []


# ---- documents ----


def test_readme_names_the_two_commands() -> None:
    """Ours: a fresh machine needs ./scripts/demo and ./scripts/test, and the README says so."""
    text = text_files()["README.md"]
    assert "./scripts/demo" in text
    assert "./scripts/test" in text


def test_agents_guide_is_short_and_linked() -> None:
    """Ours: AGENTS.md has at most 150 lines and CLAUDE.md points to it."""
    assert len(text_files()["AGENTS.md"].splitlines()) <= AGENTS_LINES_MAX
    assert "AGENTS.md" in text_files()["CLAUDE.md"]


def test_decision_records_are_numbered_once() -> None:
    """Ours: ADR numbers are unique, without gaps, and each record has the parts of the template."""
    records = {name: text for name, text in text_files().items() if re.match(r"docs/adr/\d{4}-[a-z0-9-]+\.md$", name)}
    numbers = sorted(int(Path(name).name[:4]) for name in records)
    assert numbers == list(range(1, len(numbers) + 1))
    parts = ["## Problem", "## Decision", "## Alternatives", "## Caveats", "## Testing", "## Impact"]
    assert {name: [part for part in parts if part not in text] for name, text in records.items()} == {
        name: [] for name in records
    }


def test_links_between_documents_lead_somewhere() -> None:
    """Ours: every relative link of a markdown file names a file that exists."""
    broken = [
        f"{name} -> {target}"
        for name, text in text_files().items()
        if name.endswith(".md")
        for target in re.findall(r"\]\(([^)#\s]+)", text)
        if "://" not in target and not (ROOT / name).parent.joinpath(target).exists()
    ]
    assert broken == []


def test_scripts_are_executable() -> None:
    """Ours: the README commands run as written."""
    scripts = [ROOT / "scripts" / name for name in ("demo", "test", "check", "bench")] + [ROOT / ".ci" / "run"]
    assert [path.name for path in scripts if not path.stat().st_mode & 0o100] == []
