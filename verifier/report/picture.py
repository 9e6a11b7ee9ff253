"""A drawn figure as one SVG element: the same figure gives the same text, on any machine and day."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from verifier.report.text import plain

SETTINGS: Any = {
    "svg.hashsalt": "verifier-stats",  # ids from content
    "svg.fonttype": "none",  # text stays text: it can be searched, copied and read aloud
    "text.parse_math": False,
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
# Okabe and Ito (2008), told apart by colour-blind readers; dashes and markers differ too, for print
STYLES = (
    ("#D55E00", "-", "o"),
    ("#0072B2", (0, (6, 2)), "s"),
    ("#009E73", (0, (2, 1.5)), "^"),
    ("#CC79A7", (0, (6, 2, 1, 2)), "D"),
    ("#7a5c00", (0, (1, 1)), "v"),
    ("#56B4E9", (0, (4, 1, 1, 1, 1, 1)), "x"),
)
GREY, INK = "#7f7f7f", "#333333"
LONGEST_LABEL = 28


def svg_of(draw: Callable[[], Figure], *, title: str) -> str:
    """The figure that `draw` makes, without prolog, outside reference or date; `title` is read aloud in its place."""
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing glyph is the reader's font's business
        canvas: Any = FigureCanvasSVG(draw())
        buffer = io.StringIO()
        canvas.print_svg(buffer, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r'\1 width="100%" role="img"', svg, count=1)
    told = ascii_words(title).translate({ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"})
    return svg.replace("<defs>", f"<title>{told}</title>\n <defs>", 1) + "\n"


def ascii_words(text: str) -> str:
    """Somebody's words on one line, every other character as its escape: no font is missing anything."""
    return plain(text).encode("ascii", "backslashreplace").decode()


def short(text: str) -> str:
    """The words, cut to the length of a label."""
    words = ascii_words(text)
    return words if len(words) <= LONGEST_LABEL else f"{words[: LONGEST_LABEL - 3]}..."
