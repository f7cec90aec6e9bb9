"""What REDIS_URL says: one server, a socket, a master that Sentinels know, or a cluster; and how to log in there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from core.errors import Misconfigured

FORMS = (
    "It looks like redis://localhost:6379/0, unix:///path/to/socket, redis+sentinel://host:26379,host:26379/master or "
    "redis+cluster://host:6379,host:6379; with TLS rediss://, rediss+sentinel:// or rediss+cluster://. "
    "Percent-encode special characters in a password."
)
PORT, SENTINEL_PORT = 6379, 26379
LARGEST_PORT = 65_535
# The standard library refuses an address in brackets behind other hosts.
PARTS = re.compile(r"(?P<scheme>[\w+]+):(?://(?P<place>[^/?#]*))?(?P<path>[^@?#]*)(?:\?(?P<query>[^#]*))?")
HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+(?:%\w+)?\]|[^\s:@\[\]/,]+)?(?::(?P<port>\d{1,5}))?")

LOGIN = frozenset({"username", "password"})
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
TLS = frozenset({*FILES, "ssl_cert_reqs", "ssl_check_hostname"})

Host: TypeAlias = tuple[str, int]
Parts: TypeAlias = Mapping[str, str]


class Form(Enum):
    """The kinds of place; the value is what their names have after `redis` or `rediss`."""

    SERVER = ""
    SENTINEL = "+sentinel"
    CLUSTER = "+cluster"
    SOCKET = "unix"


SCHEMES: Mapping[str, tuple[Form, bool]] = {
    Form.SOCKET.value: (Form.SOCKET, False),
    **{f"redis{form.value}": (form, False) for form in (Form.SERVER, Form.SENTINEL, Form.CLUSTER)},
    **{f"rediss{form.value}": (form, True) for form in (Form.SERVER, Form.SENTINEL, Form.CLUSTER)},
}
"""The form that each scheme stands for, and whether it has TLS."""

OPTIONS = {
    Form.SERVER: LOGIN | {"db"},
    Form.SENTINEL: LOGIN | {"db", "sentinel_username", "sentinel_password"},
    Form.CLUSTER: LOGIN,
    Form.SOCKET: LOGIN | {"db"},
}


@dataclass(frozen=True, slots=True)
class Login:
    """Who we are to a server; never shown."""

    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """How the other side proves who it is: by the system's CAs or by the one in a file, unless that is told off.

    The names are those of the client's options.
    """

    ssl_ca_certs: str | None = None
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None
    ssl_cert_reqs: str = "required"
    ssl_check_hostname: bool = True


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed REDIS_URL; `master` is the name that Sentinels know it by."""

    form: Form
    hosts: tuple[Host, ...] = ()
    path: str = ""
    master: str = ""
    db: int = 0
    login: Login = Login()
    sentinel_login: Login = Login()
    tls: Tls | None = None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Read *url*; the refusal says what is wrong with it and quotes nothing of it, as it may hold a password."""
        parts = _split(url)
        form, has_tls = SCHEMES[parts["scheme"]]
        options = _options(parts, form, has_tls=has_tls)
        userinfo, _, netloc = parts["place"].rpartition("@")
        username, _, password = userinfo.partition(":")
        if form is Form.SOCKET and (netloc or parts["path"] in ("", "/")):
            raise _refusal("has no path to a socket; that begins with a slash, so that there are three in a row")
        master, db = _master_and_db(parts, form, options)
        return cls(
            form=form,
            hosts=_hosts(netloc, form),
            path=unquote(parts["path"]) if form is Form.SOCKET else "",
            master=master,
            db=db,
            login=Login(
                unquote(username) or options.get("username") or None,
                unquote(password) or options.get("password") or None,
            ),
            sentinel_login=Login(options.get("sentinel_username") or None, options.get("sentinel_password") or None),
            tls=_tls(options) if has_tls else None,
        )

    def __str__(self) -> str:
        """Return where it is, without anything secret."""
        hosts = ", ".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)
        database = f", database {self.db}" if self.db else ""
        match self.form:
            case Form.SOCKET:
                return f"{self.path}{database}"
            case Form.SENTINEL:
                place = f"master {self.master} of the Sentinels at {hosts}{database}"
            case Form.CLUSTER:
                place = f"the cluster at {hosts}"
            case Form.SERVER:
                place = f"{hosts}{database}"
        if self.tls is None:
            return place
        how = "" if self.tls.ssl_check_hostname else " (the name in the certificate is not checked)"
        if self.tls.ssl_cert_reqs == "none":
            how = " (the certificate is not verified)"
        return f"{place} with TLS{how}"


def _refusal(what: str) -> Misconfigured:
    return Misconfigured(f"REDIS_URL {what}. {FORMS}")


def _split(url: str) -> Parts:
    found = PARTS.fullmatch(url.strip())
    parts = found.groupdict("") if found else {"scheme": ""}
    parts["scheme"] = parts["scheme"].lower()
    if parts["scheme"] not in SCHEMES or not (parts["place"] or parts["scheme"] == Form.SOCKET.value):
        raise _refusal("is not an address")
    return parts


def _options(parts: Parts, form: Form, *, has_tls: bool) -> Mapping[str, str]:
    """Read what stands after the question mark; a plus stays a plus, as passwords have them."""
    allowed = OPTIONS[form] | TLS if has_tls else OPTIONS[form]
    pairs = (pair.partition("=") for pair in parts["query"].split("&") if pair)
    options = {unquote(name): unquote(value) for name, _, value in pairs}
    if options.keys() - allowed:  # not named: after an unencoded question mark it may be the rest of a password
        raise _refusal(f"has an option that does not belong there; these do: {', '.join(sorted(allowed))}")
    return options


def _hosts(netloc: str, form: Form) -> tuple[Host, ...]:
    if form is Form.SOCKET:
        return ()
    hosts, default = list[Host](), SENTINEL_PORT if form is Form.SENTINEL else PORT
    for name in netloc.split(",") if form in (Form.SENTINEL, Form.CLUSTER) else [netloc]:
        found = HOST.fullmatch(name)
        port = int(found["port"] or default) if found else 0
        if not found or not 0 < port <= LARGEST_PORT:
            raise _refusal("has a host or a port that cannot be read")
        hosts.append((unquote(found["host"] or "localhost").strip("[]"), port))
    return tuple(hosts)


def _master_and_db(parts: Parts, form: Form, options: Mapping[str, str]) -> tuple[str, int]:
    """Take what follows the hosts apart: `/db`, or with Sentinels `/master/db`; a socket has neither."""
    names = [] if form is Form.SOCKET else parts["path"].removeprefix("/").split("/")
    master = unquote(names.pop(0)) if form is Form.SENTINEL else ""
    if form is Form.SENTINEL and not master:
        raise _refusal("lacks the name of the master, which follows the Sentinels after a slash")
    text = options.get("db") or "/".join(names)
    if text and not (text.isascii() and text.isdigit()):
        raise _refusal("has a database that is not a number")
    if form is Form.CLUSTER and int(text or 0):
        raise _refusal("names a database; a cluster has only the one without a number")
    return master, int(text or 0)


def _tls(options: Mapping[str, str]) -> Tls:
    for name in FILES:
        if name in options and not Path(options[name]).is_file():
            raise Misconfigured(f"The file that {name} in REDIS_URL names is not there. Write its full path.")
    if options.get("ssl_cert_reqs", "required") not in ("required", "none"):
        raise Misconfigured("ssl_cert_reqs in REDIS_URL is either required, which is the default, or none.")
    if options.get("ssl_check_hostname", "true") not in ("true", "false"):
        raise Misconfigured("ssl_check_hostname in REDIS_URL is either true, which is the default, or false.")
    given: dict[str, str] = {name: options[name] for name in (*FILES, "ssl_cert_reqs") if name in options}
    return Tls(**given, ssl_check_hostname=options.get("ssl_check_hostname") != "false")
