"""LinkChecker in a virtual environment of its own, and what it finds."""

import csv
import re
import subprocess
import sys

import processes

CONFIGURATION = """
[checking]
threads=10
maxrequestspersecond=100000
maxfilesizeparse=100000000
maxfilesizedownload=100000000
[AnchorCheck]
"""


def install(work):
    environment = work / "linkchecker"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    result = subprocess.run(
        [environment / "bin/pip", "install", "-q", "--disable-pip-version-check", "LinkChecker"],
        capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise processes.ToolError(f"LinkChecker cannot be installed: {result.stderr[-1000:]}")
    return environment / "bin/linkchecker"


def check(program, work, url, seconds_max=1800):
    """Gives (broken targets with the pages that link to them, seconds)."""
    output = work / "linkchecker-out"
    output.mkdir(exist_ok=True)
    output.chmod(0o777)
    rules = work / "linkcheckerrc"
    rules.write_text(CONFIGURATION)
    found = output / "found.csv"
    found.unlink(missing_ok=True)
    seconds = processes.run(
        [program, "-f", rules, "-q", "--no-status", "--no-robots", "-F", f"csv/utf_8/{found}", url],
        seconds_max, good=(0, 1), log=work / "linkchecker.log")
    return parse(found), seconds


def parse(found):
    broken = {}
    with open(found, encoding="utf-8", newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("# ")), delimiter=";")
        for row in rows:
            if row["valid"] == "False":
                broken.setdefault(row["url"].partition("#")[0], set()).add(row["parentname"])
            elif re.match(r"Anchor\b", row["warningstring"]):
                broken.setdefault(row["url"], set()).add(row["parentname"])
    return broken
