#!/bin/sh
# install.sh VERSION CACHE_DIR: installs botocore into the virtual environment CACHE_DIR/botocore-VERSION.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$2/botocore-$1
python3 -m venv --clear "$out"
"$out/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements-$1.txt"
