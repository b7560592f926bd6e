# What a survey found, in a few lines, from its block file (format: docs/block-format.md).
# For each test the set with the largest file and, of these, the largest blocks; a test's time is its slowest rank's.

function label(    several) {
    several = "MPI-IO, " ranks " ranks, "
    if (test == "sinunix") return "plain UNIX, one process"
    if (test == "single") return "MPI-IO, one process"
    if (test == "multiple") return several (param["collective"] == "true" ? "collective" : "independent")
    return test
}

function slowest(what,    rank, most) {
    most = 0
    for (rank in all_ranks)
        if (sum[what, rank] > most) most = sum[what, rank]
    return most
}

function rate(bytes, ns) {
    return ns > 0 ? sprintf("%10.0f", bytes * 1000 / ns) : sprintf("%10s", "-")
}

function end_set(    name, bytes, size) {
    name = label()
    if (failed) { failures[name]++; return }
    size = param["filesize_bytes"] + param["blocksize_bytes"] / 1e12
    if ((name in best) && best[name] >= size) return
    if (!(name in best)) order[++count] = name
    best[name] = size
    bytes = param["filesize_bytes"] - param["tail_bytes"]
    row[name] = rate(bytes, slowest("w")) "  " rate(bytes, slowest("r"))
    at[name] = sprintf("%g MB file, %g MB blocks", param["filesize_bytes"] / 1e6, param["blocksize_bytes"] / 1e6)
}

function new_set(    key) {
    for (key in param) delete param[key]
    for (key in sum) delete sum[key]
    for (key in all_ranks) delete all_ranks[key]
    failed = 0
}

left > 0 { for (i = 1; i <= NF; i++) sum[series, rank] += $i; left -= NF; next }
$1 == "testname" { test = $2 }
$1 == "fact" && $2 == "nprocs" { ranks = $3 }
$1 == "fact" && ($2 == "filesystem" || $2 == "mpi_library" || $2 == "mpiio" || $2 == "hostname") {
    fact[$2] = substr($0, index($0, $2) + length($2) + 1)
    gsub(/\\t/, " ", fact[$2])
    sub(/\\n.*/, "", fact[$2])
}
$1 == "set" { new_set() }
$1 == "param" { param[$2] = $3 }
$1 == "error" { failed = 1 }
$1 == "time" && $3 == "sync_time" { sum["w", $2] += $4; all_ranks[$2] = 1 }
$1 == "series" { rank = $2; series = $3; left = $5; all_ranks[rank] = 1 }
$1 == "end-set" { end_set() }

END {
    printf "Host %s, file system %s, %s\n\n", fact["hostname"], fact["filesystem"], fact["mpi_library"]
    printf "%-34s %10s  %10s\n", "", "write MB/s", "read MB/s"
    for (i = 1; i <= count; i++)
        printf "%-34s %s  (%s)\n", order[i], row[order[i]], at[order[i]]
    for (name in failures)
        printf "%s: %d parameter sets failed, see the block file\n", name, failures[name]
    print "\nMB = 10^6 bytes. Writing includes the final sync; reading may be served by the page cache."
}
