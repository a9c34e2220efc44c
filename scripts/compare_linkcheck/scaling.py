"""A server that is 50 ms away: with twice the workers, twice the throughput.

The pages are light, so that what is measured is how workers share a wait: parsing heavy pages is bound by the cores of
the one machine that everything runs on here, however many workers there are.
"""

from pages import count
from processes import say, stop

WANTED = {2: 1.9, 4: 3.6}
PAGES = 2000


def light_site(folder):
    """An index of all pages, and pages of a few kilobytes that lead to twenty others each, one of them missing."""
    folder.mkdir()
    links = "".join(f'<a href="p{page}.html">{page}</a>\n' for page in range(PAGES))
    (folder / "index.html").write_text(links)
    for page in range(PAGES):
        links = "".join(f'<a href="p{(page * 7 + step * 13) % PAGES}.html#here">x</a>\n' for step in range(20))
        missing = f'<a href="missing{page}.html">x</a>' if page % 100 == 0 else ""
        text = "<p>A page that is cheap to read.</p>\n" * 40
        (folder / f"p{page}.html").write_text(f"<h1 id=here>{page}</h1>\n{text}{links}{missing}")
    return folder


def run(pages, table):
    site = light_site(pages.work / "light")
    url, server = pages.slow_server(site, "50ms")
    seconds = {}
    found = {}
    for workers in (1, 2, 4):
        say(f"{count(site)} pages, 50 ms away, {workers} workers")
        report, _ = pages.check(url, workers, "--capacity", 8, "--host-concurrency", 1000)
        # From the first answer to the last: processes that start are not throughput.
        seconds[workers] = report["seconds"]
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
