#!/usr/bin/env bash
# The scripts that a newcomer calls first: help, wrong options, and what tools/setup says to a user without root.
# Fails when a package to install is not named, when nothing is missing and something is printed, or when a lint
# lets a violation through.
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE"

# A directory of stand-ins, first in PATH: nothing here installs anything.
stubs=$TMP/stubs
mkdir "$stubs"
stub()
{
    printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1"
    chmod +x "$stubs/$1"
}

setup_with_stubs()
{
    PATH=$stubs:$PATH timeout 30 tools/setup "$@"
}

# shellcheck disable=SC2016  # the stand-in expands it
all_installed='shift 3; for name in "$@"; do echo "$name installed"; done'
# shellcheck disable=SC2016
two_missing='shift 3; for name in "$@"; do case $name in scdoc) ;; cmake) echo "cmake config-files" ;; *) echo "$name installed" ;; esac; done; exit 1'

help_and_usage()
{
    local script
    for script in ./run ./test tools/test tools/setup tools/build tools/coverage tools/places; do
        expect_exit 0 "$script" --help
        expect_in "$OUT" Usage:
        expect_exit 2 "$script" --no-such-option
        expect_in "$ERR" --no-such-option
    done
    expect_exit 2 ./run --mpi lam
    expect_in "$ERR" "'lam'"
    expect_exit 2 ./run -n 0
    expect_exit 2 ./run --dir "$TMP/absent"
    expect_exit 2 ./run -n
    expect_exit 2 ./run --no-beffioo
    expect_exit 2 tools/test --mpi
}

setup_without_root()
{
    stub id 'echo 1000'
    stub sudo 'echo "sudo: a password is required" >&2; exit 1'
    stub apt-get "echo called >$TMP/apt-called"
    stub dpkg-query "$two_missing"
    expect_exit 1 setup_with_stubs build
    expect_in "$ERR" "missing packages: 2."
    expect_in "$ERR" "apt-get update && apt-get install -y --no-install-recommends cmake scdoc"
    [ ! -s "$OUT" ] || fail "the message belongs on stderr"
    [ ! -e "$TMP/apt-called" ] || fail "apt-get was called without root"
}

setup_nothing_missing()
{
    stub dpkg-query "$all_installed"
    expect_exit 0 setup_with_stubs
    [ ! -s "$OUT" ] && [ ! -s "$ERR" ] || fail "printed something though nothing is missing"
    [ ! -e "$TMP/apt-called" ] || fail "apt-get was called though nothing is missing"
}

# Root: update, then install with the missing packages only; one more try when it fails.
setup_as_root()
{
    stub id 'echo 0'
    stub sleep ''
    stub dpkg-query "$two_missing"
    stub apt-get "echo \"\$DEBIAN_FRONTEND \$*\" >>$TMP/apt-called"
    expect_exit 0 setup_with_stubs build
    [ "$(wc -l <"$TMP/apt-called")" -eq 2 ] || fail "apt-get was not called twice"
    expect_in "$TMP/apt-called" "--no-install-recommends cmake scdoc"
    expect_in "$TMP/apt-called" "noninteractive"
    stub apt-get "echo \"E: no network\"; echo again >>$TMP/apt-again; exit 100"
    expect_exit 1 setup_with_stubs build
    expect_in "$ERR" "E: no network"
    [ "$(wc -l <"$TMP/apt-again")" -eq 2 ] || fail "a failed update was not tried once more"
    rm -f "$(sed -n 's/.*whole log: \([^)]*\)).*/\1/p' "$ERR")"
}

# A test that fails, one that skips, one that does not exist, one that passes: counted as what they are.
junit_is_read()
{
    cat >"$TMP/junit.xml" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="4">
	<testcase name="cli.good" classname="cli.good" time="0.1" status="run">
		<system-out>fine
</system-out>
	</testcase>
	<testcase name="cli.bad" classname="cli.bad" time="0.1" status="fail">
		<failure message="Failed"/>
		<system-out>1 &lt; 2 &amp;&amp; broken
</system-out>
	</testcase>
	<testcase name="mpi.skip" classname="mpi.skip" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>noise
SKIP: needs root
</system-out>
	</testcase>
	<testcase name="unit.gone" classname="unit.gone" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
		<system-out></system-out>
	</testcase>
</testsuite>
XML
    mkdir "$TMP/logs"
    awk -v tree=mpich -v logs="$TMP/logs" -f tools/junit.awk "$TMP/junit.xml" >"$TMP/report"
    expect_in "$TMP/report" "passed mpich cli.good"
    expect_in "$TMP/report" "failed mpich cli.bad $TMP/logs/cli.bad.log"
    expect_in "$TMP/report" "skipped mpich mpi.skip needs root"
    expect_in "$TMP/report" "failed mpich unit.gone"
    expect_in "$TMP/logs/cli.bad.log" "1 < 2 && broken"
}

lints_find_violations()
{
    mkdir -p "$TMP/tree/src/base" "$TMP/tree/src/cli" "$TMP/tree/include"
    echo '#include "cli/cli.h"' >"$TMP/tree/src/base/bad.c"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    expect_in "$ERR" "src/base/bad.c:1: layer base may not include"
    echo '#include "bad.h"' >"$TMP/tree/src/base/bad.c"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    echo '#include "base/good.h"' >"$TMP/tree/src/base/bad.c"
    expect_exit 0 bash tests/lint/layers.sh "$TMP/tree"
    mkdir "$TMP/tree/src/unknown"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    rmdir "$TMP/tree/src/unknown"

    # Inside of the engine, and between benchmarks.
    mkdir -p "$TMP/tree/src/engine/pool" "$TMP/tree/src/bench/new" "$TMP/tree/src/bench/iot"
    echo '#include "engine/file/file.h"' >"$TMP/tree/src/engine/pool/pool.c"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    expect_in "$ERR" "engine/pool may not include"
    rm "$TMP/tree/src/engine/pool/pool.c"
    echo '#include "bench/iot/iot_data.h"' >"$TMP/tree/src/bench/new/new.c"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    expect_in "$ERR" "bench/new may not include"
    echo '#include "bench/bench.h"' >"$TMP/tree/src/bench/new/new.c"
    expect_exit 0 bash tests/lint/layers.sh "$TMP/tree"
    mkdir "$TMP/tree/docs"
    printf '<!-- layers: made by it -->\n<!-- end of the layers -->\n' >"$TMP/tree/docs/architecture.md"
    expect_exit 1 bash tests/lint/layers.sh "$TMP/tree"
    expect_in "$ERR" "does not show the table"

    # Names of static functions.
    mkdir -p "$TMP/named/src/engine" "$TMP/named/src/cli"
    printf 'static int start(void)\n{\n}\n' >"$TMP/named/src/engine/a.c"
    expect_exit 1 bash tests/lint/names.sh "$TMP/named"
    expect_in "$ERR" "src/engine/a.c:1: start(): one bare word"
    for file in engine/a engine/b cli/c; do
        printf 'static void *make_one(int a,\n                      int b)\n{\n}\n' >"$TMP/named/src/$file.c"
    done
    expect_exit 1 bash tests/lint/names.sh "$TMP/named"
    expect_in "$ERR" "make_one(): static in 3 files"
    rm "$TMP/named/src/cli/c.c"
    expect_exit 0 bash tests/lint/names.sh "$TMP/named"

    # What is done in one place alone. Comments and the place itself may name it.
    mkdir -p "$TMP/only/src/base" "$TMP/only/src/cli"
    printf '/* clock_gettime() and\n * fork() */\nint time_of(int a);\n' >"$TMP/only/src/cli/a.c"
    printf 'clock_gettime(CLOCK_MONOTONIC, &now);\n' >"$TMP/only/src/base/clock.h"
    expect_exit 0 bash tests/lint/only.sh "$TMP/only"
    while IFS='|' read -r what code; do
        printf '%s\n' "$code" >"$TMP/only/src/cli/a.c"
        expect_exit 1 bash tests/lint/only.sh "$TMP/only"
        expect_in "$ERR" "src/cli/a.c:1: $what belongs to src/base/"
    done <<'END'
reading a clock|    const time_t now = time(NULL); /* seconds */
reading a clock|    clock_gettime(CLOCK_MONOTONIC, &now);
starting a child|    const pid_t child = fork();
starting a child|    FILE *list = popen(words, "r");
wrapping text|    const size_t length = strcspn(at, " \n");
naming units|    static const char *const names[] = {"B", "KiB", "MiB"};
naming units|} units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
END
}

help_and_usage
setup_without_root
setup_nothing_missing
setup_as_root
junit_is_read
lints_find_violations
