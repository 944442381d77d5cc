"""A certificate for localhost and its private key, made anew by openssl for each test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from oracles.plugin import give_up


def create_tls_files(folder: Path) -> tuple[Path, Path]:
    """Return the files of a new certificate and its key; skip the test where openssl is missing."""
    if shutil.which("openssl") is None:
        give_up("openssl is not installed")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-noenc", "-newkey", "ec"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=localhost"]
    command += ["-addext", names, "-days", "2", "-out", str(certificate), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return certificate, key
