#!/bin/sh
# A program of several files that was written for the CPU: find, repair, prove. `make demo` runs it.
set -eu
cd "$(dirname "$0")/.."
before=$PWD/fixtures/projects/package_classifier/before
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$before" "$work/before"
cp -r "$before" "$work/project"
cd "$work"

say() { printf '\n$ %s\n' "$*"; }

say samedevice run -m spirals.train --epochs 2
(cd project && samedevice run --no-record -m spirals.train --epochs 2) || true

say samedevice check project
samedevice check project || test $? -eq 1

say samedevice fix project
samedevice fix --diff project || test $? -eq 1
samedevice fix --yes project

say samedevice prove before project --entry '"-m spirals.train --epochs 2"'
samedevice prove before project --entry "-m spirals.train --epochs 2"
