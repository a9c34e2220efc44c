"""Removes the pages that would keep LinkChecker busy for hours.

Its AnchorCheck reads and parses a page once more for every anchor of it that is linked to. An index of a large manual
has thousands of them, so the indexes go, and then the pages that cost most, until what is left can be read in minutes.
A link to a page that went is a broken link like any other: both must find it.
"""

import re
from posixpath import basename, dirname, join, normpath

INDEX = re.compile(r"genindex|modindex|keyword_index|search\.html")
ANCHOR = re.compile(r'href="([^":#]*)#([^"]+)"')


def lighten(site, bytes_max):
    """Removes pages until a check of all linked anchors, one by one, reads at most `bytes_max`."""
    text = {
        page.relative_to(site).as_posix(): page.read_text(errors="replace")
        for page in sorted(site.rglob("*.html")) if page.is_file() and not page.is_symlink()}
    taken = {page for page in text if INDEX.search(basename(page))}
    linked = {
        page: {(normpath(join(dirname(page), path)) if path else page, name) for path, name in ANCHOR.findall(source)}
        for page, source in text.items()}
    while True:
        anchors = set().union(*(places for page, places in linked.items() if page not in taken))
        cost = {}
        for page, _ in anchors:
            if page in text and page not in taken:
                cost[page] = cost.get(page, 0) + len(text[page])
        if sum(cost.values()) <= bytes_max:
            break
        taken.add(max(sorted(cost), key=cost.get))
    for page in taken:
        (site / page).unlink()
    return len(taken)
