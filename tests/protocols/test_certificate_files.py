"""Certificates in files replace certificates, and nothing else."""

import pytest

import headcount as hc


def test_a_certificate_replaces_certificates_only(tmp_path):
    plan = hc.advise("count", n=100, epsilon=1, models="central").best
    certificate = hc.certify(plan)
    assert certificate.save(tmp_path / "new.json") == certificate.save(tmp_path / "new.json")
    hc.Ledger.create(tmp_path / "spent.ledger", epsilon=1)
    for path in (tmp_path / "spent.ledger", plan.save(tmp_path / "plan.json")):
        before = path.read_bytes()
        with pytest.raises(hc.Refused, match="exists and is not a certificate"):
            certificate.save(path)
        assert path.read_bytes() == before
