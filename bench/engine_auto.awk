# The table of bench/engine --auto. Columns as in engine_times.awk.
{
    row = $4 SUBSEP $5 SUBSEP $6 SUBSEP $1
    if (!(row in known)) {
        known[row] = 1
        rows[++row_count] = row
    }
    speed = ($4 ~ /^g-/ ? $8 / 1e6 : $7 / 1e9) / $9
    keep(row SUBSEP $3, speed)
    speeds[row, $3, $2] = speed
    if ($2 + 1 > repetitions)
        repetitions = $2 + 1
    if ($3 == "piolet")
        chosen[row] = $10
    else if (!((row, $3) in listed)) {
        listed[row, $3] = 1
        names[row, ++name_count[row]] = $3
    }
}

function best_of(row,    i, best) {
    for (i = 1; i <= name_count[row]; i++)
        if (!best || median(row SUBSEP names[row, i]) > median(row SUBSEP best))
            best = names[row, i]
    return best
}

END {
    print "\n# GB/s (g: million calls a second); auto/best: of speeds side by side"
    printf "%-7s %-5s %5s %-7s %6s %-18s %6s  %s\n", "pattern", "op", "ranks", "MPI", "auto", "best fixed", "", "auto/best"
    for (i = 1; i <= row_count; i++) {
        row = rows[i]
        split(row, part, SUBSEP)
        best = best_of(row)
        for (r = 0; r < repetitions; r++)
            if ((row, "piolet", r) in speeds && (row, best, r) in speeds)
                keep(row SUBSEP "ratio", speeds[row, "piolet", r] / speeds[row, best, r])
        printf "%-7s %-5s %5s %-7s %6s %-18s %6s  %s\n", part[1], part[2], part[3],
            part[4] == "romio" ? "mpich" : "openmpi", short(median(row SUBSEP "piolet")), substr(best, 8),
            short(median(row SUBSEP best)), spread(row SUBSEP "ratio")
        if (chosen[row] != substr(best, 8))
            printf "%27s chose %s\n", "", chosen[row]
        if (median(row SUBSEP "ratio") < 0.95)
            behind++
    }
    printf "# %d of %d rows more than 5 %% behind the best fixed strategy\n", behind, row_count
}
