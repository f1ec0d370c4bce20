"""`eidet serve`, and `eidet keys api` for its callers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput, MissingExtra
from ..core.settings import change_settings
from .memory_options import AsJson, Which, command
from .show import emit

if TYPE_CHECKING:
    from ..server.server_settings import ServerSettings

_KeysFile = Annotated[
    Path, Option("--keys", envvar="EIDET_KEYS", metavar="FILE", help="The keys file, in TOML.")
]
_KEYS_FILE = Path("eidet-keys.toml")


commands: Final = typer.Typer()


@command(commands, scoped=False)
def _serve(
    on: Which,
    host: Annotated[
        str, Option(help="Address to listen on; others than loopback need --keys.")
    ] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65_535)] = 8765,
    keys: Annotated[
        Path | None,
        Option(envvar="EIDET_KEYS", metavar="FILE", help="Callers and their keys: `eidet keys api`."),
    ] = None,
    workers: Annotated[int, Option(min=1, help="Processes; each opens the memory.")] = 1,
    tls_cert: Annotated[Path | None, Option(metavar="PEM", help="Certificate chain.")] = None,
    tls_key: Annotated[Path | None, Option(metavar="PEM", help="Its private key.")] = None,
    allow_host: Annotated[
        list[str] | None, Option(metavar="NAME", help="A name clients call it by. Repeatable.")
    ] = None,
    cors_origin: Annotated[
        list[str] | None, Option(metavar="ORIGIN", help="A web page that may call it. Repeatable.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        Option(metavar="ADDRESS", help="A proxy whose X-Forwarded headers count. Repeatable."),
    ] = None,
    upload_mb: Annotated[int, Option(min=1, help="The largest export to load.")] = 1000,
    public_url: Annotated[
        str | None, Option(metavar="URL", help="How clients reach it, if a proxy stands before it.")
    ] = None,
    log_json: Annotated[bool, Option("--log-json", help="Log lines of JSON.")] = False,
    log_content: Annotated[
        bool,
        Option(
            "--log-content",
            envvar="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
            help="Logs and spans may hold queries and texts.",
        ),
    ] = False,
) -> None:
    """Serve it over HTTP: dashboard, REST, MCP and metrics.

    /docs documents what it offers. Ctrl-C stops it.
    """
    on.check_local("serve", "clients reach the memory there already")
    try:
        from ..server.serve import Opening
        from ..server.serve import serve as run
        from ..server.server_settings import MEGABYTE, ServerSettings
        from ..server.webhooks import read_webhooks
    except ImportError as error:
        raise MissingExtra("`eidet serve`", extra="server") from error

    chosen = ServerSettings(
        host=host,
        port=port,
        keys=keys,
        workers=workers,
        tls_cert=tls_cert,
        tls_key=tls_key,
        allow_hosts=tuple(allow_host or ()),
        cors_origins=tuple(cors_origin or ()),
        proxies=tuple(proxy or ()),
        upload_bytes=upload_mb * MEGABYTE,
        public_url=public_url,
        log_json=log_json,
        log_content=log_content,
        webhooks=() if on.config is None else read_webhooks(on.config),
    )
    chosen.check()
    settings = change_settings(on.settings(), language=on.language)
    opening = Opening(place=on.at, embedder=on.embedder, settings=settings, server=chosen)
    run(opening, partial(tell_addresses, chosen, on.at))


def tell_addresses(server: ServerSettings, place: str, port: int) -> None:
    """Prints the addresses of a server that listens on `port`, and how to stop it."""
    scheme = "http" if server.tls_cert is None else "https"
    host = f"[{server.host}]" if ":" in server.host else server.host
    base = f"{scheme}://{host}:{port}"
    if server.keys is None:
        access = "no key is needed: only this machine reaches it"
    else:
        access = f"callers need a key of {server.keys}"
    lines = (
        f"serving {hide_login(place)}",
        f"  dashboard      {base}/",
        f"  REST           {base}/v1",
        f"  MCP            {base}/mcp",
        f"  metrics        {base}/metrics",
        f"  documentation  {base}/docs",
        access,
        "stop it with Ctrl-C",
    )
    typer.echo("\n".join(lines), err=True)


def hide_login(place: str) -> str:
    """Returns an address without user and password."""
    from ..net.url import split_url

    return place if "://" not in place else str(split_url(place))


def api(
    name: Annotated[str | None, Argument(metavar="[NAME]", help="The caller; without one, list all.")] = None,
    scopes: Annotated[
        list[str] | None,
        Option("--scopes", metavar="SCOPE", help="A scope and all below; ** is all. Repeatable."),
    ] = None,
    rights: Annotated[
        list[str] | None, Option("--rights", metavar="RIGHT", help="Of read, write, forget, admin, agents.")
    ] = None,
    revoke: Annotated[
        bool, Option("--revoke", help="Take the key away; a running server refuses it at once.")
    ] = False,
    keys: _KeysFile = _KEYS_FILE,
    json: AsJson = False,
) -> None:
    """Make, take away or list the keys of callers of `eidet serve`.

    A key is shown once; the file keeps a hash of it.
    """
    try:
        from ..server.access import add_key, remove_key
    except ImportError as error:
        raise MissingExtra("`eidet keys api`", extra="server") from error

    if name is None:
        _list_callers(keys, json=json)
    elif revoke:
        remove_key(keys, name)
        typer.echo(f"revoked {name} in {keys}", err=True)
    elif not scopes or not rights:
        raise BadInput("say where the caller may do what: --scopes acme --rights read,write")
    else:
        typer.echo(add_key(keys, name, _split_words(scopes), _split_words(rights)))
        typer.echo(f"added {name} to {keys}; the key is shown only this once", err=True)


def _split_words(said: list[str]) -> list[str]:
    """Splits values, which may be repeated or separated by commas."""
    return [word.strip() for one in said for word in one.split(",") if word.strip()]


def _list_callers(keys: Path, *, json: bool) -> None:
    from ..server.access import list_keys

    for key in list_keys(keys):
        caller = key.caller
        if json:
            emit({"name": caller.name, "scopes": list(caller.scopes), "rights": sorted(caller.rights)})
        else:
            typer.echo(f"{caller.name}: {', '.join(sorted(caller.rights))} in {', '.join(caller.scopes)}")
