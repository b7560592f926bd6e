#!/usr/bin/env bash
# clang-tidy finds nothing in our sources. Fails on the first finding of a check that .clang-tidy switches on, but for
# those that follow paths through the code, which take ten times as long: analyzer.sh does them. A source that passed is looked at again only when it, a header or .clang-tidy changed.
# processors: 2
# timeout: 1500
source "$(dirname "$0")/../lib.sh"
checks=${TIDY_CHECKS--clang-analyzer-*} # besides .clang-tidy

tool=$(command -v clang-tidy-14 || command -v clang-tidy) || skip "clang-tidy 14 is not installed"
"$tool" --version | grep -q 'LLVM version 14\.' || skip "clang-tidy is not version 14"
[ -f "$BINARY/compile_commands.json" ] || fail "$BINARY/compile_commands.json is missing: build first"
cd "$SOURCE"
stamps=$BINARY/tidy${checks:+-quick}
mkdir -p "$stamps"
common=$({ project_files 'src/*.h' 'src/*.def' 'include/*.h' 'tests/*.h' | xargs cat .clang-tidy; } | sha256sum | cut -c -32)
sed -n 's|^ *"file": "\(.*\)",\{0,1\}$|\1|p' "$BINARY/compile_commands.json" | sort -u >"$TMP/sources"
[ -s "$TMP/sources" ] || fail "no sources in $BINARY/compile_commands.json"

tidy_one()
{
    local tool=$1 binary=$2 stamps=$3 common=$4 checks=$5 source=$6 stamp
    [ -f "$source" ] || return 0
    stamp=$stamps/$(sha256sum "$source" | cut -c -32)-$common
    [ ! -f "$stamp" ] || return 0
    if ! timeout 300 "$tool" -p "$binary" --checks="$checks" --quiet "$source" >"$stamps/out.$$" 2>&1; then
        grep -vE ' warnings? generated\.$|^Suppressed |^Use -header-filter' "$stamps/out.$$" || echo "$tool failed on $source"
        rm -f "$stamps/out.$$"
        return 1
    fi
    rm -f "$stamps/out.$$"
    touch "$stamp"
}
export -f tidy_one
find "$stamps" -type f -mtime +30 -delete
xargs -P 2 -n 1 bash -c 'tidy_one "$@"' tidy_one "$tool" "$BINARY" "$stamps" "$common" "$checks" <"$TMP/sources" >&2 ||
    fail "clang-tidy has findings (settings: .clang-tidy)"
