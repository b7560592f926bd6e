# The table of bench/overlap from its lines. Columns: round, contestant, call, tests, io, compute, both.
{
    key = $2 SUBSEP $3 SUBSEP $4
    if (!(key in known)) {
        known[key] = 1
        row = $3 SUBSEP $4
        if (!(row in known)) {
            known[row] = 1
            rows[++row_count] = row
        }
        if (!($2 in known)) {
            known[$2] = 1
            contestants[++contestant_count] = $2
        }
    }
    io = $5; computing = $6; both = $7
    keep(key SUBSEP "io", io * 1000)
    keep(key SUBSEP "both", both * 1000)
    keep(key SUBSEP "overlap", (io + computing - both) / (io < computing ? io : computing))
    keep(key SUBSEP "ratio", both / (io > computing ? io : computing))
    time[key, $1] = both
    last_round = $1
}

END {
    print "# overlap: share of the shorter of both that the longer one hides; 1 is best, 0 is one after the other"
    print "# both/longer: 1 is best, 2 is one after the other; engine: both / that of the engine in the same MPI and round"
    for (i = 1; i <= row_count; i++) {
        split(rows[i], part, SUBSEP)
        printf "\n%s, %s\n", part[1], part[2] ? part[2] " x MPI_Test" : "no call of MPI meanwhile"
        printf "  %-15s %9s %9s  %-20s %-20s %s\n", "", "io ms", "both ms", "overlap", "both/longer", "both/engine"
        for (j = 1; j <= contestant_count; j++) {
            name = contestants[j]
            key = name SUBSEP rows[i]
            if (!(key in known))
                continue
            engine = "piolet" substr(name, index(name, "/")) SUBSEP rows[i]
            if (engine != key)
                for (round = 0; round <= last_round; round++)
                    if ((key, round) in time && (engine, round) in time)
                        keep(key SUBSEP "engine", time[key, round] / time[engine, round])
            printf "  %-15s %9.2f %9.2f  %-20s %-20s %s\n", name, median(key SUBSEP "io"), median(key SUBSEP "both"),
                spread(key SUBSEP "overlap"), spread(key SUBSEP "ratio"), spread(key SUBSEP "engine")
        }
    }
}
