"""Breaks a site in places that are chosen by a seed and written down."""

import random
import re
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from urllib.parse import quote, unquote

LINK = re.compile(rb'<a [^>]*?href="([^":?#]+\.html)(#[^"]+)?"')
IMAGE = re.compile(rb'<img [^>]*?src="([^":?#]+)"')


@dataclass
class Planted:
    """What must be found: paths that are not there, and fragments that no page has."""

    missing: set = field(default_factory=set)
    fragments: set = field(default_factory=set)
    counts: dict = field(default_factory=dict)

    def put(self, kind, targets, target):
        if target not in targets:
            targets.add(target)
            self.counts[kind] = self.counts.get(kind, 0) + 1


def plant(site, seed, count=10):
    """Breaks `count` things of each kind."""
    chance = random.Random(seed)
    planted = Planted()
    _take_pages_away(site, chance, planted, count // 2)
    _break_links(site, chance, planted, count)
    # From here on no page is lost, so whatever is planted in these can be found.
    pages = sorted(_reachable(site))
    _break_fragments(site, pages, chance, planted, count)
    _break_images(site, pages, chance, planted, count)
    _take_anchors_away(site, pages, chance, planted, count)
    return planted


def _reachable(site):
    """The pages that links lead to from the root's."""
    seen = {"index.html"}
    waiting = ["index.html"]
    while waiting:
        page = waiting.pop()
        for match in re.finditer(rb'<a [^>]*?href="([^":?#]+)', (site / page).read_bytes()):
            target = _resolve(page, unquote(match[1].decode(errors="replace")))
            if (site / target).is_dir():
                target = normpath(join(target, "index.html"))
            file = site / target
            if target not in seen and target.endswith(".html") and file.is_file() and not file.is_symlink():
                seen.add(target)
                waiting.append(target)
    return seen - {"index.html"}


def _break_links(site, chance, planted, count):
    pages = _reachable(site)
    done = 0
    while done < count:
        page, match = _some(site, sorted(pages), chance, LINK, lambda m: m[2] is None)
        before = (site / page).read_bytes()
        name = f"gone-{done}.html"
        _replace(site / page, match.span(1), name.encode())
        if _reachable(site) != pages:
            # It was the only way to a page.
            (site / page).write_bytes(before)
            continue
        planted.put("link to a page that never was", planted.missing, _resolve(page, name))
        done += 1


def _break_fragments(site, pages, chance, planted, count):
    for number in range(count):
        page, match = _some(site, pages, chance, LINK, lambda m: m[2] is not None)
        name = f"#no-such-place-{number}"
        _replace(site / page, match.span(2), name.encode())
        planted.put(
            "fragment that no page has", planted.fragments, _resolve(page, unquote(match[1].decode())) + name)


def _break_images(site, pages, chance, planted, count):
    for number in range(count):
        try:
            page, match = _some(site, pages, chance, IMAGE, lambda m: True)
        except LookupError:
            return
        name = f"gone-{number}.png"
        _replace(site / page, match.span(1), name.encode())
        planted.put("image that is not there", planted.missing, _resolve(page, name))


def _take_anchors_away(site, pages, chance, planted, count):
    """Removes an id that is linked to: every link to it is now broken."""
    done = 0
    while done < count:
        page, match = _some(site, pages, chance, LINK, lambda m: m[2] is not None)
        target = _resolve(page, unquote(match[1].decode()))
        name = match[2][1:]
        file = site / target
        if b"no-such-place" in name or b"%" in name or not file.is_file() or file.is_symlink():
            continue
        text = file.read_bytes()
        changed = re.sub(rb'\s(?:id|name)="' + re.escape(name) + rb'"', b"", text)
        if changed == text:
            continue
        file.write_bytes(changed)
        planted.put("anchor that was taken away", planted.fragments, f"{target}#{name.decode()}")
        done += 1


def _take_pages_away(site, chance, planted, count):
    """Removes pages that are linked to, and to which no other page owes that it can be reached."""
    pages = _reachable(site)
    done = 0
    while done < count:
        page, match = _some(site, sorted(pages), chance, LINK, lambda m: True)
        target = _resolve(page, unquote(match[1].decode()))
        file = site / target
        if target == page or target not in pages:
            continue
        before = file.read_bytes()
        file.unlink()
        if _reachable(site) != pages - {target}:
            file.write_bytes(before)
            file.chmod(0o644)
            continue
        pages.remove(target)
        planted.put("page that was removed", planted.missing, target)
        done += 1


def _some(site, pages, chance, pattern, suits):
    """A page and a match in it, at random; never one that was broken before."""
    for _ in range(10_000):
        page = chance.choice(pages)
        if (site / page).is_symlink() or not (site / page).exists():
            continue
        found = [
            match for match in pattern.finditer((site / page).read_bytes())
            if suits(match) and b"gone-" not in match[1] and b"no-such-place" not in (match[0])
            and (site / _resolve(page, unquote(match[1].decode(errors="replace")))).is_file()]
        if found:
            return page, chance.choice(found)
    raise LookupError("the pages have nothing of this kind to break")


def _replace(path, span, new):
    text = path.read_bytes()
    path.write_bytes(text[: span[0]] + new + text[span[1]:])


def _resolve(page, reference):
    return normpath(join(dirname(page), reference))


def path_of(url, base):
    """The path below the site's root, with its fragment, in one spelling."""
    path, _, fragment = url.removeprefix(base).partition("#")
    path = quote(unquote(path), safe="/:?=&")
    return f"{path}#{unquote(fragment)}" if fragment else path
