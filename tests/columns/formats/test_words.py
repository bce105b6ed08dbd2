"""Words for missing values and for truths: the lists of docs/howto/command-line.md."""

from semigp.columns.formats.words import MISSING_AMONG_NUMBERS, is_missing_word, missing_words, truths


def test_missing():
    assert all(map(is_missing_word, ["", " NA ", "n/a", "#N/A", "NaN", "NULL", "-", "?", "."]))
    assert not any(map(is_missing_word, ["none", "nothing", "0", "--"]))
    assert is_missing_word("None", MISSING_AMONG_NUMBERS)
    assert not is_missing_word("-", missing_words(["+", "-"]))


def test_truths():
    assert truths(["Yes", "no", "NO "]) == {"Yes": 1.0, "no": 0.0, "NO ": 0.0}
    assert truths(["true", "FALSE"]) == {"true": 1.0, "FALSE": 0.0}
    assert truths(["yes", "false"]) is None
    assert truths([]) is None
