"""A site with planted breakage: what the link checker finds is what LinkChecker finds and what was planted."""

import re
from posixpath import dirname, join, normpath
from urllib.parse import unquote

import breakage
import linkchecker
from breakage import path_of
from lighten import lighten
from pages import FEW, count
from processes import say, stop

SEED = 20_26
# How much LinkChecker may have to read for anchors. It parses one to two megabytes a second.
ANCHOR_BYTES_MAX = 60_000_000
# How many targets without an explanation are listed.
NOTES_MAX = 20


def run(pages, table):
    site = pages.site("few", FEW)
    taken = lighten(site, ANCHOR_BYTES_MAX)
    planted = breakage.plant(site, SEED)
    say("installing LinkChecker")
    program = linkchecker.install(pages.work)
    url, server = pages.nginx(site)
    say(f"checking {count(site)} pages with planted breakage, then the same by LinkChecker")
    report, seconds = pages.check(url, 2)
    theirs, their_seconds = linkchecker.check(program, pages.work, url)
    stop(server)

    own = {}
    for entry in report["broken"]:
        # A missing page is missing whatever fragment is asked for.
        target = entry["url"] if entry["status"] == 200 else entry["url"].partition("#")[0]
        own.setdefault(path_of(target, url), set()).update(entry["referrers"])
    theirs = {path_of(target, url): referrers for target, referrers in theirs.items()}
    expected = planted.missing | planted.fragments

    table.add("pages with planted breakage", str(count(site)), "a few hundred", None)
    table.add("  large pages taken away before", str(taken), "", None)
    for kind, number in planted.counts.items():
        table.add(f"  {kind}", str(number), "", None)
    table.add("planted and found", f"{len(expected & own.keys())}", str(len(expected)), expected <= own.keys())
    table.add("broken targets found", str(len(own)), "", None)
    table.add("broken targets that LinkChecker finds", str(len(theirs)), "", None)
    unplanted = (own.keys() & theirs.keys()) - expected
    table.add("  of both, in the pages as Debian has them", str(len(unplanted)), "", None)
    _differences(table, "only found here", own.keys() - theirs.keys(), own, False, site)
    _differences(table, "only found by LinkChecker", theirs.keys() - own.keys(), theirs, True, site)
    for target in sorted(expected - own.keys()):
        table.note(f"planted and not found: {target}")
    table.add("seconds, here with 2 workers", f"{seconds:.1f}", "", None)
    table.add("seconds, LinkChecker", f"{their_seconds:.1f}", "", None)


def _differences(table, title, targets, found, is_theirs, site):
    kinds = {}
    for target in sorted(targets):
        kinds.setdefault(explain(target, found[target], is_theirs, site), []).append(target)
    for kind in sorted(kinds, key=str):
        known = kind is not None
        table.add(f"  {title}: {kind or 'unexplained'}", str(len(kinds[kind])), "" if known else "0", known)
    unexplained = kinds.get(None, [])
    if len(unexplained) > NOTES_MAX:
        table.note(f"{title}: the first {NOTES_MAX} of {len(unexplained)}")
    for target in unexplained[:NOTES_MAX]:
        table.note(f"{title}: {target} from {', '.join(sorted(found[target])[:3])}")
    if not targets:
        table.add(f"  {title}", "0", "0", True)


def explain(target, referrers, is_theirs, site):
    """Why one of the two is right to say nothing, or None if that is not known."""
    if is_theirs and re.match(r"[a-z][a-z0-9+.-]*:", target) and not re.match(r"https?:", target):
        return "an unknown scheme, which the link check takes for a link that leaves the site"
    if is_theirs and all(page.endswith(".css") for page in referrers):
        return "url() of a style sheet, which LinkChecker reads and the link check does not"
    if is_theirs and any(_has_form(site, page, target) for page in referrers):
        return "the action of a form, which LinkChecker follows and the link check does not"
    return None


def _has_form(site, referrer, target):
    page = site / unquote(re.sub(r"^https?://[^/]*/|[#?].*", "", referrer))
    page = page / "index.html" if page.is_dir() else page
    if not page.is_file():
        return False
    actions = re.findall(r'<form [^>]*action="([^"]*)"', page.read_text(errors="replace"))
    return any(normpath(join(dirname(page.relative_to(site).as_posix()), action)) == target for action in actions)
