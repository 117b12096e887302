"""Prometheus itself reads the rules and the series, and every alert fires when it should and not before."""

import re
import subprocess
from pathlib import Path

import yaml

import needs
from headcount_service.runtime.metrics import Metrics

PROMETHEUS = Path(__file__).parents[2] / "deploy" / "prometheus"
RULES = yaml.safe_load((PROMETHEUS / "headcount.rules.yml").read_text())
ALERTS = {rule["alert"]: rule for group in RULES["groups"] for rule in group["rules"]}
DAY = 86_400
DAYS = 2  # for which every alert is watched

# For every alert a series that must bring it about, as promtool writes series minute by minute, and one that must not.
CASES = {
    "HeadcountAway": ('up{job="headcount"}', "0x2880", "1x2880"),
    "HeadcountErrors": ('headcount_answers_total{status="5xx"}', "0+6x2880", "0+2x2880"),
    "HeadcountStepsFail": ('headcount_steps_total{outcome="failed"}', "0+1x2880", "0+0x2880"),
    "HeadcountQueueFull": ("headcount_waiting", "401x2880", "400x2880"),
    "HeadcountBatchShort": ('headcount_open_batches{reports="late"}', "1x2880", "0x2880"),
    "HeadcountNobodyReports": ("headcount_least_share", "0x2880", "0.01x2880"),
    "HeadcountBudgetLow": ("headcount_budget_free", "0.09x2880", "0.1x2880"),
    "HeadcountKeyExpires": ("headcount_key_expiry_seconds", f"{3 * DAY - 1200}x2880", f"{3 * DAY + 1200}x2880"),
}


def promtool(*words, **options):
    done = subprocess.run([needs.promtool(), *words], capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout + done.stderr


def fired(folder, rules, cases):
    """By name of a case the alerts that fire at its end: what promtool says of tests that nothing does."""
    (folder / "rules.yml").write_text(yaml.safe_dump(rules))
    silent = [{"eval_time": f"{DAYS}d", "alertname": name, "exp_alerts": []} for name in ALERTS]
    tests = [
        {
            "name": name,
            "interval": "1m",
            "input_series": [{"series": case[0], "values": case[1]}],
            "alert_rule_test": silent,
        }
        for name, case in cases.items()
    ]
    (folder / "tests.yml").write_text(
        yaml.safe_dump({"rule_files": ["rules.yml"], "evaluation_interval": "10m", "tests": tests})
    )
    _, told = promtool("test", "rules", "tests.yml", cwd=folder)
    assert "SUCCESS" in told or "FAILED" in told, told
    found = {name: set() for name in cases}
    for name, alert in re.findall(r"name: (.+),\s+alertname:\s*(\w+), time", told):
        found[name].add(alert)
    return found


def test_prometheus_takes_the_rules_the_recipe_and_the_series():
    failed, told = promtool("check", "rules", str(PROMETHEUS / "headcount.rules.yml"))
    assert not failed, told
    assert f"{len(ALERTS)} rules found" in told
    failed, told = promtool("check", "config", "--syntax-only", str(PROMETHEUS / "scrape.yml"))
    assert not failed, told
    for party in ("shuffler", "analyser"):
        metrics = Metrics(party)
        metrics.count_answer("/live", 503)
        metrics.count_step("failed")
        assert promtool("check", "metrics", input=metrics.page().decode()) == (0, "")


def test_rules_that_prometheus_would_not_take_are_noticed(tmp_path):
    (tmp_path / "rules.yml").write_text((PROMETHEUS / "headcount.rules.yml").read_text().replace("rate(", "rat("))
    failed, told = promtool("check", "rules", str(tmp_path / "rules.yml"))
    assert failed
    assert "rat" in told


def test_every_alert_has_a_case():
    assert set(CASES) == set(ALERTS)


def test_an_alert_fires_when_it_should_and_not_before(tmp_path):
    bad = {f"{alert} bad": (series, values) for alert, (series, values, _) in CASES.items()}
    good = {f"{alert} good": (series, values) for alert, (series, _, values) in CASES.items()}
    expected = {f"{alert} bad": {alert} for alert in CASES} | {name: set() for name in good}
    assert fired(tmp_path, RULES, bad | good) == expected


def test_an_alert_that_never_fires_is_noticed(tmp_path):
    broken = {"alert": "HeadcountAway", "expr": 'up{job="headcounts"} == 0', "for": "2m"}
    series, bad, _ = CASES["HeadcountAway"]
    rules = {"groups": [{"name": "broken", "rules": [broken]}]}
    assert fired(tmp_path, rules, {"bad": (series, bad)}) == {"bad": set()}
