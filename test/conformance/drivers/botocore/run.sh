#!/bin/sh
# run.sh VERSION CACHE_DIR: runs the cases from standard input, as described in PROTOCOL.md.
# With no environment and no home, the user's settings, models and proxies have no effect.
# -B, because a new __pycache__ here would look like a change to the driver.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec env -i HOME=/dev/null "$2/botocore-$1/bin/python" -B "$here/driver.py"
