"""The page takes a file: columns by name and type, the answer with its picture, the ledger beside it, and no value."""

from __future__ import annotations

import csv
import http.client
import json
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chromium import VIEWS, Looked

import headcount as hc
from cli.shell import headcount
from headcount.engines.file_formats import column_types
from headcount_service.web.data import Asked, Files, described

PEOPLE, CHURNED, SECRET = 3_000, 900, "unmistakable"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    with (folder / "customers.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "churned", "plan", "spend"])
        for i in range(PEOPLE):
            rows.writerow([i, "Yes" if i < CHURNED else "No", ["basic", "pro", SECRET][i % 3], i % 50])
    return folder


@contextmanager
def started(folder: Path, *files: str, ending: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """`headcount web` as it is started, in the folder of the file."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "headcount", "web", *files, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder) as server:
        try:
            assert server.stdout is not None
            told = server.stdout.readline().removeprefix("the page is at ").strip()
            assert told.startswith(f"http://127.0.0.1:{port}/")
            yield told.rstrip("/")
        finally:
            server.send_signal(ending)
            server.wait(60)


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[str]:
    with started(folder, "customers.csv") as address:
        yield address


def sent(page: str, method: str, path: str, body: bytes | str = b"", **headers: str) -> tuple[int, bytes]:
    at = urlsplit(page)
    connection = http.client.HTTPConnection(at.netloc, timeout=60)
    try:
        connection.request(
            method, at.path + path, body, {name.replace("_", "-"): value for name, value in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


COUNT = {"task": "count", "column": "churned", "where": "Yes", "epsilon": "0.5", "delta": "0"}


def test_columns_are_told_by_name_and_type_and_no_value_is(page: str) -> None:
    status, told = sent(page, "GET", "/page/files/0")
    assert status == 200
    assert [column["name"] for column in json.loads(told)["columns"]] == ["id", "churned", "plan", "spend"]
    for words in (b"Yes", SECRET.encode(), str(PEOPLE).encode()):
        assert words not in told


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_columns_of_every_kind_of_file(ending: str, tmp_path: Path) -> None:
    import gzip

    path = tmp_path / f"people.{ending}"
    table = pa.table({"id": [1, 2], "word": [SECRET, "b"]})
    if ending == "parquet":
        pq.write_table(table, path)
    elif ending == "arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    else:
        text = f"id,word\n1,{SECRET}\n".replace(",", "\t" if ending == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if ending == "csv.gz" else text)
    found = column_types(path)
    assert [name for name, _ in found] == ["id", "word"]
    assert {kind for _, kind in found} == ({"int64", "string"} if ending in ("parquet", "arrow") else {"text"})
    assert SECRET not in str(found)


@pytest.fixture
def fresh(folder: Path) -> Iterator[str]:
    """A page whose ledger nobody has charged."""
    with started(folder, "customers.csv") as address:
        yield address


def test_an_answer_is_charged_and_told_with_the_lines_that_ask_the_same(fresh: str, folder: Path) -> None:
    _, before = sent(fresh, "POST", "/page/files/0/advice", json.dumps(COUNT))
    advice = json.loads(before)
    assert advice["people"] == PEOPLE
    assert 0 < advice["off"] < 20
    spent = json.loads(sent(fresh, "GET", "/page/files/0")[1])["ledger"]["spent"]
    status, body = sent(fresh, "POST", "/page/files/0/answer", json.dumps(COUNT))
    told = json.loads(body)
    assert status == 200
    assert abs(float(told["value"].split()[0].replace(",", "")) - CHURNED) < 60
    assert told["ledger"]["spent"] == pytest.approx(spent + advice["share"])
    assert headcount(*shlex.split(told["command"])[1:], where=folder).returncode == 0
    assert (folder / "chart.png").read_bytes().startswith(b"\x89PNG")
    done = subprocess.run(
        [sys.executable, "-c", told["python"]], capture_output=True, text=True, cwd=folder, check=True
    )
    assert "95% interval" in done.stdout
    for theme in ("light", "dark"):
        status, picture = sent(fresh, "GET", f"/page/files/0/pictures/{told['number']}/{theme}")
        assert (status, picture[:4]) == (200, b"\x89PNG")
    assert sent(fresh, "GET", f"/page/files/0/pictures/{told['number']}/blue")[0] == 400
    assert sent(fresh, "GET", "/page/files/0/pictures/9999/light")[0] == 400


def test_a_downloaded_plan_runs_on_the_data_that_it_was_made_for(page: str, folder: Path) -> None:
    told = json.loads(sent(page, "POST", "/page/files/0/plan", json.dumps(COUNT))[1])
    (folder / "plan.json").write_text(told["file"])
    done = headcount(*shlex.split(told["command"])[1:], where=folder)
    assert done.returncode == 0, done.stderr
    assert "95% interval" in done.stdout


@pytest.mark.parametrize("kind", [each["name"] for each in described()])
def test_every_question_about_a_column_is_asked_from_its_form(
    kind: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where the lines save their chart
    forms: dict[str, dict[str, str | bool]] = {
        "count": {"column": "churned", "where": "Yes"},
        "fraction": {"column": "churned", "where": "Yes"},
        "histogram": {"column": "plan", "categories": f"basic,pro,{SECRET}"},
        "table": {"columns": f"plan=basic,pro,{SECRET}\nspend=0:10:50"},
        "arrivals": {"column": "spend", "periods": "50"},
    }
    numbers: dict[str, str | bool] = {"column": "spend", "bounds.low": "0", "bounds.high": "100", "clip": True}
    asked = Asked.read({"task": kind, "epsilon": "1", "delta": "0", **forms.get(kind, numbers)})
    file = Files(tmp_path, folder / "customers.csv")[0]
    told = file.answered(asked)
    assert told["value"] or told["rows"] or told["sheets"]
    assert (told["curve"] is not None) == (kind in ("distribution", "quantile"))
    assert file.advised(asked)["people"] == PEOPLE
    done = headcount(*shlex.split(told["command"])[1:], where=tmp_path)
    assert done.returncode == 0, done.stderr
    exec(compile(told["python"], "page", "exec"), {})  # noqa: S102


@pytest.mark.parametrize(
    ("column", "typed", "written", "people"),
    [
        ("churned", "Yes", "where='Yes'", CHURNED),
        ("churned", " Yes , y,No", "where=['Yes', 'y', 'No']", PEOPLE),
        ("spend", "7", "where=7", PEOPLE // 50),
        ("spend", "7, 8.0", "where=[7, 8.0]", PEOPLE // 25),
        ("left", "true", "where=True", PEOPLE // 5),
    ],
)
@pytest.mark.parametrize("kind", ["count", "fraction"])
def test_one_value_or_several_count_as_a_one_in_the_answer_and_in_its_lines(
    kind: str, column: str, typed: str, written: str, people: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    everybody = range(PEOPLE)
    of = {"churned": ["Yes" if i < CHURNED else "No" for i in everybody], "spend": [i % 50 for i in everybody]}
    pq.write_table(pa.table({**of, "left": [i % 5 == 0 for i in everybody]}), "customers.parquet")
    file = Files(tmp_path, Path("customers.parquet"))[0]
    asked = Asked.read({"task": kind, "column": column, "where": typed, "epsilon": "2", "delta": "0"})
    exact = people if kind == "count" else people / PEOPLE
    near = 0.02 * (PEOPLE if kind == "count" else 1)
    told = file.answered(asked)
    assert file.answers[0].value == pytest.approx(exact, abs=near)
    assert f" {written}," in told["python"]
    here: dict[str, Any] = {}
    exec(compile(told["python"], "page", "exec"), here)  # noqa: S102
    assert here["answer"].value == pytest.approx(exact, abs=near)
    Path("plan.json").write_text(file.plan(asked)["file"])
    for command in (told["command"], file.plan(asked)["command"]):
        done = headcount(*shlex.split(command)[1:], "--format", "json", where=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["value"] == pytest.approx(exact, abs=near)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"column": ""}, "column"),
        ({"column": "nobody"}, "column"),
        ({"where": "Yes,,No"}, "where"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": "99"}, "epsilon"),
        ({"task": "nothing"}, "task"),
        ({"task": "table", "where": ""}, "columns"),
        ({"task": "table", "where": "", "columns": "plan"}, "--columns"),
        ({"more": "x"}, "more"),
        ({"task": "mean", "column": "spend"}, "bounds"),
        ({"task": "mean", "column": "spend", "where": "", "bounds.low": "9", "bounds.high": "1"}, "bounds"),
        ({"column": "plan", "where": ""}, None),
    ],
)
def test_what_cannot_be_asked_is_refused_at_its_field_without_a_value_or_a_charge(
    page: str, wrong: dict[str, str], field: str | None
) -> None:
    before = json.loads(sent(page, "GET", "/page/files/0")[1])["ledger"]
    for path in ("advice", "answer", "plan") if field else ("answer",):  # values are only read for an answer
        status, body = sent(page, "POST", f"/page/files/0/{path}", json.dumps({**COUNT, **wrong}))
        told = json.loads(body)
        assert status == 400
        assert field is None or told["field"] == field
        assert SECRET not in told["error"]
    assert json.loads(sent(page, "GET", "/page/files/0")[1])["ledger"] == before


def test_what_the_ledger_does_not_pay_for_is_refused(folder: Path, tmp_path: Path) -> None:
    file = Files(tmp_path, folder / "customers.csv")[0]
    asked = Asked.read({**COUNT, "epsilon": "2"})
    file.answered(asked)
    assert not file.advised(asked)["fits"]
    with pytest.raises(hc.errors.OverBudget):
        file.answered(asked)
    assert len(file.answers) == 1


MESSY = {
    **{"task": "fraction", "column": "left", "by": "plan", "unit": "id", "spelled": True, "epsilon": "20"},
    **{"categories": "basic, pro", "blanks": "NA, -", "synonyms": "pro=Pro,PRO; yes=oui"},
    "missing": "left=no, plan=other",
}


def test_a_messy_file_is_answered_in_groups_and_the_lines_ask_the_same(tmp_path: Path) -> None:
    path = tmp_path / "messy.csv"
    rows = ["oui;Pro;1.234,50 €", "no;PRO;-", "NA;basic;12,00", "YES;;€1,00"] * 60
    path.write_text(
        "\n".join(["id;left;plan;spent", *(f"{at};{row}" for at, row in enumerate(rows))]), encoding="utf-8"
    )
    file = Files(tmp_path, path)[0]
    file.ledger = hc.Ledger(epsilon=50)
    told = file.answered(Asked.read(MESSY))
    assert [[name, round(float(value), 1)] for name, value, _ in told["rows"]] == [
        ["basic", 0.0],
        ["pro", 0.5],
        ["(other)", 1.0],
    ]
    assert told["rules"].startswith("As declared: Pro and PRO count as pro; oui counts as yes; ")
    printed = headcount(*shlex.split(told["command"])[1:], where=tmp_path)
    assert (printed.returncode, "0.5" in printed.stdout) == (0, True)
    done = subprocess.run(
        [sys.executable, "-c", told["python"]], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert "as declared: Pro and PRO count as pro; oui counts as yes" in done.stdout
    bounds = {"bounds.low": "0", "bounds.high": "100", "clip": True, "numbers": "1.234,50"}
    spent = {**MESSY, **bounds, "task": "mean", "column": "spent", "missing": "spent=0, plan=other", "spelled": False}
    means = [float(value) for _, value, _ in file.answered(Asked.read(spent))["rows"]]
    assert means == pytest.approx([12, 50, 1], abs=5)
    assert file.advised(Asked.read(spent))["people"] == 240
    with pytest.raises(hc.Refused, match="by is not known to plans"):
        file.plan(Asked.read(MESSY))
    with pytest.raises(hc.Refused, match="categories is missing; name the groups"):
        file.answered(Asked.read({**spent, "categories": "", "missing": "spent=0, plan=category", "delta": "1e-6"}))


def test_groups_of_two_columns_and_several_rows_of_a_person_are_asked_for_too(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    rows = [f"{at // 3},{'mug' if at % 3 else 'pen'},{'DE' if at % 2 else 'FR'}" for at in range(900)]
    path.write_text("\n".join(["who,what,where from", *rows]), encoding="utf-8")
    file = Files(tmp_path, path)[0]
    file.ledger = hc.Ledger(epsilon=50, delta=0.1)
    both = {"task": "count", "column": "what", "where": "mug", "by": "what", "and_by": "where from"}
    both |= {
        "categories": "what=mug,pen; where from=DE,FR",
        "epsilon": "8",
        "private": True,
        "unit": "who",
        "max_contributions": "3",
    }
    products = {"task": "histogram", "column": "what", "unit": "who", "max_contributions": "2", "private": True}
    for form in (both, {**products, "epsilon": "3", "delta": "1e-6"}):
        asked = Asked.read(form)
        assert file.advised(asked)["people"] is None
        told = file.answered(asked)
        printed = headcount(*shlex.split(told["command"])[1:], where=tmp_path)
        assert (printed.returncode, "add-or-remove-one" in printed.stdout) == (0, True), printed.stderr
        assert "neighbours='add-remove'" in told["python"]
        with pytest.raises(hc.Refused, match="is not known to plans"):
            file.plan(asked)
    with pytest.raises(hc.Refused, match="neighbours"):
        file.answered(Asked.read({**products, "private": False, "epsilon": "1", "delta": "1e-6"}))
    share = {"task": "fraction", "column": "what", "where": "mug", "unit": "who", "max_contributions": "1"}
    assert file.advised(Asked.read({**share, "private": True, "epsilon": "1"}))["off"] is None


def test_the_ledger_of_the_folder_is_charged(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hc.Ledger.create("headcount.ledger", epsilon=1)
    file = Files(tmp_path, folder / "customers.csv")[0]
    told = file.answered(Asked.read({**COUNT, "epsilon": "0.2"}))
    assert hc.Ledger.open("headcount.ledger").questions == 1
    (charge,) = file.to_json()["ledger"]["charges"]
    assert charge["asks"] == f"count of {COUNT['column']}"
    exec(compile(told["python"], "page", "exec"), {})  # noqa: S102 - what is copied charges it, too
    assert hc.Ledger.open("headcount.ledger").questions == 2
    assert "--ledger headcount.ledger" in told["command"]
    headcount(*shlex.split(told["command"])[1:], where=tmp_path)
    assert hc.Ledger.open("headcount.ledger").questions == 3


def test_a_ledger_behind_a_broken_link_is_not_taken_for_none(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("headcount.ledger").symlink_to(tmp_path / "disk" / "that is not there")
    with pytest.raises(hc.errors.BadArgument, match="does not exist"):
        Files(tmp_path, folder / "customers.csv")


def test_no_other_page_and_no_other_name_reaches_the_file(page: str) -> None:
    body = json.dumps(COUNT)
    for path in ("/page/files/0/answer", "/page/files/0/advice", "/page/files/x.csv"):
        assert sent(page, "POST", path, body, Origin="http://elsewhere.example")[0] == 403
        assert sent(page, "POST", path, body, Host="rebound.example")[0] == 421
    for path in ("/page/files/0", "/page/files/0/pictures/0/light"):
        assert sent(page, "GET", path, Host="rebound.example")[0] == 421
        assert sent(page, "GET", path, Origin="http://elsewhere.example")[0] == 403


def test_nobody_who_was_not_told_the_address_reaches_the_file(page: str, folder: Path) -> None:
    """Others on this machine find the port, and no page: its address is a secret, which is drawn anew each time."""
    asked, at = json.dumps(COUNT), page.rpartition("/")[0]
    for path in ("/page/files/0", "/page/about", "/", "/page/page.js"):
        assert sent(page, "GET", path)[0] == 200
        for under in ("", "/" + 22 * "A", page[len(at) :].swapcase(), page[len(at) : -1]):
            assert sent(at + under, "GET", path)[0] == 404, (under, path)
    for path in ("/page/files/0/answer", "/page/files/0/advice", "/page/files/x.csv", "/page/visits", "/page/quick"):
        assert sent(at, "POST", path, asked)[0] == 404
    with started(folder, "customers.csv") as other:
        assert len({other.rpartition("/")[2], page.rpartition("/")[2]}) == 2
        assert sent(f"{other.rpartition('/')[0]}{page[len(at) :]}", "GET", "/page/files/0")[0] == 404


def test_pages_elsewhere_cannot_even_embed_an_answer(page: str) -> None:
    """Whether a picture is there tells that somebody asked."""
    connection = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    connection.request("GET", urlsplit(page).path + "/page/files/0")
    answer = connection.getresponse()
    connection.close()
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_a_dropped_file_is_for_its_owner_alone_and_what_is_no_table_is_not_kept(tmp_path: Path, folder: Path) -> None:
    files = Files(tmp_path)
    told = files.drop("customers.csv", (folder / "customers.csv").read_bytes())
    (kept,) = tmp_path.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert (told["number"], told["name"]) == (0, "customers.csv")
    for name, content in (("x.parquet", b"PAR1 no"), ("x.exe", b"MZ"), ("empty.csv", b""), ("../../x.csv", b"")):
        with pytest.raises(hc.Refused):
            files.drop(name, content)
    assert [each.name for each in tmp_path.iterdir()] == [kept.name]


@pytest.mark.parametrize("ending", [signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM])
def test_a_dropped_file_goes_with_the_page_however_it_ends(
    ending: signal.Signals, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal that is closed hangs up."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = signal.signal(ending, signal.SIG_DFL)  # as it is where nobody has asked to ignore it
    try:
        with started(folder, "customers.csv", ending=ending) as address:
            sent(address, "POST", "/page/files/people.csv", b"churned\nYes\nNo\n")
            assert len([*tmp_path.rglob("dropped-*")]) == 1
    finally:
        signal.signal(ending, before)
    assert [*tmp_path.iterdir()] == []


def test_a_file_that_is_dropped_again_has_the_ledger_that_it_had(tmp_path: Path, folder: Path) -> None:
    files, content = Files(tmp_path), (folder / "customers.csv").read_bytes()
    number = files.drop("customers.csv", content)["number"]
    files[number].answered(Asked.read(COUNT))
    assert files.drop("again.csv", content)["number"] == number
    assert len(files) == 1


def test_a_file_that_was_named_is_dropped_for_no_fresh_ledger(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hc.Ledger.create("headcount.ledger", epsilon=1)
    files, content = Files(tmp_path, folder / "customers.csv"), (folder / "customers.csv").read_bytes()
    assert files.drop("again.csv", content)["number"] == 0
    assert files.drop("other.csv", content + b"9000,Yes,pro,1\n")["number"] == 1
    assert files[1].ledger.budget.epsilon == 3


def test_a_file_that_is_read_in_another_way_has_the_same_ledger(tmp_path: Path, folder: Path) -> None:
    files, content = Files(tmp_path), (folder / "customers.csv").read_bytes()
    number = files.drop("customers.csv", content)["number"]
    again = files.drop("customers.tsv", content)["number"]
    assert again != number
    assert files[again].ledger is files[number].ledger
    assert files.drop("customers.tsv", content)["number"] == again


def test_files_that_are_dropped_at_once_are_kept_apart(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        told = [*pool.map(lambda at: files.drop(f"{at}.csv", f"column{at}\n1\n".encode()), range(16))]
    for at, each in enumerate(told):
        assert [column["name"] for column in files.state(each["number"])["columns"]] == [f"column{at}"]


@pytest.mark.parametrize("name", ["a." + "c" * 300, "a.c\nsv", "..csv\0", "a.csv;b", "a.parquet.gz", ""])
def test_a_file_is_kept_under_no_name_of_its_own(tmp_path: Path, name: str) -> None:
    with pytest.raises(hc.Refused, match="by its name"):
        Files(tmp_path).drop(name, b"x\n1\n")
    assert not [*tmp_path.iterdir()]


def test_a_party_in_earnest_takes_no_file(trial: Any) -> None:
    assert "files" not in json.loads(sent(trial.shuffler, "GET", "/page/about")[1])["parts"]
    assert sent(trial.shuffler, "POST", "/page/files/x.csv", b"a\n1\n")[0] == 404


def _looked(browser: Any, view: str) -> Looked:
    context = browser.new_context(**VIEWS[view])
    looked = Looked(context.new_page())
    looked.page.on("console", lambda said: looked.problems.append(said.text) if said.type == "error" else None)
    looked.page.on("pageerror", lambda error: looked.problems.append(str(error)))
    looked.page.on("request", lambda asked: looked.hosts.add(urlsplit(asked.url).hostname or ""))
    return looked


def test_a_file_of_a_million_rows_is_answered_in_seconds_and_stays_here(browser: Any, tmp_path: Path) -> None:
    many = np.arange(1_000_000)
    path = tmp_path / "million.parquet"
    pq.write_table(pa.table({"id": many, "left": many % 5 == 0}), path)
    with started(tmp_path) as page:
        _asked_in_seconds(_looked(browser, "light"), page, path)


def _asked_in_seconds(looked: Looked, page: str, path: Path) -> None:
    looked.page.goto(f"{page}/#data")
    looked.wait("#view-data:not([hidden])")
    began = time.monotonic()
    looked.page.set_input_files("#data-file", str(path))
    looked.wait("#data-asking:not([hidden])")
    looked.page.select_option("#data-column", "left")
    looked.page.click("#data-ask")
    looked.wait("#data-answer:not([hidden])")
    took = time.monotonic() - began
    assert re.match(r"(199,9|200,0)\d\d people", looked.page.inner_text("#data-value"))
    assert took < 60  # about 1 on a machine that has nothing else to do
    assert looked.hosts == {"127.0.0.1"}
    assert not looked.problems
    looked.page.context.close()


def test_a_file_can_be_chosen_as_soon_as_its_field_is_there(browser: Any, page: str, folder: Path) -> None:
    looked = _looked(browser, "light")
    held: list[Any] = []
    looked.page.route("**/data.js", lambda route: held.append(route))
    with looked.page.expect_request("**/data.js"):
        looked.page.goto(f"{page}/#data")
    looked.page.wait_for_timeout(100)
    assert looked.page.locator("#view-data").is_hidden()
    held[0].continue_()
    looked.wait("#view-data:not([hidden])")
    looked.page.set_input_files("#data-file", str(folder / "customers.csv"))
    looked.wait("body[data-read]")
    assert not looked.problems
    looked.page.context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_the_keyboard_is_enough_and_nothing_is_out_of_place(browser: Any, page: str, view: str) -> None:
    looked = _looked(browser, view)
    looked.page.goto(f"{page}/#data")
    looked.wait("#data-asking:not([hidden])")
    looked.page.focus("#data-task")
    looked.page.keyboard.press("Tab")
    looked.page.keyboard.type("churned")
    looked.page.keyboard.press("Tab")
    assert looked.page.evaluate("document.activeElement.name") == "by"
    looked.page.keyboard.press("Tab")
    looked.page.keyboard.type("Yes")
    looked.wait("body[data-advised=yes]")
    looked.page.keyboard.press("Enter")
    looked.wait("#data-picture img[data-drawn]")
    assert "people" in looked.page.inner_text("#data-value")
    assert looked.page.evaluate("document.activeElement.id") == "data-asked"
    assert looked.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    looked.page.context.close()


def test_nothing_is_shown_that_belongs_to_another_question(browser: Any, page: str) -> None:
    looked = _looked(browser, "light")
    looked.page.goto(f"{page}/#data")
    looked.wait("#data-asking:not([hidden])")
    looked.page.select_option("#data-column", "churned")
    looked.page.fill("#data-where", "Yes")
    looked.page.click("#data-ask")
    looked.wait("#data-picture img[data-drawn]")
    held: list[Any] = []
    looked.page.route("**/page/files/0/advice", lambda route: held.append(route))
    looked.page.fill("#data-where", "No")
    assert looked.page.locator("#data-answer").is_hidden()
    assert looked.page.locator("#data-picture img").count() == 0
    assert "being computed" in looked.page.inner_text("#data-advice")
    assert looked.page.locator("#data-lines").is_hidden()
    looked.page.context.close()
