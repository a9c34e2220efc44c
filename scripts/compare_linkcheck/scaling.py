"""A server that is 50 ms away: with twice the workers, twice the throughput."""

from pages import MANY, count
from processes import say, stop

WANTED = {2: 1.9, 4: 3.6}


def run(pages, table):
    site = pages.site("many", MANY)
    url, server = pages.slow_server(site, "50ms")
    seconds = {}
    found = {}
    for workers in (1, 2, 4):
        say(f"{count(site)} pages, 50 ms away, {workers} workers")
        report, seconds[workers] = pages.check(url, workers, "--capacity", 8, "--host-concurrency", 1000)
        found[workers] = sorted((entry["url"], entry["status"]) for entry in report["broken"])
    stop(server)
    for workers in (1, 2, 4):
        rate = f"{count(site) / seconds[workers]:.0f} pages/s, {seconds[workers]:.1f} s"
        table.add(f"50 ms away, 8 at once, {workers} workers", rate, "", None)
    for workers, wanted in WANTED.items():
        ratio = seconds[1] / seconds[workers]
        table.add(f"  {workers} workers against one", f"{ratio:.2f}", f"{wanted} or more", ratio >= wanted)
    same = all(found[workers] == found[1] for workers in found)
    table.add("  the same report by all", "yes" if same else "no", "yes", same)
