# What a survey found, in a few lines, from its block file (format: docs/block-format.md).
# For each test the sets with the largest file and, of these, the largest blocks: the median of their rates. The time of a
# set is its slowest rank's: the sum of its writes and the final sync, or of its reads.

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
    return ns > 0 ? bytes * 1000 / ns : 0
}

# Keeps rates[what, name, 1…] sorted: the median is then in the middle.
function add_rate(what, name, value,    i) {
    if (value <= 0) return
    for (i = ++runs[what, name]; i > 1 && rates[what, name, i - 1] > value; i--)
        rates[what, name, i] = rates[what, name, i - 1]
    rates[what, name, i] = value
}

function median(what, name,    n) {
    n = runs[what, name]
    if (n == 0) return sprintf("%10s", "-")
    if (n > most_runs) most_runs = n
    if (fewest_runs == 0 || n < fewest_runs) fewest_runs = n
    if (n % 2) return sprintf("%10.0f", rates[what, name, (n + 1) / 2])
    return sprintf("%10.0f", (rates[what, name, n / 2] + rates[what, name, n / 2 + 1]) / 2)
}

function end_set(    name, bytes, size) {
    name = label()
    if (failed) { failures[name]++; return }
    size = param["filesize_bytes"] + param["blocksize_bytes"] / 1e12
    if ((name in best) && best[name] > size) return
    if (!(name in best)) order[++count] = name
    if (best[name] < size) runs["w", name] = runs["r", name] = 0
    best[name] = size
    bytes = param["filesize_bytes"] - param["tail_bytes"]
    add_rate("w", name, rate(bytes, slowest("w")))
    add_rate("r", name, rate(bytes, slowest("r")))
    at[name] = sprintf("%g MB in %g MB blocks", param["filesize_bytes"] / 1e6, param["blocksize_bytes"] / 1e6)
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
    printf "Host %s, file system %s, %s\n\n", ("hostname" in fact) ? fact["hostname"] : "unknown", fact["filesystem"],
        fact["mpi_library"]
    printf "%-32s %10s  %10s\n", "", "write MB/s", "read MB/s"
    for (i = 1; i <= count; i++)
        printf "%-32s %s  %s  (%s)\n", order[i], median("w", order[i]), median("r", order[i]), at[order[i]]
    for (name in failures)
        printf "%s: %d parameter sets failed, see the block file\n", name, failures[name]
    print "\nMB = 10^6 bytes. Writing includes the final sync, unlike in the other tables;"
    printf "reading may be served by the page cache."
    if (most_runs > 1)
        printf " Medians of %s%d runs.", fewest_runs < most_runs ? fewest_runs " to " : "", most_runs
    print ""
}
