"""TLS in front of a server that has none: certificates made for the occasion, and a proxy that ends the encryption."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

HANDSHAKE = b"\x16"  # the first byte that a client with TLS sends; no command begins with it
PIECE = 65_536


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as files."""

    ca: Path
    chain: Path
    key: Path


def certificate(folder: Path, *, name: str = "127.0.0.1") -> Certificate:
    """Make a CA and a certificate for the address *name* that it has signed."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tests")])
    ca = _begun(authority, ca_key).add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    ca = ca.add_extension(_usage(signs=True), critical=True)
    ca = ca.add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False)
    leaf = _begun(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key).add_extension(
        x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(name))]), critical=False
    )
    leaf = leaf.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
    made = Certificate(folder / "ca.pem", folder / "chain.pem", folder / "key.pem")
    folder.mkdir(parents=True, exist_ok=True)
    for path, builder in ((made.ca, ca), (made.chain, leaf)):
        signed = builder.issuer_name(authority).sign(ca_key, hashes.SHA256())
        path.write_bytes(signed.public_bytes(Encoding.PEM))
    made.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made


def _begun(name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


class Proxy:
    """Takes connections with TLS and without, in a thread of its own, and hands them on without."""

    def __init__(self, target: int, certificate: Certificate) -> None:
        self.secure = 0
        self._target = target
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate.chain, certificate.key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self.port = int(self._listener.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Begin to take connections."""
        self._serving = self._loop.create_task(self._serve())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all of them."""
        if self._serving is not None:
            self._loop.call_soon_threadsafe(self._serving.cancel)
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            if self._serving is not None:
                self._loop.run_until_complete(self._serving)
        self._loop.run_until_complete(asyncio.sleep(0))  # what was aborted is closed in the next turn
        self._loop.close()

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as connections:
            while True:
                accepted, _ = await self._loop.sock_accept(self._listener)
                connections.create_task(self._relay(accepted))

    async def _relay(self, accepted: socket.socket) -> None:
        with suppress(OSError):  # whoever does not trust the certificate hangs up
            is_secure = await self._first(accepted) == HANDSHAKE
            self.secure += is_secure
            reader = asyncio.StreamReader()
            protocol = asyncio.StreamReaderProtocol(reader)
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: protocol, accepted, ssl=self._context if is_secure else None
            )
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            try:
                there, back = await asyncio.open_connection("127.0.0.1", self._target)
                try:
                    await asyncio.gather(_pump(reader, back), _pump(there, writer))
                finally:
                    back.transport.abort()
            finally:
                transport.abort()

    async def _first(self, accepted: socket.socket) -> bytes:
        """Look at the first byte and leave it where it is."""
        ready = self._loop.create_future()
        self._loop.add_reader(accepted, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            self._loop.remove_reader(accepted)
        return accepted.recv(1, socket.MSG_PEEK)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while piece := await source.read(PIECE):
            sink.write(piece)
            await sink.drain()
    finally:
        if not sink.is_closing():  # to close it twice leaves nothing to abort, before Python 3.11.5
            sink.close()
