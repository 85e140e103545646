#!/bin/sh
# newest.sh VARIANT: makes a variant require the newest releases of its packages, and prints their versions.
set -eu
cd "$1"
node -e '
const fs = require("fs"), variant = JSON.parse(fs.readFileSync("package.json"));
for (const name in variant.dependencies) variant.dependencies[name] = "latest";
delete variant.overrides;
fs.writeFileSync("package.json", JSON.stringify(variant));
'
rm package-lock.json
npm install --silent --package-lock-only --no-audit --no-fund --ignore-scripts
node -p '
const packages = require("./package-lock.json").packages, version = name => `${name} ${packages["node_modules/" + name].version}`;
packages["node_modules/aws-sdk"] ? version("aws-sdk") : `${version("@aws-sdk/client-sts")}, ${version("@smithy/core")}`;
'
