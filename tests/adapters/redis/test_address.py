"""REDIS_URL: every form that is read, and refusals that give nothing of it away."""

from __future__ import annotations

import traceback
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.redis.address import Address, Form, Login, Tls
from core.errors import Misconfigured
from tests.portion import examples

ME = Login("me", "a b/c+d@e%")
HOSTS = (("one", 26379), ("::1", 26380))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis://localhost:6379/0", Address(Form.SERVER, (("localhost", 6379),))),
        (" redis://localhost\n", Address(Form.SERVER, (("localhost", 6379),))),
        ("redis://:secret@/3", Address(Form.SERVER, (("localhost", 6379),), db=3, login=Login(None, "secret"))),
        ("redis://me@h?db=3", Address(Form.SERVER, (("h", 6379),), db=3, login=Login("me", None))),
        ("redis://me:a%20b%2Fc+d%40e%25@h:1", Address(Form.SERVER, (("h", 1),), login=ME)),
        ("redis://h:1?username=me&password=a%20b%2Fc+d%40e%25", Address(Form.SERVER, (("h", 1),), login=ME)),
        ("redis://[2001:db8::1]:7/1", Address(Form.SERVER, (("2001:db8::1", 7),), db=1)),
        ("redis://[fe80::1%25eth0]", Address(Form.SERVER, (("fe80::1%eth0", 6379),))),
        ("rediss://h", Address(Form.SERVER, (("h", 6379),), tls=Tls())),
        ("rediss://h?ssl_cert_reqs=none", Address(Form.SERVER, (("h", 6379),), tls=Tls(ssl_cert_reqs="none"))),
        (
            "rediss://h?ssl_check_hostname=false",
            Address(Form.SERVER, (("h", 6379),), tls=Tls(ssl_check_hostname=False)),
        ),
        ("unix:///a%20b/s.sock", Address(Form.SOCKET, path="/a b/s.sock")),
        ("unix://me:x@/s?db=2", Address(Form.SOCKET, path="/s", db=2, login=Login("me", "x"))),
        ("redis+sentinel://one,[::1]:26380/m", Address(Form.SENTINEL, HOSTS, master="m")),
        (
            "rediss+sentinel://me:x@one,[::1]:26380/my%2Fmaster/2?sentinel_username=it&sentinel_password=y%26z",
            Address(
                Form.SENTINEL,
                HOSTS,
                master="my/master",
                db=2,
                login=Login("me", "x"),
                sentinel_login=Login("it", "y&z"),
                tls=Tls(),
            ),
        ),
        ("redis+cluster://a,b:7000", Address(Form.CLUSTER, (("a", 6379), ("b", 7000)))),
        ("rediss+cluster://a/0", Address(Form.CLUSTER, (("a", 6379),), tls=Tls())),
    ],
)
def test_every_form_is_read(url: str, address: Address) -> None:
    """Defaults, several hosts, IPv6, percent-encoding, a plus that stays one, users, passwords and databases."""
    assert Address.parse(url) == address


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "is not an address"),
        ("localhost:6379", "is not an address"),
        ("http://localhost", "is not an address"),
        ("redis:localhost", "is not an address"),
        ("redis://", "is not an address"),
        ("redis+unix:///s", "is not an address"),
        ("redis://[::1/0", "a host or a port that cannot be read"),
        ("redis://h/0#rest", "is not an address"),
        ("redis://:hunter2/x@h", "is not an address"),
        ("redis://:hunter2#x@h", "is not an address"),
        ("redis://:hunter2?x@h", "an option that does not belong there"),
        ("redis://h?hunter2=1", "an option that does not belong there; these do: db, password, username"),
        ("redis://h?socket_timeout=5", "an option that does not belong there"),
        ("redis://h?ssl_ca_certs=/ca.pem", "an option that does not belong there"),
        ("redis://h?sentinel_password=hunter2", "an option that does not belong there"),
        ("redis://h:hunter2", "a host or a port that cannot be read"),
        ("redis://h:0", "a host or a port that cannot be read"),
        ("redis://h:65536", "a host or a port that cannot be read"),
        ("redis://a,b", "a host or a port that cannot be read"),
        ("redis+cluster://a,:b", "a host or a port that cannot be read"),
        ("redis://h/hunter2", "a database that is not a number"),
        ("redis://h/1/2", "a database that is not a number"),
        ("redis://h?db=-1", "a database that is not a number"),
        ("unix://s", "no path to a socket"),
        ("unix:///", "no path to a socket"),
        ("redis+sentinel://h", "lacks the name of the master"),
        ("redis+sentinel://h//0", "lacks the name of the master"),
        ("redis+cluster://h/1", "names a database"),
    ],
)
def test_something_else_is_refused_with_the_reason_and_the_forms(url: str, reason: str) -> None:
    """The message says what is wrong and what is right, and neither it nor its causes hold a piece of the URL."""
    with pytest.raises(Misconfigured, match=reason) as caught:
        Address.parse(url)

    assert "redis://localhost:6379/0" in str(caught.value)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("ssl_ca_certs=/nowhere/ca.pem", "The file that ssl_ca_certs in REDIS_URL names is not there"),
        ("ssl_cert_reqs=optional", "ssl_cert_reqs in REDIS_URL is either required"),
        ("ssl_check_hostname=no", "ssl_check_hostname in REDIS_URL is either true"),
    ],
)
def test_tls_is_never_weakened_by_a_slip(option: str, reason: str) -> None:
    """A file that is not there and a value that nobody knows are refused, and not passed over."""
    with pytest.raises(Misconfigured, match=reason):
        Address.parse(f"rediss://h?{option}")


@given(user=st.text(min_size=1), password=st.text(min_size=1))
@settings(max_examples=examples(100), deadline=None)
def test_any_login_is_read_and_never_shown(user: str, password: str) -> None:
    """Whatever characters a name and a password have, percent-encoded they come through, and are in no output."""
    plain = Address.parse("redis://host:1/2")
    address = Address.parse(f"redis://{quote(user, safe='')}:{quote(password, safe='')}@host:1/2")

    assert address.login == Login(user, password)
    assert (str(address), repr(address)) == (str(plain), repr(plain))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:hunter2@h", "h:6379"),
        ("rediss://me:hunter2@[::1]/2", "[::1]:6379, database 2 with TLS"),
        ("rediss://h?ssl_cert_reqs=none", "h:6379 with TLS (the certificate is not verified)"),
        ("rediss://h?ssl_check_hostname=false", "h:6379 with TLS (the name in the certificate is not checked)"),
        ("unix:///s?password=hunter2", "/s"),
        (
            "redis+sentinel://me:hunter2@a,b/m?sentinel_password=hunter2",
            "master m of the Sentinels at a:26379, b:26379",
        ),
        ("rediss+cluster://me:hunter2@a,b", "the cluster at a:6379, b:6379 with TLS"),
    ],
)
def test_an_address_is_shown_without_secrets(url: str, shown: str) -> None:
    """It names the place, and says aloud when TLS is weakened."""
    assert str(Address.parse(url)) == shown


def test_files_for_tls_are_named_in_the_address(tmp_path: Path) -> None:
    """An own CA, and a certificate of ours."""
    for name in ("ca", "chain", "key"):
        (tmp_path / name).touch()
    url = f"rediss://h?ssl_ca_certs={tmp_path}/ca&ssl_certfile={tmp_path}/chain&ssl_keyfile={tmp_path}/key"

    assert Address.parse(url).tls == Tls(f"{tmp_path}/ca", f"{tmp_path}/chain", f"{tmp_path}/key")
