# Rows of bench/predict from the CSV of `piolet predict --csv`.
# A field in quotes may hold commas.
function fields(line, out,    n, in_quotes, i, c)
{
    n = 1
    out[1] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") in_quotes = !in_quotes
        else if (c == "," && !in_quotes) out[++n] = ""
        else out[n] = out[n] c
    }
    return n
}
NR == 1 {
    count = fields($0, names)
    for (i = 1; i <= count; i++) column[names[i]] = i
    next
}
{
    fields($0, row)
    kind = row[column["kind"]]
    phase = kind == "phase" ? row[column["numbers"]] : kind
    predicted = row[column["time_ns"]]
    measured = row[column["measured_ns"]]
    if (measured == "" || measured <= 0) next
    runs = row[column["noise_percent"]]
    replays = row[column["replay_noise_percent"]]
    noise = 2 * sqrt((runs * runs + replays * replays) / rounds)
    error = 100 * (predicted - measured) / measured
    off = error < 0 ? -error : error
    mark = (off > noise + 10) ? " !" : ""
    name = row[column["configuration"]]
    if (length(name) > 28) name = "~" substr(name, length(name) - 26)
    printf "%-16s %-28s %-8s %10.2f %10.2f %7.1f %+7.1f%s\n", program, name, phase, predicted / 1e6, measured / 1e6, noise,
        error, mark
    if (kind == "total" && totals != "")
        print program "\t" row[column["configuration"]] "\t" predicted "\t" measured >>totals
}
