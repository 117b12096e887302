"""The pages of a trial are for this machine: not by another name (DNS rebinding), and not from another page."""

import http.client
from urllib.parse import urlsplit

import pytest


def asked(address, method, path, **headers):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in {"Content-Length": "0", **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.fixture
def own(trial):
    return urlsplit(trial.shuffler).netloc


def test_no_page_of_a_trial_answers_by_another_name(trial, own):
    port = own.split(":")[1]
    for path in ("/", "/page/about", "/page/page.css"):
        assert asked(trial.shuffler, "GET", path) == 200
        assert asked(trial.shuffler, "GET", path, Host=f"localhost:{port}") == 200
        assert asked(trial.shuffler, "GET", path, Host="localhost:9") == 200, "a tunnel has another port"
        for host in ("rebound.example", f"rebound.example:{port}", "127.0.0.1.rebound.example", "", "[::1", "a b"):
            assert asked(trial.shuffler, "GET", path, Host=host) in (400, 421), host
    assert asked(trial.shuffler, "POST", "/page/visits", Host=f"rebound.example:{port}") == 421


def test_no_other_page_makes_visits(trial, own):
    for origin in ("http://elsewhere.example", "null", f"https://{own}", "http://127.0.0.1", f"http://{own}.example"):
        assert asked(trial.shuffler, "POST", "/page/visits", Origin=origin) == 403, origin
    assert asked(trial.shuffler, "POST", "/page/visits", Sec_Fetch_Site="cross-site") == 403
    assert asked(trial.shuffler, "POST", "/page/visits", Origin=f"http://{own}") == 200
    assert asked(trial.shuffler, "GET", "/", Sec_Fetch_Site="cross-site") == 200, "a link may lead here"


def test_what_devices_ask_is_for_everybody(trial):
    assert asked(trial.shuffler, "GET", "/live", Host="shuffler.example", Origin="http://elsewhere.example") == 200
