"""Records for the registry of deployments, held against a description of its schema."""

import re
import sys
from copy import deepcopy
from datetime import date

import pytest
import yaml
from typer.testing import CliRunner

import headcount as hc
from headcount.cli.main import app
from headcount.privacy.loss import KINDS
from headcount.protocols.base.registry import TODO

DEPLOYED = {"name": "Clicks", "curator": "Example & Co", "curator_type": "industry", "published": "2026-05-01"}
SAID = {
    "description": "Clicks on a page.", "use": "To improve it.", "region": "Global", "sector": "technology",
    "unit": "Device", "data_source": "static", "later": "Nothing.", "prepared": "Not at all.",
    "kept": "On the devices.", "justification": "It is small.", "authors": ["A. Nobody"],
    "sources": ["https://example.org/a?b=c#d", "https://example.org/e"],
}  # fmt: skip
TEXT, NUMBER, WHOLE = "text", "number", "whole"


def one_of(*values):
    return frozenset(values)


BIBLIOGRAPHY = {"title", "author", "url", "year", "note", "howpublished", "doi", "journal", "booktitle"}
SCHEMA = {
    "url_slug!": TEXT,
    "deployment!": {
        "basic!": {
            "name!": TEXT,
            "data_curators!": [
                {"data_curator_name!": TEXT, "data_curator_type!": one_of("Government", "Industry", "Nonprofit")}
            ],
            "description!": TEXT,
            "intended_use!": TEXT,
            "data_product_type!": one_of(
                "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
                "SQL queries",
            ),
            "data_product_region!": TEXT,
            "data_product_sector": one_of("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
            "publication_date!": date,
        },
        "dp_variant": {
            "variant_name": one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            "data_domain": TEXT,
            "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "number_of_privacy_units": WHOLE,
            "privacy_parameters": {"epsilon": NUMBER, "delta": NUMBER, "rho": NUMBER},
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
            "model_name_details": TEXT,
            "trust_assumptions": TEXT,
            "actors": TEXT,
            "release_type": one_of("One release", "Many releases"),
            "release_type_details": TEXT,
            "data_source_type": one_of("Static", "Dynamic"),
            "data_source_type_details": TEXT,
            "access_type": one_of("Interactive", "Non-interactive"),
            "access_type_details": TEXT,
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT,
            "mechanisms": TEXT,
            "composition": TEXT,
            "post_processing": TEXT,
            "justification": TEXT,
            "utility": TEXT,
            "additional_information": TEXT,
        },
        "administrative!": {
            "evidence_sources": {
                "*": {
                    "evidence_source_type": one_of(
                        "Peer-reviewed publication", "Formal publication by the deploying organization",
                        "Authorized organizational attestation", "Other public source",
                    ),
                    "misc": dict.fromkeys(BIBLIOGRAPHY, TEXT),
                }
            },
            "status!": one_of("Converted", "Draft", "Pending", "Changes Required", "Approved"),
            "registry_authors!": [TEXT],
            "tier!": one_of(1, 2, 3),
        },
    },
}  # fmt: skip


def problems(value, schema=SCHEMA, place=""):
    """What is wrong with a record: unknown, missing or misplaced names, wrong types, values that are not allowed."""
    if isinstance(schema, dict):
        return _of_names(value, schema, place) if isinstance(value, dict) else [f"{place} is not an object"]
    if isinstance(schema, list):
        listed = isinstance(value, list) and value
        return [p for part in value for p in problems(part, schema[0], place)] if listed else [f"{place} is no list"]
    if isinstance(schema, frozenset):
        return [] if value in schema and not isinstance(value, bool) else [f"{place} is {value!r}"]
    if schema is date:
        return [] if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) else [f"{place} is no date"]
    kinds = {TEXT: str, NUMBER: (int, float), WHOLE: int}[schema]
    return [] if isinstance(value, kinds) and not isinstance(value, bool) else [f"{place} is not {schema}"]


def _of_names(value, schema, place):
    if "*" in schema:
        names = [f"{place}.{name} is not a name" for name in value if not re.fullmatch(r"\w+", name)]
        return names + [p for name, part in value.items() for p in problems(part, schema["*"], f"{place}.{name}")]
    known = {name.rstrip("!"): part for name, part in schema.items()}
    found = [f"{place}.{name} is unknown" for name in value if name not in known]
    found += [f"{place}.{name[:-1]} is missing" for name in schema if name.endswith("!") and name[:-1] not in value]
    order = [name for name in known if name in value]
    found += [] if order == [name for name in value if name in known] else [f"{place} is out of order"]
    return found + [
        p for name, part in value.items() if name in known for p in problems(part, known[name], f"{place}.{name}")
    ]


def planned(task, **given):
    return hc.advise(task, **{"n": 2_000, "epsilon": 1, "delta": 1e-6, **given}).best


PLANS = {
    "central count": lambda: planned(hc.Count(), models=["central"]),
    "pure central count": lambda: planned(hc.Count(), delta=0, models=["central"]),
    "add-remove": lambda: planned(hc.Count(), models=["central"], neighbours="add-remove"),
    "local fraction": lambda: planned(hc.Fraction(), delta=0, models=["local"]),
    "shuffled mean": lambda: planned(hc.Mean((0, 120)), models=["shuffle"], least=1_800, corrupt=100),
    "clipped sum": lambda: planned(hc.Sum((0, 1), clip=True), models=["shuffle"]),
    "threshold count": lambda: planned(hc.Count(), models=["shuffle-threshold"]),
    "histogram": lambda: planned(hc.Histogram(["a", "b: #c", "d\ne"]), models=["shuffle"]),
    "bins": lambda: planned(hc.Histogram.binned(30, (0, 1), other=True), models=["central"]),
    "unknown labels": lambda: planned(hc.Histogram(), models=["central"]),
}


@pytest.fixture(scope="module", params=PLANS)
def plan(request):
    return PLANS[request.param]()


def test_records_fit_the_schema(plan):
    draft, full = plan.to_registry(**DEPLOYED), plan.to_registry(**DEPLOYED, **SAID)
    assert problems(draft.to_json()) == problems(full.to_json()) == []
    assert (draft.to_json()["deployment"]["administrative"]["tier"], bool(draft.todo)) == (2, True)
    assert (full.to_json()["deployment"]["administrative"]["tier"], full.todo) == (3, [])
    assert TODO not in full.to_yaml()
    assert not re.search(r"\\\\[^()]", draft.to_yaml())  # the registry takes two backslashes for LaTeX


def test_records_say_what_the_plan_says(plan):
    record, protocol = plan.to_registry(**DEPLOYED).to_json()["deployment"], plan.protocol
    exact = plan.protocol.loss.delta(plan.budget.epsilon)
    assert record["privacy_loss"]["privacy_parameters"]["epsilon"] == plan.budget.epsilon
    assert record["privacy_loss"]["privacy_parameters"].get("delta", 0) == (plan.budget.delta if exact else 0)
    assert record["dp_variant"]["variant_name"] == ("Approximate DP" if exact else "Pure DP")
    assert record["deployment_model"]["model_name"].lower() == protocol.model.split("-")[0]
    private = protocol.neighbours is hc.Neighbours.ADD_REMOVE
    assert record["privacy_loss"].get("number_of_privacy_units") == (None if private else 2_000)
    assert ("symmetric" if private else "change-one") in record["privacy_loss"]["privacy_unit_details"]
    for said in (protocol.name, protocol.reference, plan.hash, f"headcount {hc.__version__}", *protocol.parameters):
        assert said in record["implementation"]["mechanisms"]
    assert KINDS[protocol.loss.kind] in record["privacy_loss"]["privacy_parameters_details"]
    if protocol.model is hc.Model.SHUFFLE:
        assert f"{protocol.crowd.honest:,} people are trusted" in record["deployment_model"]["trust_assumptions"]
        assert "nothing is left" in record["deployment_model"]["trust_assumptions"]


def test_yaml_says_the_same(plan):
    for record in (plan.to_registry(**DEPLOYED), plan.to_registry(**{**DEPLOYED, "name": "yes: #no\n- 'x'"}, **SAID)):
        assert yaml.safe_load(record.to_yaml()) == record.to_json()


BREAKS = {
    "a name that is unknown": lambda d: d["basic"].update(surprise=1),
    "a name that is missing": lambda d: d["basic"].pop("intended_use"),
    "a value that is not allowed": lambda d: d["deployment_model"].update(model_name="Shuffled"),
    "a number as text": lambda d: d["privacy_loss"]["privacy_parameters"].update(epsilon="1"),
    "a truth value for a number": lambda d: d["administrative"].update(tier=True),
    "text for a list": lambda d: d["basic"].update(data_curators="Example"),
    "nobody as author": lambda d: d["administrative"].update(registry_authors=[]),
    "a date in another form": lambda d: d["basic"].update(publication_date="1/5/2026"),
    "another order": lambda d: d.update(basic=d.pop("basic")),
    "a name with a space": lambda d: d["administrative"]["evidence_sources"].update({"a b": {}}),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_broken_records_do_not_fit(broken):
    """The twins of the check above."""
    record = deepcopy(PLANS["central count"]().to_registry(**DEPLOYED, **SAID).to_json())
    BREAKS[broken](record["deployment"])
    assert problems(record)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [({"curator_type": "club"}, "government, industry, nonprofit"), ({"published": "May"}, "YYYY-MM-DD"),
     ({"sector": "sport"}, "sector"), ({"releases": "some"}, "one release"), ({"data_source": "flowing"}, "static")],
)  # fmt: skip
def test_what_the_registry_does_not_take_is_refused(wrong, match):
    with pytest.raises(hc.Refused, match=match):
        PLANS["central count"]().to_registry(**{**DEPLOYED, **wrong})


def test_files_have_names_that_the_registry_takes_and_are_never_replaced(tmp_path):
    record = PLANS["central count"]().to_registry(**DEPLOYED)
    assert record.save(tmp_path / "clicks_2026.yaml").read_text() == record.to_yaml() == str(record)
    with pytest.raises(hc.Refused, match="exists already"):
        record.save(tmp_path / "clicks_2026.yaml")
    for name in ("Clicks.yaml", "clicks.yml", "my-clicks.yaml"):
        with pytest.raises(hc.Refused, match="small letters"):
            record.save(tmp_path / name)


def test_texts_of_several_lines_can_be_edited():
    text = PLANS["central count"]().to_registry(**DEPLOYED).to_yaml()
    assert "    mechanisms: |-\n" in text
    assert "\\n" not in text


def test_without_the_extra_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    record = PLANS["central count"]().to_registry(**DEPLOYED)
    with pytest.raises(hc.Refused, match=r"headcount\[registry\]"):
        record.to_yaml()
    assert record.to_json()["url_slug"]


def test_the_command_line_exports(tmp_path):
    PLANS["shuffled mean"]().save(tmp_path / "plan.json")
    given = ["export", str(tmp_path / "plan.json"), "--name", "Ages", "--curator", "Us", "--curator-type", "nonprofit"]
    given += ["--published", "2026-05-01", "--source", "https://example.org"]
    shown = CliRunner().invoke(app, given)
    assert shown.exit_code == 0
    assert shown.output.startswith("url_slug: ages-us-2026\n")
    written = CliRunner().invoke(app, [*given, "--out", str(tmp_path / "ages.yaml")])
    assert "7 places are left" in written.output
    assert (tmp_path / "ages.yaml").read_text() == shown.output
