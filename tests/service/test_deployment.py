"""What is in deploy/ does what it says: units, proxy, container, pins, alerts and the dashboard."""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from serving import free_port

import headcount
import headcount_service
import needs
from headcount_service.party import KNOWN, PREFIX
from headcount_service.runtime.metrics import Metrics
from headcount_service.server import AT_ONCE
from stress import STRESS

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
MOST_EXPOSED = 2.0


# Units.


def exposure(unit):
    """By systemd-analyze security, from 0 to 10."""
    checked = [needs.systemd_analyze(), "security", "--offline=true", "--no-pager", str(unit)]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)
    assert found, done.stderr
    return float(found[1])


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_no_unit_is_exposed(unit):
    assert exposure(unit) <= MOST_EXPOSED


def test_a_unit_that_is_left_open_is_noticed(tmp_path):
    open_unit = tmp_path / "headcount-open.service"
    lines = UNITS[0].read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("Protect", "Restrict", "System", "Private"))]
    open_unit.write_text("\n".join(kept) + "\n")
    assert exposure(open_unit) > MOST_EXPOSED


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_every_unit_has_files_enough_and_no_core_dump(unit):
    text = unit.read_text()
    assert int(re.search(r"^LimitNOFILE=(\d+)$", text, re.MULTILINE)[1]) >= 2 * AT_ONCE
    assert "\nLimitCORE=0\n" in text
    assert "\nMemorySwapMax=0\n" in text


# The proxy.


class Party(BaseHTTPRequestHandler):
    """Says what it was told of who asks."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        told = json.dumps(dict(self.headers.items())).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_):
        pass


def certificate(folder):
    """A key and a certificate that it has signed itself."""
    words = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "pem")]
    openssl = shutil.which("openssl")
    if openssl is None:
        needs.absent("openssl is missing: the proxy is tried with a certificate (apt install openssl)")
    subprocess.run([openssl, "req", "-x509", *words, *files], check=True, capture_output=True)


@pytest.fixture
def proxy(tmp_path):
    """The recipe, with ports and files of our own, in front of somebody who answers."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        needs.absent("nginx is missing: the proxy's recipe is tried with it (apt install nginx-light)")
    certificate(tmp_path)
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Party)
    behind.daemon_threads = True
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    port, recipe = free_port(), (DEPLOY / "nginx.conf").read_text()
    for old, new in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/headcount/shuffler.pem": str(tmp_path / "pem"),
        "/etc/headcount/shuffler.key": str(tmp_path / "key"),
        "127.0.0.1:8401": f"127.0.0.1:{behind.server_address[1]}",
    }.items():
        assert old in recipe
        recipe = recipe.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/errors;\n"
        f"events {{}}\nhttp {{\n{temporary}{recipe}}}\n"
    )
    command = [program, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        try:
            yield port, tmp_path
        finally:
            running.terminate()
            running.wait()
            behind.shutdown()
            behind.server_close()


@contextmanager
def reached(port):
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=30)
    for _ in range(100):
        try:
            connection.connect()
            break
        except OSError:
            time.sleep(0.1)
    try:
        yield connection
    finally:
        connection.close()


def test_the_proxy_limits_how_often_an_address_asks_and_tells_nobody_who_it_was(proxy):
    port, folder = proxy
    begun, statuses, told = time.monotonic(), [], {}
    with reached(port) as connection:
        for path in ["/metrics", "/ready", "/live", *["/v1/identity"] * 200]:
            connection.request("GET", path, headers={"X-Forwarded-For": "192.0.2.7"})
            answer = connection.getresponse()
            body = answer.read()
            statuses.append(answer.status)
            told = json.loads(body) if answer.status == 200 else told
    passed = 5 * (time.monotonic() - begun)
    assert statuses[:3] == [404] * 3
    assert 30 <= statuses.count(200) <= 42 + passed
    assert statuses.count(429) >= min(1, 150 - passed)
    assert "192.0.2.7" not in json.dumps(told)
    assert "127.0.0.1" not in told.get("X-Real-Ip", "")
    assert (folder / "errors").read_text() == ""


# Alerts and the dashboard.


def known():
    """Every series that a party could show."""
    names = set()
    for party in ("shuffler", "analyser"):
        for family in Metrics(party).registry.collect():
            names |= {family.name, f"{family.name}_total"} if family.type == "counter" else {family.name}
    return names


def expressions():
    rules = yaml.safe_load((DEPLOY / "prometheus" / "headcount.rules.yml").read_text())
    board = json.loads((DEPLOY / "grafana" / "headcount.json").read_text())
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])
    yield from (target["expr"] for panel in board["panels"] for target in panel["targets"])


def unknown(expression):
    return set(re.findall(r"headcount_\w+", expression)) - known()


def test_alerts_and_dashboard_name_series_that_exist_and_all_of_them():
    every = list(expressions())
    assert len(every) > 12
    assert [unknown(expression) for expression in every if unknown(expression)] == []
    shown = {name for expression in every for name in re.findall(r"headcount_\w+", expression)}
    gauges = {name for name in known() if f"{name}_total" not in known()}
    assert gauges <= shown, "a gauge that nobody looks at"
    assert unknown("rate(headcount_awnsers_total[5m])") == {"headcount_awnsers_total"}


def test_alerts_have_labels_that_exist():
    """A label or value that is misspelt would never fire."""
    metrics = Metrics("shuffler")
    metrics.count_answer("/live", 503)
    metrics.count_step("failed")
    metrics.set_batches({"enough": 0, "short": 0, "late": 1})
    page = metrics.page().decode()
    for expression in expressions():
        for name, label in re.findall(r"(headcount_\w+)\{(\w+=\"\w+\")\}", expression):
            assert re.search(rf"^{name}\{{[^}}]*{label}", page, re.MULTILINE), expression


# Pins.


PINS = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", (DEPLOY / "constraints.txt").read_text(), re.MULTILINE)
}
SETTINGS, SERVICE = (tomllib.loads((ROOT / at / "pyproject.toml").read_text()) for at in ("", "service"))


def wanted():
    base, service = SETTINGS["project"], SERVICE["project"]
    ours = f"{base['name']}=={base['version']}"
    needed = [*base["dependencies"], *base["optional-dependencies"]["files"], *service["dependencies"]]
    return [*(one for one in needed if one != ours), *SETTINGS["build-system"]["requires"]]


def unpinned(pins):
    """Requirements, and theirs, that no pin meets."""
    found, left, seen = [], [(Requirement(each), "") for each in wanted()], set()
    while left:
        one, extra = left.pop()
        name = canonicalize_name(one.name)
        if one.marker is not None and not one.marker.evaluate({"extra": extra}):
            continue
        if name not in pins or not one.specifier.contains(pins[name], prereleases=True):
            found.append(str(one))
        if (name, *sorted(one.extras)) in seen:
            continue
        seen.add((name, *sorted(one.extras)))
        try:
            theirs = [Requirement(each) for each in requires(one.name) or []]
        except PackageNotFoundError:
            continue  # what only builds it
        left += [(each, extra) for each in theirs for extra in (*one.extras, "")]
    return found


def test_every_package_of_a_deployment_is_pinned_with_hashes():
    assert len(PINS) > 25
    assert unpinned(PINS) == []
    text = (DEPLOY / "constraints.txt").read_text()
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=\S)", text) if "==" in block)
    assert not re.search(r"https?://|index-url|trusted-host", text), "pins name no place to get them from"


def test_a_missing_and_a_stale_pin_are_noticed():
    assert any(each.startswith("sqlalchemy") for each in unpinned({k: v for k, v in PINS.items() if k != "sqlalchemy"}))
    assert any(each.startswith("cryptography") for each in unpinned({**PINS, "cryptography": "46.0.0"}))
    assert any("markupsafe" in each.lower() for each in unpinned({k: v for k, v in PINS.items() if k != "markupsafe"}))


@STRESS
def test_a_bill_of_materials_has_every_pin(tmp_path):
    """`make sbom` where packages can be installed: the deployment's environment, looked into by CycloneDX' own tool."""
    done = subprocess.run(
        [
            shutil.which("make"),
            "sbom",
            f"DEPLOYED={tmp_path}/deployed",
            f"PINS={tmp_path}/pins",
            f"SBOM={tmp_path}/sbom.json",
            f"PYTHON={sys.executable}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "No matching distribution" in done.stderr:
        needs.absent("packages cannot be installed: no bill of materials is made")
    assert done.returncode == 0, done.stderr
    bill = json.loads((tmp_path / "sbom.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    found = {canonicalize_name(each["name"]): each["version"] for each in bill["components"]}
    assert {name: found.get(name) for name in PINS} == PINS


# Containers.


COMPOSE = yaml.safe_load((ROOT / "compose.yml").read_text())
CONTAINER = (ROOT / "Containerfile").read_text()


def test_the_files_of_a_container_name_what_exists():
    for sources in re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", CONTAINER, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists(), source
    assert "--require-hashes" in CONTAINER
    assert re.search(r"^USER headcount$", CONTAINER, re.MULTILINE)
    settings = {f"{PREFIX}{name.upper()}" for name in KNOWN - {"party"}}
    for role in ("shuffler", "analyser"):
        service = COMPOSE["services"][role]
        assert set(service["environment"]) <= settings | {"ROLE"}
        assert service["environment"]["ROLE"] == role
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert all(volume.split(":")[0] in COMPOSE["volumes"] for volume in service["volumes"])
        assert set(service["depends_on"]) <= set(COMPOSE["services"])
    ports = [port for each in COMPOSE["services"].values() for port in each.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


@pytest.fixture
def command(tmp_path):
    """The command line of this very code, as a container has it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    code = os.pathsep.join(str(Path(one.__file__).parents[1]) for one in (headcount, headcount_service))
    for name, words in {"headcount": "-m headcount", "python": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\nPYTHONPATH="{code}" exec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def ready(port):
    """Waits until somebody who listens there says so."""
    until = time.monotonic() + 300  # on a busy machine
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=8).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_what_containers_run_makes_serves_and_is_ready(tmp_path, command, postgres):
    """Both entry commands, as compose runs them, on one machine and a real PostgreSQL."""
    (tmp_path / "handed").mkdir()
    ports = {role: free_port() for role in ("shuffler", "analyser")}
    path = os.pathsep.join([str(command), os.environ["PATH"]])
    names = {role: postgres.database() for role in ports}

    def given(role):
        own = COMPOSE["services"][role]["environment"]
        places = {
            "HEADCOUNT_LISTEN": f"127.0.0.1:{ports[role]}",
            "HEADCOUNT_DATABASE": postgres.address(names[role]),
            **({"HEADCOUNT_ANALYSER": f"http://127.0.0.1:{ports['analyser']}"} if role == "shuffler" else {}),
        }
        assert set(places) | {"ROLE"} == set(own), "what compose sets is what is set here"
        return {
            **os.environ,
            "PATH": path,
            "ROLE": own["ROLE"],
            **places,
            "DIR": str(tmp_path / role),
            "HANDED": str(tmp_path / "handed"),
        }

    def asked(role):
        return subprocess.run([str(DEPLOY / "party.sh"), "ready"], env=given(role), capture_output=True).returncode

    running = []
    assert asked("analyser")
    try:
        for role in ("shuffler", "analyser"):  # the shuffler waits for its token
            words = [str(DEPLOY / "party.sh"), "serve"]
            running.append(subprocess.Popen(words, env=given(role), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        for role, port in ports.items():
            ready(port)
            assert not asked(role)
        assert all((tmp_path / role / "operator.token").stat().st_mode & 0o077 == 0 for role in ports)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(300)  # on a busy machine
            process.stdout.close()
        for name in names.values():
            postgres.drop(name)


@STRESS
def test_a_container_is_built_and_both_parties_are_ready():
    tool = next(filter(None, map(shutil.which, ("docker", "podman"))), None)
    if tool is None or subprocess.run([tool, "info"], capture_output=True, check=False).returncode:
        pytest.skip("no container engine is running: containers are checked by what they run")
    if subprocess.run([tool, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("the container tool has no compose: containers are checked by what they run")
    compose = [tool, "compose", "--project-name", "headcount-test", "--file", str(ROOT / "compose.yml")]
    try:
        subprocess.run([*compose, "up", "--build", "--detach", "--wait"], check=True, timeout=1_500)
        subprocess.run([*compose, "exec", "shuffler", "party", "ready"], check=True)
    finally:
        subprocess.run([*compose, "down", "--volumes"], check=False)
