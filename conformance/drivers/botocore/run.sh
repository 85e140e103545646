#!/bin/sh
# run.sh VERSION CACHE_DIR: plays the cases of standard input, as PROTOCOL.md says.
# With no environment and no home, settings, models and proxies of the user are out of reach.
# -B: a __pycache__ here would be a change of the driver.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec env -i HOME=/dev/null "$2/botocore-$1/bin/python" -B "$here/driver.py"
