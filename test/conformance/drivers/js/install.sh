#!/bin/sh
# install.sh VARIANT CACHE_DIR: installs the packages of a variant, a folder here, into CACHE_DIR/js-VARIANT.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$2/js-$1
rm -rf "$out"
mkdir -p "$out"
cp "$here/$1"/package*.json "$out"
cd "$out"
npm ci --silent --no-audit --no-fund --ignore-scripts
