"""Two thousand pages: no slower than `wget -r --spider`, which checks no fragments."""

import shutil

import processes
from pages import MANY, count
from processes import say, stop

ROUNDS = 3


def run(pages, table):
    site = pages.site("many", MANY)
    url, server = pages.nginx(site)
    ratios = []
    report = None
    for number in range(ROUNDS):
        say(f"round {number + 1} of {ROUNDS}: {count(site)} pages by 2 workers and by wget")
        times = {}
        # In turns, so that a machine that slows down does not favour one.
        for name in ("own", "wget") if number % 2 == 0 else ("wget", "own"):
            if name == "own":
                report, times[name] = pages.check(url, 2)
            else:
                times[name] = wget(pages, url)
        ratios.append((times["wget"] / times["own"], times["own"], times["wget"]))
    stop(server)
    ratio, own, theirs = sorted(ratios)[len(ratios) // 2]
    table.add("pages on the server", str(count(site)), "2000 or more", count(site) >= 2000)
    table.add("pages read, distinct links", f"{report['pages']}, {report['links']}", "", None)
    table.add("seconds, 2 workers", f"{own:.1f}", "", None)
    table.add("seconds, wget -r --spider", f"{theirs:.1f}", "", None)
    spread = f"{min(ratios)[0]:.2f}..{max(ratios)[0]:.2f}"
    table.add("times as fast as wget", f"{ratio:.2f} ({spread})", "1.00 or more", ratio >= 1)


def wget(pages, url):
    folder = pages.work / "wget"
    folder.mkdir(exist_ok=True)
    # The exit code is 8 if the server answered a request with an error, as it must for a broken link. It is 4 if no server
    # answered: pages have links to other ports of this host, which wget takes for the same site.
    seconds = processes.run(
        ["wget", "-r", "-l", "inf", "--spider", "-q", "-e", "robots=off", "-P", folder, url], 1800, good=(0, 4, 8),
        log=pages.work / "wget.log")
    shutil.rmtree(folder)
    return seconds
