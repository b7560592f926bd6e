# The table of bench/calls from its lines. Columns: MPI's own I/O, block, contestant, call, microseconds.
{
    key = $1 SUBSEP $4
    if (!(key in known)) {
        known[key] = 1
        rows[++row_count] = key
    }
    keep(key SUBSEP $3, $5)
    time[key, $3, $2] = $5
    if ((key, "piolet", $2) in time && (key, "system", $2) in time)
        keep(key SUBSEP "ratio", time[key, "piolet", $2] / time[key, "system", $2])
}

END {
    print "# microseconds a call, medians of the blocks; engine/system: of blocks side by side, below 1 the engine is faster"
    printf "%-15s %-15s %10s %10s  %s\n", "against", "call", "engine", "system", "engine/system"
    for (i = 1; i <= row_count; i++) {
        split(rows[i], part, SUBSEP)
        printf "%-15s %-15s %10.2f %10.2f  %s\n", part[1], part[2], median(rows[i] SUBSEP "piolet"),
            median(rows[i] SUBSEP "system"), spread(rows[i] SUBSEP "ratio")
    }
}
