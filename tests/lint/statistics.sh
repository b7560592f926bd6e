#!/usr/bin/env bash
# Each statistic is defined once in C and once in the page: two definitions differ sooner or later (interpolated or not, n or
# n - 1, 90 % or 95 %), and a user reads two numbers for one thing.
# It would fail if what looks like a second definition stood somewhere.
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE"

# STATISTIC|PATTERN: what a definition looks like. A definition of C begins in the first column and does not end in ';'.
cat >"$TMP/table" <<'END'
median|^[a-z].*[ *][a-z_]*median[a-z_]*\([^;]*$
median|[a-z_]*(count|found|n) / 2\]
median|middle\]\.value \+
quantile|^[a-z].*[ *][a-z_]*(quantile|percentile)[a-z_]*\([^;]*$
student|^[a-z].*[ *][a-z_]*student_[tp]\([^;]*$
student|12\.706|6\.314|2\.920|1\.729
deviation|sqrt\([^;]*- 1\)
level of an interval|(LEVEL|\.level)( =)? 0\.9
time of the slowest rank|times\[[a-z]*\]\.nanoseconds > |max\([a-z]*, .*times\[[a-z]*\]\.nanoseconds
time of the slowest rank|Math\.max\(.*\.times\.filter
rate of bytes and nanoseconds|_bytes_per_s = .* 1e9|\* 1e3\) / ([a-z]*\.)?(slowest|ns|time_ns)
END

found_in()
{
    local statistic pattern
    while IFS='|' read -r statistic pattern; do
        project_files "$@" | xargs grep -lE "$pattern" | sed "s|\$|: $statistic|" || true
    done <"$TMP/table"
}

# Those that stand in more than one file, and where.
for files in 'src/*.[ch]' 'web/src/*.ts'; do
    found_in "$files" | LC_ALL=C sort -u >"$TMP/all"
    [ "$files" = 'web/src/*.ts' ] || for statistic in median quantile student deviation; do
        grep -q ": $statistic\$" "$TMP/all" || fail "no definition of $statistic is found: does this lint still know what one looks like?"
    done
    sed 's/.*: //' "$TMP/all" | LC_ALL=C sort | uniq -d | while IFS= read -r statistic; do
        grep ": $statistic\$" "$TMP/all"
    done
done >"$TMP/found"
[ ! -s "$TMP/found" ] || fail "a statistic is defined again: call the one that is there (src/base/statistics.h, web/src/stats.ts): $(tr '\n' ';' <"$TMP/found")"
echo "$(cut -d'|' -f1 "$TMP/table" | sort -u | wc -l) statistics, each defined once"
