#!/bin/sh
# run.sh VARIANT CACHE_DIR: runs the cases from standard input, as described in PROTOCOL.md.
# With no environment and no home, the user's settings, credentials and proxies have no effect.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec env -i HOME=/dev/null "$(command -v node)" "$here/driver.js" "$2/js-$1"
