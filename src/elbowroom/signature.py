"""Detached signatures of files: Ed25519 over the bytes of the file, 64 bytes in a file beside it, keys as PEM.

Any program that knows Ed25519 (RFC 8032) can verify them, OpenSSL for one. A private key is read, used and forgotten: nothing
of it is kept, written or shown, and errors never quote a key.
"""

from __future__ import annotations

import getpass
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from elbowroom.disk import MissingFile, read_whole, write_whole
from elbowroom.errors import InputError, SolverMissing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SUFFIX: Final = ".sig"
SIZE: Final = 64  # bytes of a signature
MOST_KEY: Final = 100_000  # bytes of a key file
MAKE: Final = "make one with: openssl genpkey -algorithm ed25519 -out private.pem"


def signature_path(path: str | Path) -> Path:
    """Where the signature of a file lies: beside it, with ``.sig`` after its whole name."""
    path = Path(path)
    return path.with_name(path.name + SUFFIX)


class Signer:
    """A private key at work."""

    def __init__(self, key_file: str | Path) -> None:
        self._key = _private_key(Path(key_file))

    def sign(self, content: bytes) -> bytes:
        return self._key.sign(content)

    def sign_file(self, path: str | Path) -> Path:
        """Write the signature of a file beside it, and say where."""
        beside = signature_path(path)
        write_whole(beside, self.sign(read_whole(path)))
        return beside


def sign_file(path: str | Path, key_file: str | Path) -> Path:
    """Sign the file ``path`` with the private key in ``key_file``; the signature goes to ``path`` + ".sig".

    Args:
        path: Any file, for example what `Region.to_json` or `Region.to_proof` wrote.
        key_file: An Ed25519 private key as PEM. Where it has a password, that is asked for on the terminal.

    Returns:
        The path of the signature.

    Examples:
        >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        >>> from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
        >>> key, plain = Ed25519PrivateKey.generate(), (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        >>> from pathlib import Path
        >>> _ = Path("key.pem").write_bytes(key.private_bytes(*plain)), region.to_json("region.json")
        >>> sign_file("region.json", "key.pem").name
        'region.json.sig'
    """
    return Signer(key_file).sign_file(path)


def verify(content: bytes, path: str | Path, key_file: str | Path) -> str | None:
    """Is the signature beside ``path`` one of ``content`` by the holder of the key? The SHA-256 of the public key if so, None
    if not. Whatever cannot be read as a key or a signature is an `InputError`."""
    from cryptography.exceptions import InvalidSignature

    key = _public_key(Path(key_file))
    beside = signature_path(path)
    try:
        signature = read_whole(beside, MOST_KEY)
    except MissingFile:
        raise InputError(f"{path}: it is not signed; there is no file {beside.name!r} beside it") from None
    if len(signature) != SIZE:
        raise InputError(f"{beside}: this is no signature: it has {len(signature):,} bytes instead of {SIZE}")
    try:
        key.verify(signature, content)
    except InvalidSignature:
        return None
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def verify_file(path: str | Path, key_file: str | Path) -> bool:
    """Was the file ``path`` signed, as it is, by the holder of the key?

    Args:
        path: The file; its signature lies beside it, as ``path`` + ".sig".
        key_file: The Ed25519 public key as PEM.

    Returns:
        True if the signature fits the file and the key.

    Examples:
        >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        >>> from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
        >>> key, plain = Ed25519PrivateKey.generate(), (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        >>> public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        >>> from pathlib import Path
        >>> _ = Path("key.pem").write_bytes(key.private_bytes(*plain)), Path("public.pem").write_bytes(public)
        >>> _ = region.to_json("region.json"), sign_file("region.json", "key.pem")
        >>> verify_file("region.json", "public.pem")
        True
    """
    return verify(read_whole(path), path, key_file) is not None


# ---- keys ------------------------------------------------------------------------------------------------------------
def _private_key(path: Path) -> Ed25519PrivateKey:
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    data = read_whole(path, MOST_KEY)
    if b"PUBLIC KEY-----" in data:
        raise InputError(f"{path}: this is a public key; to sign, give the private one")
    password = _password(path) if b"BEGIN ENCRYPTED PRIVATE KEY-----" in data else None
    try:
        key = load_pem_private_key(data, password)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(
            f"{path}: this is not an Ed25519 private key as PEM, or the password is wrong; {MAKE}"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path}: this is a private key of another kind than Ed25519; {MAKE}")
    return key


def _password(path: Path) -> bytes:
    if not _on_terminal():
        raise InputError(f"{path}: this key has a password, which is asked for on a terminal only, and there is none")
    return getpass.getpass(f"Password of {path.name}: ").encode()


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _public_key(path: Path) -> Ed25519PublicKey:
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    data = read_whole(path, MOST_KEY)
    if b"PRIVATE KEY-----" in data:
        raise InputError(
            f"{path}: this is a private key, which is for its owner alone; to verify, give the public one: "
            "openssl pkey -in private.pem -pubout -out public.pem"
        )
    try:
        key = load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(f"{path}: this is not an Ed25519 public key as PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path}: this is a public key of another kind than Ed25519")
    return key


def _require() -> None:
    try:
        import cryptography.hazmat.primitives.serialization  # noqa: F401
    except ImportError:
        raise SolverMissing("signatures need the package cryptography: pip install 'elbowroom[sign]'") from None
