#!/bin/sh
# generate.sh: writes table.go from the models in a release of botocore, which it installs from
# PyPI into a temporary folder. test/conformance compares table.go with the models of the release
# of botocore that it runs, so raise both versions together.
set -eu
cd "$(dirname "$0")"
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check botocore==1.44.8
"$venv/bin/python" -B generate.py >"$venv/table.go"
cp "$venv/table.go" table.go
