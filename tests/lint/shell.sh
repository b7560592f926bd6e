#!/usr/bin/env bash
# Shell scripts parse and please shellcheck (where installed), and no file speaks of a place on somebody's machine.
source "$(dirname "$0")/../lib.sh"

cd "$SOURCE"
project_files >"$TMP/files"
while IFS= read -r file; do
    case $file in
    *.sh) echo "$file" ;;
    *) head -c 64 "$file" | head -n 1 | tr -d '\0' | grep -qE '^#!.*\b(ba)?sh\b' && echo "$file" || true ;;
    esac
done <"$TMP/files" >"$TMP/scripts"
[ -s "$TMP/scripts" ] || fail "no shell scripts found"

while IFS= read -r script; do
    bash -n "$script" || fail "$script does not parse"
done <"$TMP/scripts"
if command -v shellcheck >/dev/null; then
    xargs -P 2 -n 8 timeout 120 shellcheck -s bash -S warning -e SC1090,SC1091,SC2154,SC2164 <"$TMP/scripts" >&2 || fail "shellcheck has findings"
fi
if xargs grep -nIE '(^|[^A-Za-z0-9_.-])/(work|home)/' <"$TMP/files" >&2; then
    fail "these lines name a directory of one machine"
fi
