#!/bin/sh
# The same as make, which it installs first where it is missing: ./make run, ./make test.
set -eu
cd "$(dirname "$0")"
command -v make >/dev/null || scripts/install-packages
exec make "$@"
