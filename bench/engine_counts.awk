# The tables of bench/engine --counts. Columns: what the MPI's own I/O is, contestant, pattern, operation, ranks, bytes,
# calls, strategy; of rank 0, then of all ranks: messages and bytes, collectives and bytes, reads and bytes, writes and
# bytes, mappings and bytes; bytes on the wire, bytes in other hosts' parts of the file (-1: one host).
# 5 characters: bytes in powers of 1000.
function human(value,    unit, units) {
    split("k M G T", units, " ")
    for (unit = 0; value >= 9999.5 && unit < 4; unit++)
        value /= 1000
    return unit == 0 ? sprintf("%d", value) : sprintf(value < 10 ? "%.2f%s" : value < 100 ? "%.1f%s" : "%.0f%s", value, units[unit])
}

function name_of(peer, contestant) {
    if (contestant == "system")
        return peer
    return (peer == "romio" ? "m:" : peer == "ompio" ? "o:" : "r:") substr(contestant, contestant == "piolet" ? 1 : 8)
}

BEGIN {
    print "\n# counts of one access: of all ranks, and of rank 0 below; bytes in powers of 1000"
    print "# m: o: r: the engine beside romio (MPICH), ompio, o-romio"
    print "# msg: messages; on Open MPI also those of which a collective is made"
    print "# coll: calls of collectives; those of OMPIO are seen as messages only"
    printf "%-7s %-5s %3s %-13s %5s %5s %5s %5s %5s %5s %5s %4s\n", "pattern", "op", "P", "who", "msg", "bytes", "coll",
        "reads", "bytes", "write", "bytes", "maps"
}

function print_counts(from) {
    printf " %5s %5s %5s %5s %5s %5s %5s %4s\n", human($from), human($(from + 1)), human($(from + 2)), human($(from + 4)),
        human($(from + 5)), human($(from + 6)), human($(from + 7)), human($(from + 8))
}

{
    printf "%-7s %-5s %3s %-13s", $3, $4, $5, substr(name_of($1, $2), 1, 13)
    print_counts(19)
    printf "%31s", "rank 0"
    print_counts(9)
    if ($29 >= 0)
        wires[++wire_count] = sprintf("%-7s %-5s %3s %-13s %12d %12d %12d %6s", $3, $4, $5, substr(name_of($1, $2), 1, 13),
            $6, $30, $29, $30 > 0 ? sprintf("%.2f", $29 / $30) : "-")
}

END {
    if (!wire_count)
        exit
    print "\n# bytes between hosts. must: of the data, those in another host's part, were the"
    print "# file divided evenly in one part for each host. wire: all that the hosts sent"
    printf "%-7s %-5s %3s %-13s %12s %12s %12s %6s\n", "pattern", "op", "P", "who", "data", "must", "wire", "ratio"
    for (i = 1; i <= wire_count; i++)
        print wires[i]
}
