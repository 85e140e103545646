#!/bin/sh
# Makes echarts.min.js and the license files beside it, from the versions in package-lock.json.
# Needs Node.js and npm. A test of package chart checks the checksum.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
npm --prefix "$work" ci --silent
"$work/node_modules/.bin/esbuild" "$work/entry.js" --bundle --minify --format=iife --global-name=echarts \
	--target=es2020 --charset=utf8 --legal-comments=none --define:process.env.NODE_ENV='"production"' \
	--log-level=warning --outfile=echarts.min.js
cp "$work/node_modules/echarts/LICENSE" "$work/node_modules/echarts/NOTICE" .
cp "$work/node_modules/zrender/LICENSE" LICENSE.zrender
