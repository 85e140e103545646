#!/bin/sh
# newest.sh v1|v2: makes pom.xml require the newest releases of the SDK's modules, and prints that of the core.
set -eu
versions=org.codehaus.mojo:versions-maven-plugin:2.18.0
mvn --quiet --batch-mode --file "$1/pom.xml" $versions:update-properties $versions:use-latest-releases \
    -DgenerateBackupPoms=false '-Dincludes=software.amazon.awssdk:*,com.amazonaws:*' >&2
case $1 in v1) name=aws-sdk-java ;; *) name=aws-sdk-java-$1 ;; esac
echo "$name $(sed -n 's|.*<sdk>\(.*\)</sdk>.*|\1|p' "$1/pom.xml")"
