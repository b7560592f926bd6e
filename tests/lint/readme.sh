#!/usr/bin/env bash
# A folder says what is in it: the way of the data, what may be touched, invariants. Fails when a folder of src, tests, web/src
# or tools has more than five files and no README.md. Data are left out: inputs of the fuzzer, where each file is an input, and
# results, which the README above them describes.
#   readme.sh          checks the project
#   readme.sh TREE     checks another tree
source "$(dirname "$0")/../lib.sh"

export SOURCE=${1:-$SOURCE} # project_files reads it
project_files 'src/*' 'tests/*' 'web/src/*' 'tools/*' | grep -vE '^tests/(fuzz/corpus|golden/results[^/]*/.*)/' | awk '
    {
        folder = $0
        sub(/\/[^\/]*$/, "", folder)
        if ($0 == folder "/README.md")
            told[folder] = 1
        else
            files[folder]++
    }
    END {
        for (folder in files)
            if (files[folder] > 5 && !told[folder]) {
                print folder ": " files[folder] " files and no README.md"
                bad = 1
            }
        exit bad
    }' >&2 || fail "folders that do not say what they hold"
