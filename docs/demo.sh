#!/bin/sh
# A program that fails on a GPU: why, what is wrong, the repair, and the program running. `make demo` runs it.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
# the program of the tutorial
awk '/<!-- file: notes.py -->/ {here = 1; next} here && /^```$/ {exit} here && !/^```/' docs/tutorial.md > "$work/notes.py"
cd "$work"

bold='' plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
    export FORCE_COLOR=1 COLUMNS="${COLUMNS:-$(tput cols 2>/dev/null || echo 100)}"
fi
step() { printf '\n%s%s%s\n$ %s\n' "$bold" "$1" "$plain" "$2"; }
# A traceback without the frames of torch's own files, which say nothing about the program.
short() {
    awk '/^  File / {inside = /site-packages|dist-packages/; if (inside && !told) print "  ... (inside torch)"; told = inside}
         !/^  / {inside = 0}
         !inside'
}

step "1. A program that stops on a GPU (a virtual one: this machine needs none)" "samedevice run notes.py"
samedevice run --transfers 0 notes.py 2>&1 | short

step "2. What is wrong, and why, without running it" "samedevice check notes.py"
samedevice check notes.py || test $? -eq 1

step "3. The repair" "samedevice fix notes.py"
samedevice fix --diff notes.py || test $? -eq 1
samedevice map --quiet --fixed notes.py
samedevice fix --yes --quiet notes.py

step "4. It runs" "samedevice run notes.py"
samedevice run --transfers 0 notes.py

printf '\nThe map of the program, before and after: file://%s/map.html\n' "$work"
printf '%sNext:%s samedevice check PATH, on a program of yours.\n' "$bold" "$plain"
