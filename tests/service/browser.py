"""A browser that opens one page of the client under a strict policy, and what the page tells."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import needs

POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'"
KINDS = {".js": "text/javascript", ".json": "application/json", "": "text/html"}
PAGE = b'<!doctype html><meta charset="utf-8"><title>headcount</title><script type="module" src="/page.js"></script>'
PATIENCE = 240.0


@dataclass
class Site:
    """Files by their paths, offers by the names of their collections, and what was sent."""

    files: Mapping[str, Path]
    offers: Mapping[str, str]
    uploads: list[tuple[str, bytes]] = field(default_factory=list)
    told: Any = None
    done: threading.Event = field(default_factory=threading.Event)

    def got(self, path: str) -> bytes | None:
        if path == "/":
            return PAGE
        name = path.removeprefix("/v1/collections/")
        if name in self.offers:
            return self.offers[name].encode()
        return self.files[path].read_bytes() if path in self.files else None

    def sent(self, path: str, content: bytes) -> bytes:
        if path == "/done":
            self.told = json.loads(content)
            self.done.set()
        else:
            self.uploads.append((path, content))
        return b'{"report":"taken"}'


def opened(site: Site, profile: Path) -> Any:
    """What the page told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(site.got(self.path))

        def do_POST(self) -> None:
            self._say(site.sent(self.path, self.rfile.read(int(self.headers["Content-Length"]))))

        def _say(self, content: bytes | None) -> None:
            self.send_response(404 if content is None else 200)
            suffix = re.sub(r"^.*?(\.\w+)?$", r"\1", self.path)
            self.send_header("Content-Type", KINDS.get(suffix, "application/octet-stream"))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        address = f"http://127.0.0.1:{server.server_port}/"
        with subprocess.Popen(
            [needs.chromium(), *options, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as browser:
            try:
                assert site.done.wait(PATIENCE), "the page has told nothing"
            finally:
                browser.terminate()
                server.shutdown()
    return site.told
