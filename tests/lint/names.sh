#!/usr/bin/env bash
# Names of static functions that a stack trace explains. Fails when a folder of the list below has a static function whose
# name is one bare word (start, parse, add, ...), or one whose name is static in more than two files of src.
#   names.sh          checks the project
#   names.sh TREE     checks another tree
#   names.sh --all    lists the offenders of all folders, those that are still to be done too
source "$(dirname "$0")/../lib.sh"

# Folders of src that are clean and stay so. Add yours when it is; the aim is all of them.
CLEAN="engine mpi dist base bench history lab support page"

folders=$CLEAN
tree=$SOURCE
case ${1:-} in
--all) folders=all ;;
?*) tree=$1 ;;
esac
cd "$tree"
find src -name '*.c' | sort | xargs awk -v folders="$folders" '
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
    function is_checked(place,    part)
    {
        split(place, part, "/")
        return folders == "all" || index(" " folders " ", " " part[2] " ")
    }
    END {
        for (i = 1; i <= count; i++) {
            if (!is_checked(where[i])) continue
            if (names[i] !~ /_/)
                wrong(where[i] ": " names[i] "(): one bare word; name it after its file")
            else if (files[names[i]] > 2)
                wrong(where[i] ": " names[i] "(): static in " files[names[i]] " files; name it after its file")
        }
        exit bad
    }
    function wrong(text) { print text; bad = 1 }' >&2 || fail "static functions whose names say too little"
