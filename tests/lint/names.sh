#!/usr/bin/env bash
# Names of static functions that a stack trace explains. Fails when src has a static function whose name is one bare word
# (start, parse, add, ...), or one whose name is static in more than two files.
#   names.sh          checks the project
#   names.sh TREE     checks another tree
source "$(dirname "$0")/../lib.sh"

cd "${1:-$SOURCE}"
find src -name '*.c' | sort | xargs awk '
    # A definition begins in the first column, and its parameters may go on in the next line.
    /^static [^=;]*[ *][A-Za-z_][A-Za-z0-9_]*\(/ && !/\);/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        if ((FILENAME, name) in seen) next
        seen[FILENAME, name] = 1
        files[name]++
        where[++count] = FILENAME ":" FNR
        names[count] = name
    }
    END {
        for (i = 1; i <= count; i++) {
            if (names[i] !~ /_/)
                wrong(where[i] ": " names[i] "(): one bare word; name it after its file")
            else if (files[names[i]] > 2)
                wrong(where[i] ": " names[i] "(): static in " files[names[i]] " files; name it after its file")
        }
        exit bad
    }
    function wrong(text) { print text; bad = 1 }' >&2 || fail "static functions whose names say too little"
