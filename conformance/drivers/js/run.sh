#!/bin/sh
# run.sh VARIANT CACHE_DIR: plays the cases of standard input, as PROTOCOL.md says.
# With no environment and no home, settings, credentials and proxies of the user are out of reach.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec env -i HOME=/dev/null "$(command -v node)" "$here/driver.js" "$2/js-$1"
