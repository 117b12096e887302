"""YAML as it is written: whoever reads it finds the same values, however awkward they are."""

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import headcount as hc
from headcount.common import as_yaml as module
from headcount.common.as_yaml import as_yaml
from stress import lengths

AWKWARD = [
    "", " ", "~", "null", "Yes", "no", "on", "2026-01-01", "1e-6", "1.0", "0x1F", "1:30", "- a", "a: b", "a #b", "#",
    "'", '"', "\\",
    "|", ">", "%", "@", "`", "*a", "&a", "!tag", "{a}", "[a]", "?", "a\nb", "a\nb\n", "a\n\nb", "a\n\n", "\na\nb",
    " a\nb", "a \nb",
    "a\n  b", "a\n b\n\n c", "\t", "a\tb\nc", "a\r\nb", "\x00", "\x85", "\u2028", "\ufeff", "é日本🦀",
    "\U0010ffff", "\ud800",
    "---\na", "...\nb", "a\n---\nb", "- a\n- b", "key: |\n  text", "=", "<<", "on a day", "no one", "a-", "a\x7f\nb",
    ".inf", ".nan",
]  # fmt: skip
TEXT = st.one_of(
    st.sampled_from(AWKWARD), st.text(max_size=20), st.text(alphabet="ab -:#'\"|>\n\t\\`TODO", max_size=40)
)
SCALARS = st.one_of(
    TEXT, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
)  # fmt: skip
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(TEXT.map(lambda key: key[:20]), part, max_size=4)
)


def read(text):
    return yaml.load(text, Loader=yaml.SafeLoader)


@pytest.mark.parametrize("text", AWKWARD, ids=repr)
def test_awkward_text_comes_back(text):
    for value in (text, [text], {"key": text}, {"a": [{"b": text, "c": text}, [text]], "d": text}):
        assert read(as_yaml(value)) == value


@lengths("examples", 100, 2_000)
def test_everything_comes_back(examples):
    @settings(max_examples=examples, deadline=None)
    @given(VALUES)
    def comes_back(value):
        again = read(as_yaml(value))
        assert again == value
        assert repr(again) == repr(value)  # 1, 1.0 and True are different things

    comes_back()


def test_a_quote_that_is_left_out_is_noticed(monkeypatch):
    """The twin: a writer that quotes nothing does not bring the text back."""
    monkeypatch.setattr(module, "_quoted", lambda text: text)
    changed = 0
    for text in AWKWARD:
        try:
            changed += read(as_yaml({"key": text})) != {"key": text}
        except yaml.YAMLError:
            changed += 1
    assert changed > len(AWKWARD) // 2


def test_several_lines_are_kept_as_lines_and_styles_are_those_that_keep_spaces():
    text = as_yaml({"a": "one\ntwo", "b": "one: two", "c": ["x\ny\n"]})
    assert text == 'a: |-\n  one\n  two\nb: "one: two"\nc:\n  - |\n    x\n    y\n'
    assert all(getattr(token, "style", None) in (None, "|", '"') for token in yaml.scan(text))


@pytest.mark.parametrize("value", [math.inf, math.nan, (1,), {1, 2}, b"x", object()])
def test_what_yaml_does_not_have_is_refused(value):
    with pytest.raises(hc.Refused, match="use text"):
        as_yaml({"key": value})
