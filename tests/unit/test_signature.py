"""Signatures: of exactly this file, by exactly this key; whatever is no key or no signature is refused, and no key is shown."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from elbowroom import InputError, sign_file, verify_file
from elbowroom.signature import signature_path

serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: E402

PASSWORD = b"a long password"


def write_keys(folder: Path, name: str = "key", password: bytes | None = None, key: object = None) -> tuple[Path, Path]:
    made = key or Ed25519PrivateKey.generate()
    locked = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private, public = folder / f"{name}.pem", folder / f"{name}.pub.pem"
    private.write_bytes(made.private_bytes(pem, pkcs8, locked))  # type: ignore[attr-defined]
    info = serialization.PublicFormat.SubjectPublicKeyInfo
    public.write_bytes(made.public_key().public_bytes(pem, info))  # type: ignore[attr-defined]
    return private, public


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path, Path]:
    private, public = write_keys(tmp_path)
    file = tmp_path / "region.json"
    file.write_bytes(b'{"format": "elbowroom", "say": "anything"}\n')
    assert sign_file(file, private) == tmp_path / "region.json.sig"
    return file, private, public


def test_a_signature_is_of_this_file_by_this_key(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    file, _, public = signed
    assert verify_file(file, public)
    content = file.read_bytes()
    for place in range(len(content)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert not verify_file(file, public)
    for other in (content + b"\n", content[:-1], b""):
        file.write_bytes(other)
        assert not verify_file(file, public)
    file.write_bytes(content)
    assert verify_file(file, public)
    assert not verify_file(file, write_keys(tmp_path, "other")[1])
    signature = signature_path(file).read_bytes()
    for place in range(len(signature)):
        signature_path(file).write_bytes(signature[:place] + bytes([signature[place] ^ 1]) + signature[place + 1 :])
        assert not verify_file(file, public)


def test_swapped_signatures_do_not_fit(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    file, private, public = signed
    other = tmp_path / "other.json"
    other.write_bytes(b"{}")
    sign_file(other, private)
    first, second = signature_path(file), signature_path(other)
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)
    assert not verify_file(file, public)
    assert not verify_file(other, public)


def test_what_is_no_signature_is_refused(signed: tuple[Path, Path, Path]) -> None:
    file, _, public = signed
    for wrong in (b"", b"x" * 63, b"x" * 65, signature_path(file).read_bytes().hex().encode()):
        signature_path(file).write_bytes(wrong)
        with pytest.raises(InputError, match="this is no signature"):
            verify_file(file, public)
    signature_path(file).unlink()
    with pytest.raises(InputError, match=r"not signed; there is no file 'region\.json\.sig'"):
        verify_file(file, public)


def test_what_is_no_key_is_refused_and_never_quoted(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    file, private, public = signed
    rsa_private, rsa_public = write_keys(tmp_path, "rsa", key=rsa.generate_private_key(65537, 2048))
    broken, empty, large = tmp_path / "broken.pem", tmp_path / "empty.pem", tmp_path / "large.pem"
    broken.write_bytes(private.read_bytes().replace(b"MC4", b"MC5"))
    empty.write_bytes(b"")
    large.write_bytes(b"x" * 200_000)
    secret = private.read_bytes().splitlines()[1].decode()
    cases = [
        (public, "this is a public key"),
        (rsa_private, "another kind"),
        (broken, "not an Ed25519 private key"),
        (empty, "not an Ed25519 private key"),
        (large, "at most"),
        (tmp_path, "a folder"),
        (tmp_path / "none.pem", "no such file"),
        (file, "not an Ed25519 private key"),
    ]
    for key, words in cases:
        with pytest.raises(InputError, match=words) as refused:
            sign_file(file, key)
        assert secret not in str(refused.value)
    for key, words in [(private, "private key"), (rsa_public, "another kind"), (empty, "not an Ed25519 public key")]:
        with pytest.raises(InputError, match=words) as refused:
            verify_file(file, key)
        assert secret not in str(refused.value)


def test_a_password_is_asked_for_on_a_terminal_only(
    signed: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = signed[0]
    private, public = write_keys(tmp_path, "locked", PASSWORD)
    monkeypatch.setattr("elbowroom.signature._on_terminal", lambda: False)
    with pytest.raises(InputError, match="has a password"):
        sign_file(file, private)
    monkeypatch.setattr("elbowroom.signature._on_terminal", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda prompt: "wrong")
    with pytest.raises(InputError, match="the password is wrong"):
        sign_file(file, private)
    monkeypatch.setattr("getpass.getpass", lambda prompt: PASSWORD.decode())
    sign_file(file, private)
    assert verify_file(file, public)


def test_links_lead_to_what_they_name(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    file, private, public = signed
    link = tmp_path / "link.json"
    link.symlink_to(file)
    with pytest.raises(InputError, match=r"no file 'link\.json\.sig'"):
        verify_file(link, public)
    sign_file(link, private)
    assert verify_file(link, public)
    signature_path(link).unlink()
    signature_path(link).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a device"):
        verify_file(link, public)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs OpenSSL")
def test_another_program_verifies_it(tmp_path: Path) -> None:
    """The lines of docs/files.md."""

    def openssl(*arguments: str) -> int:
        return subprocess.run(["openssl", *arguments], cwd=tmp_path, capture_output=True, check=False).returncode

    file = tmp_path / "region.json"
    file.write_bytes(b"{}")
    assert openssl("genpkey", "-algorithm", "ed25519", "-out", "private.pem") == 0
    assert openssl("pkey", "-in", "private.pem", "-pubout", "-out", "public.pem") == 0
    sign_file(file, tmp_path / "private.pem")
    assert verify_file(file, tmp_path / "public.pem")
    check = [
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "public.pem",
        "-rawin",
        "-in",
        "region.json",
        "-sigfile",
        "region.json.sig",
    ]
    assert openssl(*check) == 0
    file.write_bytes(b"{ }")
    assert openssl(*check) != 0
