#!/bin/sh
# install.sh MODFILE OUT: downloads the SDK in the versions of MODFILE and compiles the driver.
set -eu
go mod download -modfile "$1"
go build -modfile "$1" -o "$2" . || exit 3 # the driver does not fit the SDK
