#!/bin/sh
# install.sh go-v1|go-v2 MODFILE OUT: downloads the SDKs in the versions of MODFILE and compiles the driver of one.
set -eu
go mod download -modfile "$2"
go build -modfile "$2" -o "$3" "./${1#go-}" || exit 3 # the driver does not fit the SDK
