"""What a device's owner is told of the terms."""

from dataclasses import replace

from headcount_service.client.receipt import Receipt

PLAIN = Receipt("Q?", "c", 1, "taken", 2, 230, 1.0, 1e-6, 150, None, 1.0, 1e-6, corrupt=15, anyone=False, fixed=True)


def test_a_receipt_says_what_was_chosen_that_weakens_the_guarantee():
    sentences = {
        "corrupt": "only if all of them are honest",
        "anyone": "Anybody may report",
        "fixed": "end it at any moment",
    }
    weak = {"corrupt": 0, "anyone": True, "fixed": False}
    for name, words in sentences.items():
        assert words not in str(PLAIN)
        assert words not in str(replace(PLAIN, **{name: None}))
        assert words in str(replace(PLAIN, **{name: weak[name]}))


def test_who_relies_on_nobody_needs_nobody_to_be_honest():
    assert "honest" not in str(replace(PLAIN, corrupt=0, colluding=1.0))
    assert "honest" in str(replace(PLAIN, corrupt=0, colluding=1.1))
