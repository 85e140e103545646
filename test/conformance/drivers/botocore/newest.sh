#!/bin/sh
# newest.sh VERSION: replaces VERSION's requirements by the newest release of botocore, and prints it.
set -eu
newest=$(python3 -m pip index versions --disable-pip-version-check botocore 2>/dev/null | sed -n '1s/.*(\(.*\))/\1/p')
[ -n "$newest" ] || { echo "PyPI does not say what the newest botocore is" >&2; exit 1; }
echo "botocore==$newest" >"requirements-$1.txt"
echo "botocore $newest"
