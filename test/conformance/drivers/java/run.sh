#!/bin/sh
# run.sh v1|v2|v2-2.57 CACHE_DIR: runs the cases from standard input, as described in PROTOCOL.md.
set -eu
# With no environment and no home, the user's settings and credentials have no effect.
exec env -i HOME=/dev/null "$(command -v java)" -Duser.home=/dev/null -Djdk.attach.allowAttachSelf=true \
    -XX:+EnableDynamicAgentLoading -cp "$2/java-$1/classes:$2/java-$1/lib/*" conformance.Main
