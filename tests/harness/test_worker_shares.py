"""Each costly server is started by one worker."""

from types import SimpleNamespace

import pytest

from shares import in_shares, server_of


def test_every_share_begins_with_the_tests_of_its_server():
    tests = [(number, (0, None, 1, None, 2, None)[number % 6]) for number in range(30)]
    ordered = in_shares(tests, lambda test: test[1], 3)
    assert sorted(ordered) == tests
    shares = ordered[:10], ordered[10:20], ordered[20:]
    for server, share in enumerate(shares):
        assert {each for _, each in share} == {server, None}
        assert [each for _, each in share[:5]] == [server] * 5


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_no_test_is_lost_whatever_the_workers_and_servers(workers):
    tests = [(number, 0 if number < 12 else None) for number in range(17)]
    ordered = in_shares(tests, lambda test: test[1], workers)
    assert sorted(ordered) == tests
    assert [server for _, server in ordered[:12]] == [0] * 12


def test_a_test_is_known_by_its_fixtures_and_its_name():
    def of(nodeid, *fixtures):
        return server_of(SimpleNamespace(nodeid=nodeid, fixturenames=fixtures))

    assert of("test_a[spark-postgresql]") == of("test_a", "spark") == 0
    assert of("test_a", "trial") == of("test_a", "browser") == 1
    assert of("test_a[postgresql]") == of("test_a", "postgres") == 2
    assert of("test_a", "tmp_path") is None
