#!/bin/sh
# run.sh v1|v2 CACHE_DIR: plays the cases of standard input, as PROTOCOL.md says.
set -eu
exec java -cp "$2/java-$1/classes:$2/java-$1/lib/*" conformance.Main
