"""The command line: reads words and options, and leaves the work to `bot/commands`.

Only what `--help` needs is imported at once: what is behind the commands takes longer to load, and an error or Ctrl-C
while it loads is reported like any other.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from bot.outcome import report
from bot.roles import Role

Options = ParamSpec("Options")

group = partial(typer.Typer, no_args_is_help=True, rich_markup_mode=None)
app = group(
    name="footnote", help="Answers questions from your own documents, with footnotes.", pretty_exceptions_enable=False
)
inbox = group(help="Manage failed questions.")
communities = group(help="Say who may use the bot.")
sources = group(help="See which documents there are, keep them up to date, and say who may read them.")
app.add_typer(inbox, name="inbox")
app.add_typer(communities, name="communities")
app.add_typer(sources, name="sources")

TopK = Annotated[int | None, typer.Option("--top-k", help="How many passages a search gives, 1 to 20.")]
Threshold = Annotated[float | None, typer.Option("--threshold", help="Ignore passages below this relevance, 0 to 1.")]
Chapters = Annotated[list[str] | None, typer.Option("--chapter", help="Search only this chapter; may be repeated.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Ref = Annotated[str, typer.Argument(metavar="REF", help="Which question: its REF, or the beginning of it.")]
AnyRef = Annotated[str | None, typer.Argument(metavar="REF", help="Which question; not needed with --all.")]
Every = Annotated[bool, typer.Option("--all", help="Do it for all of them.")]
CommunityName = Annotated[str, typer.Argument(metavar="COMMUNITY", help="Such as discord:81384788765712384.")]
SourceName = Annotated[str, typer.Argument(metavar="SOURCE", help="Which source, by its name in the list.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Where the pages are published; links go there.")]
Macros = Annotated[list[str] | None, typer.Option("--macro", help="What {NAME} stands for in .rst files: NAME=WORDS.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing if nothing has changed.")]
Sources = Annotated[list[str] | None, typer.Option("--source", help="Search only this source; may be repeated.")]


def command(of: typer.Typer, name: str | None = None) -> Callable[[Callable[Options, int]], Callable[Options, None]]:
    """Add a command that ends with its exit code, and its errors as a sentence, or as JSON if `as_json` says so."""

    def add(does: Callable[Options, int]) -> Callable[Options, None]:
        @of.command(name)
        @wraps(does)
        def run(*args: Options.args, **options: Options.kwargs) -> None:
            raise typer.Exit(report(partial(does, *args, **options), as_json=bool(options.get("as_json"))))

        return run

    return add


def tell_version(wanted: bool) -> None:
    """Print the version and end, where that is *wanted*."""
    if wanted:
        from bot.version import version

        typer.echo(f"footnote {version()}")
        raise typer.Exit


@app.callback()
def footnote(
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Answers questions from your own documents, with footnotes."""


@command(app)
def init() -> int:
    """Ask for tokens, a model and documents, write .env and check it."""
    from bot.commands.init import set_up

    return set_up()


@command(app)
def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="SOURCE...", help="Folders and files to read.")],
    base_url: BaseUrl = None,
    source: Annotated[str | None, typer.Option("--source", help="What to call it; default: the folder's name.")] = None,
    macro: Macros = None,
    quiet: Quiet = False,
) -> int:
    """Read documents into the index. Only what has changed is read again."""
    from bot.commands.ingest import ingest_sources

    return ingest_sources(paths, base_url=base_url, name=source, quiet=quiet, macros=macro or ())


@command(app)
def calibrate(keep: Annotated[bool, typer.Option("--keep", help="Use it from now on.")] = False) -> int:
    """Measure where relevance begins with the documents that were read, and print the curve."""
    from bot.commands.calibrate import calibrate as measure

    return measure(keep=keep)


@command(app)
def ask(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    words: Annotated[
        list[str], typer.Argument(metavar="QUESTION...", help="What you want to know, with or without quotes.")
    ],
    thread: Annotated[str | None, typer.Option("--thread", help="Continue the conversation with this name.")] = None,
    selection: Annotated[str | None, typer.Option("--selection", help="Answer only from this text.")] = None,
    top_k: TopK = None,
    threshold: Threshold = None,
    chapter: Chapters = None,
    source: Sources = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as one JSON object.")] = False,
) -> int:
    """Answer one question."""
    from bot.commands.ask import AskOptions, ask_once

    asked = AskOptions(" ".join(words), thread, selection, top_k, threshold, tuple(chapter or ()), tuple(source or ()))
    return ask_once(asked, as_json=as_json)


@command(app)
def chat(
    thread: Annotated[str, typer.Option("--thread", help="Which conversation to continue.")] = "chat",
    top_k: TopK = None,
    threshold: Threshold = None,
    chapter: Chapters = None,
    source: Sources = None,
) -> int:
    """Have a conversation. /help shows what you can type besides questions."""
    from bot.commands.ask import AskOptions, converse

    return converse(AskOptions("", thread, None, top_k, threshold, tuple(chapter or ()), tuple(source or ())))


@command(app)
def evaluate(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="A file with one JSON case per line.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page with plots too.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="RUN", help="Compare with an earlier report that --json printed."),
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", min=0, help="By how much a measure may be worse before the exit code is 1.")
    ] = 0.05,
    make: Annotated[
        int, typer.Option("--make", metavar="NUMBER", min=0, help="Draft so many cases into CASES, and ask nothing.")
    ] = 0,
) -> int:
    """Run test questions and print how good the answers are."""
    from bot.commands.evaluate import Reporting, draft_cases, evaluate_cases

    if make:
        return draft_cases(cases, make)
    return evaluate_cases(cases, Reporting(as_json, html, against, margin))


@command(app)
def run(
    roles: Annotated[
        list[Role] | None,
        typer.Argument(metavar="[ROLE]...", help="What this process does; without any, everything that is configured."),
    ] = None,
) -> int:
    """Run the bot. The first Ctrl-C or SIGTERM lets it finish what is being answered, the second one stops it."""
    from bot.app import run_bot

    return run_bot(roles or ())


@command(app)
def doctor() -> int:
    """Check the settings and every service, and say what to do."""
    from bot.commands.doctor import examine

    return examine()


@command(app)
def move() -> int:
    """Copy everything from the data folder to the Qdrant and Redis servers in the settings."""
    from bot.commands.move import move

    return move()


@command(app)
def docs(page: Annotated[str | None, typer.Argument(metavar="PAGE", help="Which one; default: a list.")] = None) -> int:
    """Print a page of the documentation."""
    from bot.commands.pages import show_page

    return show_page(page)


@command(app)
def manifest(
    http: Annotated[
        str | None, typer.Option("--http", metavar="ADDRESS", help="For an app that Slack calls at this address.")
    ] = None,
) -> int:
    """Print the manifest for a Slack app."""
    from bot.commands.pages import show_manifest

    return show_manifest(http)


@command(app)
def resume(
    workspace: Annotated[
        str, typer.Argument(metavar="WORKSPACE", help="Which server or workspace, as footnote doctor names it.")
    ],
    confirm: Annotated[bool, typer.Option("--confirm", help="Do it, and lose what was set.")] = False,
) -> int:
    """Start over if the moderators' settings cannot be read."""
    from bot.commands.doctor import resume_workspace

    return resume_workspace(workspace, is_confirmed=confirm)


@command(inbox, "list")
def list_letters(as_json: AsJson = False) -> int:
    """List the failed questions, with the reasons."""
    from bot.commands import inbox

    return inbox.do("list", as_json=as_json)


@command(inbox)
def show(ref: Ref, as_json: AsJson = False) -> int:
    """Show everything that is known about a question, with its text if that is still stored."""
    from bot.commands import inbox

    return inbox.do("show", ref, as_json=as_json)


@command(inbox)
def retry(ref: AnyRef = None, every: Every = False, as_json: AsJson = False) -> int:
    """Try a question again, or all of them."""
    from bot.commands import inbox

    return inbox.do("retry", ref, every=every, as_json=as_json)


@command(inbox)
def drop(ref: AnyRef = None, every: Every = False, as_json: AsJson = False) -> int:
    """Delete a question, including its text, or all of them."""
    from bot.commands import inbox

    return inbox.do("drop", ref, every=every, as_json=as_json)


@command(communities, "list")
def list_communities(as_json: AsJson = False) -> int:
    """List the servers and workspaces that may use the bot, with what each sees, and those waiting for permission."""
    from bot.commands import communities

    return communities.do("list", as_json=as_json)


@command(communities)
def allow(
    community: CommunityName,
    first: Annotated[bool, typer.Option("--first", help="Give it all documents that you have not shared.")] = False,
) -> int:
    """Let a server or workspace use the bot."""
    from bot.commands import communities

    return communities.do("allow as first" if first else "allow", community)


@command(communities)
def remove(community: CommunityName) -> int:
    """Stop a server or workspace from using the bot."""
    from bot.commands import communities

    return communities.do("remove", community)


@command(sources, "list")
def list_sources(as_json: AsJson = False) -> int:
    """List the sources, with who may read each."""
    from bot.commands import sources

    return sources.list_sources(as_json=as_json)


@command(sources, "show")
def show_source(name: SourceName, as_json: AsJson = False) -> int:
    """Print everything that is known about a source: where it comes from, when it was read, and what failed."""
    from bot.commands import sources

    return sources.show(name, as_json=as_json)


@command(sources, "add")
def add_source(  # noqa: PLR0913, PLR0917 - each is an option of the command line
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="A folder, a file, or a website's address.")],
    name: Annotated[str | None, typer.Option("--name", help="What to call it; default: its folder or host.")] = None,
    base_url: BaseUrl = None,
    page: Annotated[bool, typer.Option("--page", help="Read only this page of a website.")] = False,
    macro: Macros = None,
    every: Annotated[str, typer.Option("--every", help="How often the bot reads it by itself: 6h.")] = "never",
    as_json: AsJson = False,
) -> int:
    """Add a new source and read it. For a website, the pages below the address are read."""
    from bot.commands import sources
    from bot.wiring.documents import origin_of

    origin = origin_of(address, base_url, alone=page, every=sources.seconds_in(every), macros=macro or ())
    return sources.add(origin, name=name, as_json=as_json)


@command(sources, "sync")
def sync_sources(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE]...", help="Which; default: all.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> int:
    """Bring sources up to date: only what has changed is read, and what has gone is removed."""
    from bot.commands import sources

    return sources.sync(names or (), quiet=quiet, as_json=as_json)


@command(sources, "remove")
def remove_source(name: SourceName, as_json: AsJson = False) -> int:
    """Remove a source at once, with everything that was read from it."""
    from bot.commands import sources

    return sources.remove(name, as_json=as_json)


@command(sources)
def share(
    name: SourceName,
    communities: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="COMMUNITY", help="A server or workspace that may read it; may be repeated."),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Everybody may read it.")] = False,
    nobody: Annotated[bool, typer.Option("--nobody", help="Nobody but you, here, may read it.")] = False,
) -> int:
    """Say who may read a source; this replaces what was set before."""
    from bot.commands import sources

    return sources.share(name, communities or (), everyone=everyone, nobody=nobody)


def main() -> None:
    """Run the command line; what a terminal cannot show is replaced, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="footnote")
