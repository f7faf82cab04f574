"""The two command lines: the general one, and the one of a database."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Any, Literal

import typer
from typer.exceptions import TyperException

from strata_mcp import __version__
from strata_mcp.cli import GENERAL
from strata_mcp.cli.commands import add_operations
from strata_mcp.cli.session import Session
from strata_mcp.cli.settings import KEYS, check_key, read_settings, write_setting
from strata_mcp.cli.show import STATUS_HELP, show, show_error
from strata_mcp.errors import StrataError, catalog

app = typer.Typer(
    name="strata",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Strata keeps an agent's state: keys, documents, branches, and every moment of their past. "
    "Commands of a database: strata DATABASE FAMILY VERB, for instance strata ./app-data kv put greeting hello. "
    "strata DATABASE --help lists the families. " + STATUS_HELP,
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


def run(arguments: list[str]) -> int:
    """Run a command line; its exit status."""
    is_completing = "_STRATA_COMPLETE" in os.environ
    if is_completing or not arguments or arguments[0] in GENERAL or _is_general_option(arguments[0]):
        return _run(app, arguments, {})
    place = {"database": arguments[0], "is_cache": arguments[0] == "--cache"}
    return _run(database_app, arguments[1:], place)


def _is_general_option(word: str) -> bool:
    return word.startswith("-") and word != "--cache"


def _run(chosen: typer.Typer, arguments: list[str], place: dict[str, Any]) -> int:
    try:
        status = chosen(arguments, standalone_mode=False, obj=place, prog_name=_program(place))
    except StrataError as error:
        return show_error(error, as_json="--json" in arguments)
    except typer.Abort:
        return 130
    except TyperException as error:
        words: Any = error
        words.show()
        return int(words.exit_code)
    return status if isinstance(status, int) else 0


def _program(place: dict[str, Any]) -> str:
    return f"strata {place['database']}" if place else "strata"


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
    write_setting(key, value)


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
    from strata_mcp.clock import to_micros

    settings = read_settings()
    instant = None
    if as_of_time is not None:
        instant = int(as_of_time) if as_of_time.isdecimal() else to_micros(as_of_time)
    context.obj = Session(
        **context.obj,
        durability=durability or settings.get("durability", "standard"),
        branch=branch or settings.get("branch", "default"),
        space=space or settings.get("space", "default"),
        as_of=as_of,
        as_of_time=instant,
        author=author,
        message=message,
        as_json=as_json,
    )


@mcp_app.command("serve")
def serve(context: typer.Context) -> None:
    """Serve over stdin and stdout until the client goes away; commits are durable unless --durability says else."""
    session: Session = context.obj
    from strata_mcp.server import folder_of
    from strata_mcp.server.stdio import serve as serve_stdio

    durability = "standard" if session.durability == "standard" and "--durability" in sys.argv else "always"
    status = serve_stdio(folder_of(session.database), durability=durability, branch=session.branch, space=session.space)
    raise typer.Exit(status)
