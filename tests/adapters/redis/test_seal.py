"""Encryption at rest: who can read what, and where the key comes from."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.redis.secrets import Seal
from core.errors import Misconfigured
from tests.portion import examples

OLD = "the old secret which is long enough"
NEW = "the new secret which is long enough"
SEAL = Seal([OLD])


@given(text=st.text(), place=st.text())
@settings(max_examples=examples(100), deadline=None)
def test_every_text_comes_back_at_its_place(text: str, place: str) -> None:
    """Decrypting what was encrypted for the same place gives it back."""
    assert SEAL.read(str, SEAL.encrypt(text, place=place), place=place) == text


@given(junk=st.binary(max_size=64))
@settings(max_examples=examples(100), deadline=None)
def test_junk_is_no_text(junk: bytes) -> None:
    """What was not sealed gives nothing and raises nothing."""
    assert SEAL.read(str, junk, place="here") is None


def test_a_changed_value_is_no_text() -> None:
    """Any bit that differs makes the whole value unreadable."""
    sealed = SEAL.encrypt("hello", place="here")
    changed = [sealed[:i] + bytes([sealed[i] ^ 1]) + sealed[i + 1 :] for i in range(len(sealed))]

    assert [SEAL.read(str, each, place="here") for each in changed] == [None] * len(sealed)


def test_a_value_that_was_moved_is_no_text() -> None:
    """A value is bound to its place."""
    assert SEAL.read(str, SEAL.encrypt("hello", place="here"), place="there") is None


def test_the_same_text_never_looks_the_same() -> None:
    """Two equal texts cannot be told to be equal."""
    assert SEAL.encrypt("hello", place="here") != SEAL.encrypt("hello", place="here")


def test_secrets_rotate() -> None:
    """With the new secret first, old values stay readable, and new ones no longer need the old secret."""
    both = Seal.parse(f" {NEW} ,{OLD},")
    old, new = SEAL.encrypt("old", place="here"), both.encrypt("new", place="here")

    assert both.read(str, old, place="here") == "old"
    assert Seal([NEW]).read(str, new, place="here") == "new"
    assert SEAL.read(str, new, place="here") is None


@pytest.mark.parametrize("weak", ["", ",", "short-secret", f"{OLD},short-secret", "short-secret" + "t" * 4, "ab" * 40])
def test_a_weak_secret_is_refused_without_being_shown(weak: str) -> None:
    """The message says how to make a good one, and holds nothing of the bad one."""
    with pytest.raises(Misconfigured, match=r"secrets\.token_urlsafe\(32\)") as caught:
        Seal.parse(weak)

    assert "short-secret" not in str(caught.value)


@pytest.mark.promise("key-is-private")
def test_a_key_file_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    """Twenty readers at once share one secret which nobody else may read."""
    path = tmp_path / "new" / "secret.key"
    with ThreadPoolExecutor(20) as threads:
        seals = list(threads.map(Seal.from_file, [path] * 20))

    sealed = [seal.encrypt("hello", place="here") for seal in seals]
    assert [Seal.from_file(path).read(str, each, place="here") for each in sealed] == ["hello"] * 20
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_key_file_that_others_can_read_is_closed(tmp_path: Path) -> None:
    """Its secret is kept and its rights are tightened."""
    path = tmp_path / "secret.key"
    path.write_text(f"{OLD}\n")
    path.chmod(0o644)

    assert Seal.from_file(path).read(str, SEAL.encrypt("hello", place="here"), place="here") == "hello"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"half-a-sec", b"\xff\xfe" * 40])
def test_a_damaged_key_file_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    """It is refused by name and stays as it is, since it may be all that is left of a good one."""
    path = tmp_path / "secret.key"
    path.write_bytes(content)

    with pytest.raises(Misconfigured, match=r"secret\.key"):
        Seal.from_file(path)
    assert path.read_bytes() == content


def test_a_key_file_behind_a_link_is_refused(tmp_path: Path) -> None:
    """A link could make the key appear in a place that others can read."""
    path = tmp_path / "secret.key"
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Misconfigured, match="plain file"):
        Seal.from_file(path)
