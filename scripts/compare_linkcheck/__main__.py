"""Compares the link checker with LinkChecker and wget, on real pages served on loopback."""

import os
import signal
import sys
from pathlib import Path

import correctness
import scaling
import speed
from pages import Pages
from processes import ToolError, stop_everything
from table import Table

PARTS = {"correctness": correctness.run, "speed": speed.run, "scaling": scaling.run}


def main(arguments):
    unknown = [name for name in arguments if name not in PARTS]
    if unknown:
        print(f"compare: there is no part {unknown[0]}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 64
    # Like an interrupt, so that everything started is stopped on the way out.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    work = Path(os.environ["LOOP_COMPARE_WORK"])
    pages = Pages(work, Path(os.environ["LOOP_COMPARE_LOOPCTL"]))
    table = Table()
    try:
        for name in arguments or PARTS:
            PARTS[name](pages, table)
    except ToolError as error:
        print(table.text())
        print(f"compare: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    finally:
        stop_everything()
    print(table.text())
    return 0 if table.is_good else 1


sys.exit(main(sys.argv[1:]))
