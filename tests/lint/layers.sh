#!/usr/bin/env bash
# Includes go one way. Fails when a file of src includes a layer that its own layer may not see, when it includes
# without naming the layer, or when a folder of src is not in the table. An argument names another tree to look at.
source "$(dirname "$0")/../lib.sh"

# layer: what it may include, besides itself and the public headers (piolet/).
layers()
{
    cat <<'TABLE'
base:
mpi: base
dist: base
trace: base
mpiio: base mpi dist trace
tracer: base mpi dist trace
measure: base mpi dist trace
bench: base mpi dist trace measure
model: base mpi dist trace measure bench
report: base measure bench model
cli: base mpi dist trace measure bench model report
support:
TABLE
}

cd "${1:-$SOURCE}"
bad=0
for folder in src/*/; do
    folder=$(basename "$folder")
    if ! layers | grep -q "^$folder:"; then
        echo "src/$folder: not in the table of layers; add it to tests/lint/layers.sh with what it may include" >&2
        bad=1
    fi
done

find src include -type f \( -name '*.[ch]' -o -name '*.def' \) | sort |
    xargs grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' >"$TMP/includes" || true
layers >"$TMP/layers"
awk -v table="$TMP/layers" '
    BEGIN {
        while ((getline line < table) > 0) {
            count = split(line, word, /[: ]+/)
            may[word[1], word[1]] = 1
            for (i = 2; i <= count; i++) if (word[i] != "") may[word[1], word[i]] = 1
        }
    }
    {
        split($0, part, ":")
        count = split(part[1], path, "/")
        layer = path[1] == "include" ? "piolet" : path[2]
        split($0, quoted, "\"")
        target = quoted[2]
        slash = index(target, "/")
        to = substr(target, 1, slash - 1)
        where = part[1] ":" part[2]
        if (!slash) { print where ": \"" target "\": name the layer, as in \"" layer "/" target "\""; bad = 1 }
        else if (to == "piolet") next
        else if (layer == "piolet") { print where ": a public header includes \"" target "\""; bad = 1 }
        else if (count > 2 && !((layer, to) in may)) {
            print where ": layer " layer " may not include \"" target "\""
            bad = 1
        }
    }
    END { exit bad }' "$TMP/includes" >&2 || bad=1
[ "$bad" -eq 0 ] || fail "includes must go one way (the table stands in tests/lint/layers.sh)"
