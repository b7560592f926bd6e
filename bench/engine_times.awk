# The tables of bench/engine. Columns: what the MPI's own I/O is, repetition, contestant, pattern, operation, ranks,
# bytes, calls, seconds, strategy. A speed is GB/s, or calls a second for patterns of small calls.
function speed_of(pattern, bytes, calls, seconds) { return (pattern ~ /^g-/ ? calls : bytes / 1e9) / seconds }

function short_median(key) { return count[key] ? short(median(key)) : "-" }

function note_row(list, key) {
    if (!((list, key) in known)) {
        known[list, key] = 1
        rows[list, ++row_count[list]] = key
    }
}

{
    row = $4 SUBSEP $5 SUBSEP $6
    note_row("ratios", row)
    seen[row, $1] = 1
    if ($3 ~ /^piolet\//)
        note_row("strategies", row SUBSEP $1 SUBSEP $3)
    speed = speed_of($4, $7, $8, $9)
    keep(row SUBSEP $1 SUBSEP $3, $4 ~ /^g-/ ? 1e6 / speed : speed)
    speeds[row, $1, $3, $2] = speed
}

# Side by side: of the same repetition in the same process.
function keep_ratios(one, other, name,    key, part) {
    for (key in speeds) {
        split(key, part, SUBSEP)
        if (part[5] == one && (part[1], part[2], part[3], part[4], other, part[6]) in speeds)
            keep(part[1] SUBSEP part[2] SUBSEP part[3] SUBSEP part[4] SUBSEP name,
                 speeds[key] / speeds[part[1], part[2], part[3], part[4], other, part[6]])
    }
}

function print_rates(    i, p, key, part, peers, peer_count) {
    print "\n# median (smallest-largest): GB/s; g: microseconds a call"
    printf "%-7s %-5s %5s %-7s %-16s %-16s %s\n", "pattern", "op", "ranks", "peer", "engine", "peer", "limit"
    peer_count = split("romio ompio o-romio", peers, " ")
    for (i = 1; i <= row_count["ratios"]; i++)
        for (p = 1; p <= peer_count; p++) {
            key = rows["ratios", i] SUBSEP peers[p]
            if (!(key in seen))
                continue
            split(key, part, SUBSEP)
            printf "%-7s %-5s %5s %-7s %-16s %-16s %s\n", part[1], part[2], part[3], part[4],
                short_spread(key SUBSEP "piolet"), short_spread(key SUBSEP "system"), short_spread(key SUBSEP "limit")
        }
}

function print_strategies(    i, key, part, name, row) {
    if (!row_count["strategies"])
        return
    print "\n# fixed strategies; engine/it: above 1 the engine as it was asked for is faster"
    printf "%-7s %-5s %5s %-7s %-18s %-16s %s\n", "pattern", "op", "ranks", "peer", "strategy", "rate", "engine/it"
    for (i = 1; i <= row_count["strategies"]; i++) {
        key = rows["strategies", i]
        split(key, part, SUBSEP)
        row = part[1] SUBSEP part[2] SUBSEP part[3] SUBSEP part[4]
        name = "to " part[5]
        if (!(name in made)) {
            keep_ratios("piolet", part[5], name)
            made[name] = 1
        }
        printf "%-7s %-5s %5s %-7s %-18s %-16s %s\n", part[1], part[2], part[3], part[4], substr(part[5], 8),
            short_spread(key), short_median(row SUBSEP name)
    }
}

function print_ratios(    i, key, part) {
    keep_ratios("piolet", "system", "to peer")
    keep_ratios("piolet", "limit", "to limit")
    print "\n# engine/peer, of speeds side by side: above 1 the engine is faster"
    print "# engine/limit: on MPICH, on Open MPI"
    printf "%-7s %-5s %5s %-16s %-16s %-16s %s\n", "pattern", "op", "ranks", "/romio", "/ompio", "/o-romio", "/limit"
    for (i = 1; i <= row_count["ratios"]; i++) {
        key = rows["ratios", i]
        split(key, part, SUBSEP)
        printf "%-7s %-5s %5s %-16s %-16s %-16s %-4s %s\n", part[1], part[2], part[3],
            short_spread(key SUBSEP "romio" SUBSEP "to peer"), short_spread(key SUBSEP "ompio" SUBSEP "to peer"),
            short_spread(key SUBSEP "o-romio" SUBSEP "to peer"), short_median(key SUBSEP "romio" SUBSEP "to limit"),
            short_median(key SUBSEP "ompio" SUBSEP "to limit")
    }
}

END {
    print_rates()
    print_strategies()
    print_ratios()
}
