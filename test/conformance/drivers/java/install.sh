#!/bin/sh
# install.sh v1|v2|v2-2.57 CACHE_DIR: downloads the SDK with Maven and compiles its driver into CACHE_DIR/java-VERSION.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$2/java-$1
rm -rf "$out"
mkdir -p "$out/classes"
mvn --quiet --batch-mode --file "$here/$1/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$out/lib"
# Status 3: the driver does not fit the SDK.
javac -Xlint:all,-classfile -Werror -proc:none -d "$out/classes" -cp "$out/lib/*" "$here"/common/*.java "$here/${1%%-*}"/*.java || exit 3
