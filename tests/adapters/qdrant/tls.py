"""A front that speaks TLS before a service that does not, with a certificate of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOST = "127.0.0.1"


class TlsFront:
    """Decrypts what comes, hands it on, and encrypts what is answered."""

    def __init__(self, url: str) -> None:
        self._port = urlsplit(url).port
        self._folder = tempfile.TemporaryDirectory()
        self._server: asyncio.Server | None = None
        self.certificate = Path(self._folder.name) / "certificate.pem"
        self.url = ""

    async def __aenter__(self) -> Self:
        """Make a certificate and listen."""
        key = Path(self._folder.name) / "key.pem"
        _certify(self.certificate, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self._server = await asyncio.start_server(self._serve, HOST, 0, ssl=context)
        self.url = f"https://{HOST}:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
        self._folder.cleanup()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(HOST, self._port)
        await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def _certify(certificate: Path, key: Path) -> None:
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(secret, hashes.SHA256())
    )
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    key.write_bytes(secret.private_bytes(encoding, form, serialization.NoEncryption()))
