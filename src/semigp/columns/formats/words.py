"""Words that stand for a missing value, and words that stand for 1 and 0."""

from __future__ import annotations

from collections.abc import Iterable

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "-", "?", "."})
MISSING_AMONG_NUMBERS = MISSING | {"none"}  # among other words, "none" may be a level such as "none, mild, severe"
_PAIRS = ({"no": 0.0, "yes": 1.0}, {"false": 0.0, "true": 1.0})


def missing_words(texts: Iterable[str | None]) -> frozenset[str]:
    """The words that are missing values in a column of words. Where there is a plus sign, the minus sign is none."""
    return MISSING - {"-"} if any(text is not None and text.strip() == "+" for text in texts) else MISSING


def is_missing_word(text: str, words: frozenset[str] = MISSING) -> bool:
    """Whether a cell holds nothing but a word for a missing value."""
    return len(text) < 50 and text.strip().lower() in words


def truths(texts: Iterable[str]) -> dict[str, float] | None:
    """1 for yes and true, 0 for no and false, if the texts are nothing but one of these pairs of words; else None."""
    found = set(texts)
    for pair in _PAIRS:
        if found and all(len(text) < 9 and text.strip().lower() in pair for text in found):
            return {text: pair[text.strip().lower()] for text in found}
    return None
