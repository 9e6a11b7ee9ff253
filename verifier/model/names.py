"""When two names that people typed are one: case, blanks and look-alike forms of Unicode make no difference."""

from __future__ import annotations

import unicodedata


def same_name(text: str) -> str:
    """The form in which two spellings of one name are equal; empty for a name of nothing but blanks.

    NFKC and full case folding (Unicode Standard, 3.13, D146: compatibility caseless matching), invisible format
    characters left out, and runs of blanks as one space.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    seen = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return " ".join(seen.split())
