#!/usr/bin/env bash
# All C sources are laid out as .clang-format says. Fails on a file that clang-format would change.
source "$(dirname "$0")/../lib.sh"

tool=$(command -v clang-format-14 || command -v clang-format) || skip "clang-format 14 is not installed"
"$tool" --version | grep -q 'version 14\.' || skip "clang-format is not version 14: $("$tool" --version)"
cd "$SOURCE"
project_files '*.c' '*.h' >"$TMP/sources"
xargs timeout 120 "$tool" --dry-run -Werror <"$TMP/sources" ||
    fail "lay out with: $(basename "$tool") -i FILE"
