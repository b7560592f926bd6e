# The table of bench/trace from its lines. Columns: MPI, round, tracer, pattern, calls, ns a call, us of MPI_Finalize,
# bytes of the trace.
{
    row = $1 SUBSEP $4
    if (!(row in known)) {
        known[row] = 1
        rows[++row_count] = row
    }
    keep(row SUBSEP $3, $6)
    keep(row SUBSEP $3 SUBSEP "bytes", $8 / $5)
    keep($1 SUBSEP $3 SUBSEP "end", $7 / 1000)
    ns[row, $3, $2] = $6
    if ($3 != "none")
        keep(row SUBSEP $3 SUBSEP "added", $6 - ns[row, "none", $2])
    mpis[$1] = 1
}

function cell(row, tracer) {
    return sprintf("%s %s", short_signed(median(row SUBSEP tracer SUBSEP "added")), short(median(row SUBSEP tracer SUBSEP "bytes")))
}

function short_signed(value) { return value < 0 ? sprintf("%.0f", value) : short(value) }

END {
    print "# none: ns a call without a tracer; others: ns that they add to it, and bytes of the trace for each call"
    printf "%-8s %-8s %7s   %-14s %-14s %-14s\n", "MPI", "calls", "none", "logger", "folded", "full"
    for (i = 1; i <= row_count; i++) {
        split(rows[i], part, SUBSEP)
        printf "%-8s %-8s %7.0f   %-14s %-14s %-14s\n", part[1], part[2], median(rows[i] SUBSEP "none"),
            cell(rows[i], "logger"), cell(rows[i], "folded"), cell(rows[i], "full")
    }
    for (mpi in mpis)
        printf "# MPI_Finalize, ms (%s): none %s, logger %s, folded %s, full %s\n", mpi, short_spread(mpi SUBSEP "none" SUBSEP "end"),
            short_spread(mpi SUBSEP "logger" SUBSEP "end"), short_spread(mpi SUBSEP "folded" SUBSEP "end"),
            short_spread(mpi SUBSEP "full" SUBSEP "end")
}
