"""The two command lines: the general one, and the one of a database."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.exceptions import TyperException

from strata_mcp import __version__
from strata_mcp.cli import GENERAL
from strata_mcp.cli.commands import add_operations
from strata_mcp.cli.completion import complete
from strata_mcp.cli.session import Session, instant
from strata_mcp.cli.settings import KEYS, check_key, read_settings, write_setting
from strata_mcp.cli.show import STATUS_HELP, show, show_error
from strata_mcp.errors import StrataError, catalog, fail
from strata_mcp.server import folder_of

GENERAL_OPTIONS = ("--help", "--version", "--install-completion", "--show-completion")
app = typer.Typer(
    name="strata",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Strata keeps an agent's state: keys, documents, branches, and every moment of their past. "
    "Commands of a database: strata DATABASE FAMILY VERB, for instance strata ./app-data kv put greeting hello. "
    "strata DATABASE --help lists the families. Without DATABASE it is STRATA_DB, or the setting default_db; "
    "strata --cache is one in memory. " + STATUS_HELP,
)
agents = typer.Typer(no_args_is_help=True, help="What an agent should know: the guide, the errors, the commands.")
config = typer.Typer(no_args_is_help=True, help="Settings of the user: " + ", ".join(KEYS) + ".")
app.add_typer(agents, name="agents")
app.add_typer(config, name="config")

database_app = typer.Typer(
    name="strata DATABASE", no_args_is_help=True, rich_markup_mode=None, add_completion=False, help=STATUS_HELP
)
mcp_app = typer.Typer(no_args_is_help=True, help="Serve the database to MCP clients.")
database_app.add_typer(mcp_app, name="mcp")
add_operations(database_app)
FAMILIES = frozenset(str(group.name) for group in database_app.registered_groups)


def run(arguments: list[str]) -> int:
    """Run a command line; its exit status."""
    if "_STRATA_COMPLETE" in os.environ:
        return complete(app, database_app, GENERAL, FAMILIES)
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        return _route(arguments)
    except StrataError as error:
        return show_error(error, as_json=as_json)
    except typer.Abort:
        return 130
    except TyperException as error:
        words: Any = error
        if as_json:
            hint = "Put --help at the end of the command to see what it takes."
            return show_error(fail("invalid_argument.sdk.command", words.format_message(), hint=hint), as_json=True)
        words.show()
        return int(words.exit_code)


def _route(arguments: list[str]) -> int:
    """Run the general command line, or the one of the database that is named or usual."""
    first = arguments[0] if arguments else "--help"
    if not arguments or first in GENERAL or first.partition("=")[0] in GENERAL_OPTIONS:
        return _run(app, arguments, {})
    if first in FAMILIES or (first.startswith("-") and first != "--cache"):
        return _run(database_app, arguments, {"database": _usual_database(first), "is_cache": False})
    return _run(database_app, arguments[1:], {"database": first, "is_cache": first == "--cache"})


def _usual_database(first: str) -> str:
    usual = os.environ.get("STRATA_DB") or read_settings().get("default_db")
    if usual:
        return usual
    raise fail(
        "invalid_argument.cli.no_database",
        f"no database is named in front of {first}",
        hint="Name it: strata ./app-data kv list. Or set STRATA_DB, or strata config set default_db ./app-data."
        + ("" if first.startswith("-") else f" A database called {first} is ./{first}."),
    )


def _run(chosen: typer.Typer, arguments: list[str], place: dict[str, Any]) -> int:
    program = f"strata {place['database']}" if place else "strata"
    status = chosen(arguments, standalone_mode=False, obj=place, prog_name=program)
    return status if isinstance(status, int) else 0


@app.callback(invoke_without_command=True)
def general(version: Annotated[bool, typer.Option("--version", help="print the version")] = False) -> None:
    """Print the version when asked to."""
    if version:
        sys.stdout.write(f"strata {__version__}\n")


@app.command()
def init(path: Annotated[str, typer.Argument(help="the repository")] = ".") -> None:
    """Write a skill and short notes for agents into a repository, or bring them up to date."""
    from strata_mcp.sdk import init as scaffold

    for name, action in scaffold(path):
        sys.stdout.write(f"{action} {name}\n")


@agents.command()
def guide() -> None:
    """Print the guide for agents that drive a database."""
    from strata_mcp.sdk import agents_guide

    sys.stdout.write(agents_guide())


@agents.command()
def errors() -> None:
    """Print every error code as JSON: what happened, what to do, whether to try again."""
    sys.stdout.write(json.dumps(catalog(), indent=2) + "\n")


@agents.command()
def commands() -> None:
    """Print every command as JSON: its fields, its result and its errors."""
    from strata_mcp.tools.index import command_index

    sys.stdout.write(json.dumps(command_index(), indent=2) + "\n")


@config.command("get")
def config_get(key: Annotated[str | None, typer.Argument(help="a setting; all of them without it")] = None) -> None:
    """Print one setting, or all."""
    settings = read_settings()
    if key is None:
        raise typer.Exit(show(settings, as_json=True))
    check_key(key)
    raise typer.Exit(show({"found": key in settings, "value": {"value": settings.get(key)}}, as_json=False))


@config.command("set")
def config_set(key: str, value: str) -> None:
    """Change one setting."""
    write_setting(key, str(folder_of(value, Path.cwd())) if key == "default_db" else value)


@database_app.callback()
def database(
    context: typer.Context,
    branch: Annotated[str | None, typer.Option(help="branch for commands that name none")] = None,
    space: Annotated[str | None, typer.Option(help="space for commands that name none")] = None,
    as_of: Annotated[int | None, typer.Option(help="read as it was at this commit number")] = None,
    as_of_time: Annotated[str | None, typer.Option(help="read as it was then: ISO 8601 or UTC microseconds")] = None,
    author: Annotated[str | None, typer.Option(help="who signs the commit")] = None,
    message: Annotated[str | None, typer.Option(help="what the commit is for")] = None,
    durability: Annotated[Literal["always", "standard"] | None, typer.Option(help="how commits are kept")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON, errors too")] = False,
) -> None:
    """Open a database for one command."""
    settings = read_settings()
    context.obj = Session(
        **context.obj,
        durability=durability,
        usual_durability=settings.get("durability", "standard"),
        branch=branch or settings.get("branch", "default"),
        space=space or settings.get("space", "default"),
        as_of=as_of,
        as_of_time=None if as_of_time is None else instant(as_of_time),
        author=author,
        message=message,
        as_json=as_json,
    )


@mcp_app.command("serve")
def serve(context: typer.Context) -> None:
    """Serve over stdin and stdout until the client goes away; commits are durable unless --durability says else."""
    session: Session = context.obj
    raise typer.Exit(session.serve())
