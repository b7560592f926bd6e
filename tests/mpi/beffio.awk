# Recomputes b_eff_io from the raw block file, by the document's formulas and without piolet's code. Prints what is
# wrong, and at the end "value PARTITION B_EFF_IO RELEASE_2_1 (with the deletes)" for each partition of the last run.
function wrong(what) { printf "pattern %s, %s, n=%s: %s\n", p["pattern"], p["method"], p["partition"], what }

function chunk_of(number,    place) {
    if (number == 33 || number == 42) return -1
    if (number < 9) return C0[number]
    place = number < 17 ? number - 9 : number < 25 ? number - 17 : number < 34 ? number - 25 : number < 43 ? number - 34 : number - 43
    return C1[place]
}

function type_of(number) { return number < 9 ? 0 : number < 17 ? 1 : number < 25 ? 2 : number < 34 ? 3 : number < 43 ? 4 : 5 }

BEGIN {
    split("1048576 M 1048576 1048576 32768 1024 32776 1032 1048584", a, " "); for (i = 1; i <= 9; i++) C0[i - 1] = a[i]
    split("1048576 M 1048576 32768 1024 32776 1032 1048584", a, " "); for (i = 1; i <= 8; i++) C1[i - 1] = a[i]
    split("1 1 2 1 32 1024 32 1024 1", a, " "); for (i = 1; i <= 9; i++) CHUNKS[i - 1] = a[i]
    split("0 4 4 4 2 2 2 2 2 0 4 2 1 1 1 1 2 0 2 2 1 1 1 1 2 0 2 2 1 1 1 1 2 0 0 2 2 1 1 1 1 2 0 0 2 2 1 1 1 1 2", a, " ")
    for (i = 1; i <= 51; i++) U[i - 1] = a[i]
    # patterns of types 0 to 2 with the chunk size of the k-th pattern of types 3 and 4
    split("1 3 4 5 6 7 8", a, " "); split("10 11 12 13 14 15 16", b, " "); split("18 19 20 21 22 23 24", c, " ")
    for (i = 1; i <= 7; i++) { K0[i] = a[i]; K1[i] = b[i]; K2[i] = c[i] }
}

/^piolet-block/ { run = "" }
/^input time / { T = $3 }
/^input order / { order = $3 }
/^input release / { by_2_1 = $3 == "2.1" }
/^series [0-9]+ [^ ]+ ns / { if ($5 != p["calls"] || $3 != (p["method"] == "read" ? "r" : "w")) wrong("series: " $0); else kept[$2]++ }
/^fact run / { if ($3 != last) { delete bytes; delete time; delete calls; delete mine; delete parts; delete gone; last = $3 } }
/^fact mpart_bytes / { M = $3 }
/^set / { delete p; failed = 0 }
/^param / { key = $2; sub(/^param [^ ]+ /, ""); p[key] = $0 ~ /^[0-9]+$/ ? $0 + 0 : $0 }
/^error / { failed = 1; print "failed: " $0 }
/^end-set/ {
    n = p["partition"]; num = p["pattern"] + 0; id = n " " p["method"] " " num; t = type_of(num)
    parts[n] = 1
    if (p["type"] != t || p["units"] != U[num]) wrong("type " p["type"] ", U " p["units"])
    l = chunk_of(num); l = (l == "M" ? M : l) + 0
    if (l > 0 && p["chunk_bytes"] != l) wrong("l = " p["chunk_bytes"])
    if (l > 0 && p["call_bytes"] != l * (num < 9 ? CHUNKS[num] : 1)) wrong("L = " p["call_bytes"])
    if (p["bytes"] != p["calls"] * p["call_bytes"] * n) wrong("bytes " p["bytes"])
    want = T / 3 * U[num] / 64 * 1e9
    if (p["scheduled_ns"] - want > 1 || want - p["scheduled_ns"] > 1) wrong("scheduled " p["scheduled_ns"])
    count = split(p["batches"], batch, " "); sum = 0
    for (i = 1; i <= count; i++) sum += batch[i]
    if (sum != p["calls"]) wrong("batches " p["batches"] " make " sum " calls")
    # behind the last call of a region nothing is to be decided
    if (by_2_1 ? p["decisions"] != p["calls"] : p["decisions"] != count && p["decisions"] != count - 1) wrong(p["decisions"] " decisions")
    if (p["kept_calls"] != p["calls"]) wrong(p["kept_calls"] " times of calls kept")
    if (l > 0 && U[num] == 0 && p["calls"] != 1) wrong(p["calls"] " calls")
    if (p["method"] != "write" && p["calls"] > calls[n " write " num]) wrong("beyond the end of what was written")
    if (p["method"] == "write" && (t == 3 || t == 4) && p["calls"] > p["planned"]) wrong("more calls than planned")
    # repeat factors and segment
    if (p["method"] == "write" && (t == 3 || t == 4)) {
        k = num - (t == 3 ? 25 : 34)
        if (k == 0) { sum_segment[n " " t] = 1048576 }
        else if (k < 8) {
            mean = int((mine[n " " K0[k]] + mine[n " " K1[k]] + mine[n " " K2[k]]) / 3)
            rep = int(mean / l)
            if (by_2_1) { # repetitions: of type 0 times L/l, ten times those of type 1, those of type 2
                rep = int(mine[n " " K0[k]] / l)
                if (int(mine[n " " K1[k]] / l) * 10 < rep) rep = int(mine[n " " K1[k]] / l) * 10
                if (int(mine[n " " K2[k]] / l) < rep) rep = int(mine[n " " K2[k]] / l)
            }
            if (rep < 1) rep = 1
            if (p["planned"] != rep) wrong("repeat factor " p["planned"] " in the place of " rep)
            sum_segment[n " " t] += rep * l
        } else {
            segment = int((sum_segment[n " " t] + 1048575) / 1048576) * 1048576
            if (p["segment_bytes"] != segment) wrong("segment " p["segment_bytes"] " in the place of " segment)
            if (p["call_bytes"] != segment - sum_segment[n " " t]) wrong("fill " p["call_bytes"])
        }
    }
    calls[id] = p["calls"]
    if (p["method"] == "write") mine[n " " num] = p["bytes"] / n
    kind = n " " p["method"] " " t
    bytes[kind] += p["bytes"]
    time[kind] += p["open_ns"] + p["position_ns"] + p["time_ns"] + p["close_ns"]
    gone[kind] += p["delete_ns"]
    for (i = 0; i < n; i++) if (!(i in kept)) wrong("no series of rank " i)
    delete kept
    sets[n " " p["method"]]++
}
function rate(n, method, t) { return time[n " " method " " t] > 0 ? bytes[n " " method " " t] * 1e3 / time[n " " method " " t] : 0 }
function rate_2_1(n, t) { return bytes[n " read " t] * 1e3 / (time[n " read " t] + gone[n " read " t]) }
function method_value(n, method) {
    return (2 * rate(n, method, 0) + rate(n, method, 1) + rate(n, method, 2) + rate(n, method, 3) + rate(n, method, 4)) / 6
}
END {
    for (n in parts) {
        rewrite = order == "2.0" ? rate(n, "rewrite", 0) : method_value(n, "rewrite")
        value = 0.25 * method_value(n, "write") + 0.25 * rewrite + 0.5 * method_value(n, "read")
        writes = rate(n, "rewrite", 0); for (t = 0; t < 5; t++) writes += rate(n, "write", t)
        reads = 2 * rate_2_1(n, 0) + rate_2_1(n, 1) + rate_2_1(n, 2) + rate_2_1(n, 3) + rate_2_1(n, 4)
        printf "value %d %.6g %.6g\n", n, value, sqrt(writes / 6 * reads / 6)
    }
}
