"""A relay of somebody else's before the shuffler: a real nginx by the recipe, which sees addresses and no content."""

from __future__ import annotations

import datetime
import http.client
import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import node
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from rig import counted, plan
from serving import HOST, Served, free_port, spoken

import needs
from headcount_service.client.device import Client
from headcount_service.client.limits import Limits
from headcount_service.runtime.http import App

RECIPE = Path(__file__).parents[2] / "deploy" / "relay.conf"
RELAY = "127.0.0.66"  # where the relay calls the shuffler from; devices call from 127.0.0.1
NOWHERE = "http://127.0.0.1:1"
TELLING = {
    "X-Forwarded-For": "198.51.100.7",
    "Forwarded": "for=198.51.100.7",
    "X-Real-IP": "198.51.100.7",
    "Via": "1.1 canary",
    "User-Agent": "Canary/7",
    "Cookie": "who=canary",
    "Accept-Language": "canary",
}
CANARY = re.compile(rb"198\.51\.100\.7|canary", re.IGNORECASE)
ON_SQLITE = pytest.mark.parametrize("databases", ["sqlite"], indirect=True)


def noting(path: Path) -> None:
    """From now on this process writes down what its sockets and headers tell of whoever calls, and all that it logs."""
    file = os.open(path.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, sys.stderr.fileno())
    answer = App.__call__

    async def noted(self, scope, receive, send):
        if scope["type"] == "http" and self.metrics.party == "shuffler":
            headers = [[name.decode(), value.decode()] for name, value in scope["headers"]]
            with path.open("a") as notes:
                notes.write(json.dumps({"from": scope["client"][0], "path": scope["path"], "headers": headers}) + "\n")
        await answer(self, scope, receive, send)

    App.__call__ = noted


def plain(recipe, port, shuffler):
    """The recipe without TLS, on this machine, calling from an address of its own."""
    recipe = re.sub(r"\n    (?:ssl_|proxy_ssl_)[^\n]*", "", recipe)
    recipe = recipe.replace("https://", "http://").replace("shuffler.example:443", f"{HOST}:{shuffler}")
    return recipe.replace("listen 443 ssl;", f"listen {HOST}:{port};\n    proxy_bind {RELAY};")


def settings(folder, server):
    """A whole configuration, with everything that nginx writes in this folder."""
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"    {kind}_temp_path {folder / kind};\n" for kind in kinds)
    whole = f"daemon off;\nmaster_process off;\npid {folder / 'pid'};\nevents {{}}\nhttp {{\n{paths}{server}}}\n"
    path = folder / "nginx.conf"
    path.write_text(whole)
    return [needs.nginx(), "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(path)]


@contextmanager
def relaying(folder, recipe, shuffler):
    """The relay's port, while it runs."""
    port = free_port()
    process = subprocess.Popen(settings(folder, plain(recipe, port, shuffler)), stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 30
        while spoken_to(port) is None:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.communicate()


def spoken_to(port):
    try:
        return spoken(port, b"GET / HTTP/1.1\r\nHost: relay\r\n\r\n").status
    except OSError:
        return None


def seen(notes):
    """What the shuffler saw of whoever called."""
    return [json.loads(line) for line in notes.read_text().splitlines()]


def telling(port, path):
    """A request with everything that a browser or a careless proxy adds."""
    connection = http.client.HTTPConnection(HOST, port, timeout=20)
    connection.request("GET", path, headers=TELLING)
    status = connection.getresponse().status
    connection.close()
    return status


@ON_SQLITE
def test_people_report_through_a_relay_and_the_shuffler_sees_the_relay_alone(rig, folder):
    """From Python and from a browser's client, with tokens; nothing is sent to the shuffler's own address."""
    node.built()
    rig.clock.now = time.time()
    notes = folder / "notes"
    served = Served(rig, partial(noting, notes))
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(
            plan(epsilon=45.0),
            opens=int(rig.clock.now),
            window=86_400,
            admission="invited",
            issuing_at=f"http://{HOST}:{served.ports['analyser']}",
        )
        codes = parties.invitations(collection, 4)
    limits = {"epsilon": 50, "colluding": 50, "least": 1, "lifetime_epsilon": 50}
    named = f"/v1/collections/{collection.id}"
    with served.running(), relaying(folder, RECIPE.read_text(), served.ports["shuffler"]) as port:
        relay, given = f"http://{HOST}:{port}", {"hash": collection.hash}
        for answer, code in ((0, codes[0]), (3, codes[1])):
            device = Client(folder / f"device{answer}", Limits(**limits))
            assert device.report(NOWHERE, collection.id, answer, invitation=code, relay=relay, **given).state == "taken"
        told = node.reported(
            address=NOWHERE,
            relay=relay,
            name=collection.id,
            answers=[3, 11],
            limits=limits,
            invitations=codes[2:],
            **given,
        )
        assert [each["receipt"]["state"] for each in told] == ["taken", "taken"]
        assert telling(port, named) == 200
        assert [telling(port, path) for path in (f"{named}/state", "/v1/collections", f"{named}?who=canary")] == [
            404,
            404,
            400,
        ]
        calls = seen(notes)
        release = closed(served, collection)
    assert {call["from"] for call in calls} == {RELAY}
    assert {call["path"] for call in calls} == {named, f"{named}/batches/1/reports"}
    assert {name for call in calls for name, _ in call["headers"]} <= {"host", "content-length"}
    lengths = {dict(call["headers"])["content-length"] for call in calls if call["path"].endswith("/reports")}
    assert lengths == {str(collection.report_format(1).upload_bytes)}
    assert not CANARY.search(notes.read_bytes())
    log = notes.with_suffix(".log").read_bytes()
    assert b'"event": "serving"' in log
    assert not CANARY.search(log)
    assert RELAY.encode() not in log
    assert counted(collection, release) == [1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]


def closed(served, collection):
    path = f"/v1/collections/{collection.id}"
    with served.caller("shuffler", "operator") as shuffler:
        shuffler.told("POST", f"{path}/close")
        until = time.monotonic() + 120
        while shuffler.told("GET", f"{path}/state")["batches"][0]["state"] != "purged":
            assert time.monotonic() < until
            time.sleep(0.05)
    with served.caller("analyser", "operator") as analyser:
        return analyser.told("POST", f"{path}/batches/1/release")


@ON_SQLITE
def test_a_relay_that_tells_who_called_is_caught_and_the_shuffler_writes_none_of_it_down(rig, folder):
    """Two twins of the recipe: one adds the caller's address, one passes on what the caller says."""
    notes = folder / "notes"
    recipe = RECIPE.read_text()
    adding = recipe.replace(
        "proxy_http_version", "proxy_set_header X-Forwarded-For 198.51.100.7;\n    proxy_http_version"
    )
    passing = recipe.replace("proxy_pass_request_headers off;", "")
    with rig.opened() as parties:
        parties.endowed()
        collection = parties.agreed(plan())
    served = Served(rig, partial(noting, notes))
    with served.running():
        for number, twin in enumerate((adding, passing)):
            assert twin != recipe
            (folder / str(number)).mkdir()
            notes.write_text("")
            with relaying(folder / str(number), twin, served.ports["shuffler"]) as port:
                assert telling(port, f"/v1/collections/{collection.id}") == 200
            assert CANARY.search(notes.read_bytes())
    for path in (notes.with_suffix(".log"), *(folder / "shuffler").rglob("*")):
        assert not path.is_file() or not CANARY.search(path.read_bytes()), path.name


def test_the_recipe_is_one_that_nginx_takes(folder):
    """As it stands, with TLS: only the files that it names are others, and the port is one that anybody may open."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "relay.example")])
    now = datetime.datetime.now(datetime.UTC)
    signed = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + datetime.timedelta(1)).sign(key, None)
    (folder / "relay.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    (folder / "relay.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    recipe = RECIPE.read_text().replace("/etc/headcount/", f"{folder}/").replace("shuffler.example:443", f"{HOST}:443")
    recipe = recipe.replace("/etc/ssl/certs/ca-certificates.crt", f"{folder}/relay.pem")
    assert recipe.count("listen 443 ssl") == 1
    recipe = recipe.replace("listen 443 ssl", f"listen {free_port()} ssl")
    done = subprocess.run([*settings(folder, recipe), "-t"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
