"""Starts emulate 0.12.2 (npm) as Google, with the messages of seed_messages.py."""

import os
import shutil

import interop
import seed_messages


def start():
    """Starts emulate on a free port; returns its base URL."""
    folder = interop.temp_folder("emulate")
    seed = os.path.join(folder, "seed.json")
    seed_messages.seed(seed)
    port = interop.free_port()
    base = f"http://127.0.0.1:{port}"
    command = shutil.which("emulate")
    if command is None:
        raise RuntimeError("emulate is not on PATH: run this part through tests/interop/run")
    interop.start_server(
        [command, "start", "-s", "google", "--seed", seed, "-p", str(port), "--base-url", base],
        port,
        cwd=folder,
    )
    return base


def settings(base, gmail=None):
    """Daysheet's settings for it; it has token and revocation paths of its own."""
    return interop.google_at(base, gmail, token="/oauth2/token", revoke="/oauth2/revoke")
