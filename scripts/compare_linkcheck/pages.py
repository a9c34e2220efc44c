"""Real pages: the HTML documentation that Debian packages bring, unpacked into the work folder and nowhere else."""

import json
import shutil
import subprocess
from pathlib import Path

import processes
from processes import ToolError

# A folder of the site, the package, and where the package has its pages.
FEW = [
    ("sphinx", "sphinx-doc", "usr/share/doc/sphinx-doc/html"),
    ("docutils", "docutils-doc", "usr/share/doc/docutils-doc"),
    ("sqlite", "sqlite3-doc", "usr/share/doc/sqlite3"),
]
MANY = FEW + [
    ("python", "python3.11-doc", "usr/share/doc/python3.11/html"),
    ("django", "python-django-doc", "usr/share/doc/python-django-doc/html"),
]

NGINX = """
daemon off; pid {work}/nginx.pid; error_log {work}/nginx.log; worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    access_log off; include /etc/nginx/mime.types; default_type application/octet-stream; sendfile on;
    keepalive_requests 1000000;
    # By this a server allows LinkChecker more than two to ten requests a second.
    add_header LinkChecker yes always;
    client_body_temp_path {work}; proxy_temp_path {work}; fastcgi_temp_path {work}; uwsgi_temp_path {work};
    scgi_temp_path {work};
    server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


class Pages:
    def __init__(self, work, loopctl):
        self.work = work
        self.loopctl = loopctl

    def site(self, name, sources):
        """A folder with the pages of these packages and a page that leads to each."""
        site = self.work / name
        if site.exists():
            return site
        site.mkdir()
        links = []
        for folder, package, pages in sources:
            unpacked = self._unpack(package) / pages
            if not unpacked.is_dir():
                raise ToolError(f"{package} has no {pages}")
            # Links of the file system that lead out of the package are what they are on a server: not there.
            shutil.copytree(unpacked, site / folder, symlinks=True)
            links.append(f'<p><a href="{folder}/">{folder}</a></p>')
        (site / "index.html").write_text("<!DOCTYPE html><title>pages</title>" + "".join(links))
        for folder, _, _ in sources:
            index = site / folder / "index.html"
            if not index.exists():
                pages = sorted(p.relative_to(site / folder) for p in (site / folder).rglob("*.html"))
                index.write_text("<!DOCTYPE html>" + "".join(f'<p><a href="{p}">{p}</a></p>' for p in pages))
        for path in [site, *site.rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        return site

    def _unpack(self, package):
        unpacked = self.work / "packages" / package
        if not unpacked.exists():
            folder = self.work / "downloads" / package
            folder.mkdir(parents=True)
            folder.chmod(0o777)
            subprocess.run(["apt-get", "-q", "download", package], cwd=folder, check=False, capture_output=True)
            files = list(folder.glob("*.deb"))
            if not files:
                raise ToolError(f"apt-get could not download {package}; is there a network and an apt-get update?")
            unpacked.mkdir(parents=True)
            subprocess.run(["dpkg-deb", "-x", files[0], unpacked], check=True)
            for path in [*unpacked.rglob("*.gz")]:
                path.unlink()
        return unpacked

    def nginx(self, root):
        """Serves a folder on loopback; gives the address and the server."""
        port = processes.free_port()
        configuration = self.work / f"nginx-{port}.conf"
        configuration.write_text(NGINX.format(work=self.work, port=port, root=root))
        server = processes.start(["nginx", "-c", configuration])
        url = f"http://127.0.0.1:{port}/"
        processes.wait_for(url, server)
        return url, server

    def slow_server(self, root, latency):
        """Serves a folder by `loopctl serve`, which delays each answer by `latency`; gives the address and the server."""
        port = processes.free_port()
        with open(self.work / "serve.log", "wb") as log:
            server = processes.start(
                [self.loopctl, "serve", root, "--bind", f"127.0.0.1:{port}", "--latency", latency], stderr=log)
        url = f"http://127.0.0.1:{port}/"
        processes.wait_for(url, server)
        return url, server

    def check(self, url, workers, *more, seconds_max=1800):
        """Runs the link checker; gives its report and its seconds, from start to end of the command."""
        report = self.work / "report.json"
        report.unlink(missing_ok=True)
        command = [
            self.loopctl, "up", "linkcheck", url, "--workers", workers, "--quiet", "--json", report,
            "--journal", self.work / "check.journal", *more]
        seconds = processes.run(command, seconds_max, good=(0, 1), log=self.work / "loopctl.log")
        return json.loads(report.read_text()), seconds


def count(folder):
    return sum(1 for _ in Path(folder).rglob("*.html"))
