#!/bin/sh
# Runs make with these arguments, and installs it first if it is missing: ./make run, ./make test.
set -eu
cd "$(dirname "$0")"
command -v make >/dev/null || scripts/install-packages
exec make "$@"
