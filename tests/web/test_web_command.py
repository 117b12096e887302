"""`headcount web`, and what a party in earnest shows to browsers."""

import http.client
import json
import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from headcount_service import party
from headcount_service.web.routes import Pages


def asked(address, method, path, content=None):
    at = urlsplit(address)
    connection = http.client.HTTPConnection(at.netloc, timeout=60)
    connection.request(
        method, at.path + path, content if content is None or isinstance(content, str) else json.dumps(content)
    )
    try:
        response = connection.getresponse()
        return response.status, dict(response.headers.items()), response.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, "-m", "headcount", "web", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            for line in server.stdout:
                if found := re.search(r"http://\S+", line):
                    yield found[0].rstrip("/")
                    break
        finally:
            server.terminate()
            assert server.wait(300) == 0


def test_the_page_is_there_under_a_strict_policy(address):
    status, headers, body = asked(address, "GET", "/")
    assert status == 200
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    for path in re.findall(rb'(?:href|src)="(page/[^"]+)"', body):
        assert asked(address, "GET", f"/{path.decode()}")[0] == 200
    about = json.loads(asked(address, "GET", "/page/about")[2])
    assert (about["party"], about["parts"]) == ("shuffler", ["advisor", "data", "ask"])


def test_only_files_of_the_page_are_there(address):
    for path in ("/page/routes.py", "/page/..", "/page/.hidden", "/page/desk.json", "/page/"):
        assert asked(address, "GET", path)[0] == 404
    assert asked(address.rpartition("/")[0], "GET", "/v1/collections")[0] == 401


def test_questions_are_answered_or_refused_in_words(address):
    given = {"task": "count", "n": 200, "epsilon": 1.0, "delta": 0.001, "models": ["shuffle"]}
    status, _, body = asked(address, "POST", "/page/quick", given)
    assert status == 200
    assert json.loads(body)["ranking"]
    status, _, body = asked(address, "POST", "/page/quick", {**given, "n": -1})
    assert status == 400
    assert "n is -1" in json.loads(body)["error"]
    for huge in ("1" + 400 * "0", "1e999"):
        status, _, body = asked(address, "POST", "/page/quick", json.dumps({**given, "cap": 7.5}).replace("7.5", huge))
        assert (status, json.loads(body)["field"]) == (400, "cap")
    assert asked(address, "POST", "/page/quick", {**given, "n": "1" * 5_000})[0] == 413
    assert asked(address, "POST", "/page/visits/frobnication/crowd")[0] in (400, 404)


def test_a_party_in_earnest_computes_for_nobody(tmp_path):
    opened = party.create(tmp_path / "analyser", "analyser").open()
    paths = {(route.method, route.path) for route in Pages(["collections"])(opened)}
    opened.close()
    series = {("GET", f"/page/series/{{collection}}/{last}") for last in ("{cell#}", "csv", "parquet")}  # of releases
    assert paths == {("GET", "/"), ("GET", "/page/about"), ("GET", "/page/{file}"), *series}
