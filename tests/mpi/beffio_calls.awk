# The calls that b_eff_io has to make, from its document's Table 2 and rules alone: a naive list, a line a call as
# tests/support/beffio_calls.c writes them. Of the results it takes what no rule can know: how many calls of a process a
# loop made before its time was over, and which loops of types 3 and 4 a short run ended early.
#   awk -v n=PROCESSES -v rank=RANK -v release=document|2.1 -f beffio_calls.awk RESULTS
BEGIN {
    MB = 1048576
    # number: type, l (0: M_PART, -1: what is left of the segment), chunks in a call, U
    rows = "0 M1 1 0,0 MP 1 4,0 M1 2 4,0 M1 1 4,0 K32 32 2,0 K1 1024 2,0 K32+ 32 2,0 K1+ 1024 2,0 M1+ 1 2"
    for (t = 1; t <= 4; t++)
        rows = rows "," t " M1 1 0," t " MP 1 2," t " M1 1 2," t " K32 1 1," t " K1 1 1," t " K32+ 1 1," t " K1+ 1 1," t " M1+ 1 2" (t > 2 ? "," t " FILL 1 0" : "")
    count = split(rows, row, ",")
    size["M1"] = MB; size["K32"] = 32768; size["K1"] = 1024
    size["M1+"] = MB + 8; size["K32+"] = 32768 + 8; size["K1+"] = 1024 + 8
    for (i = 1; i <= count; i++) {
        split(row[i], cell, " ")
        type[i - 1] = cell[1]; name[i - 1] = cell[2]; chunks[i - 1] = cell[3]; units[i - 1] = cell[4]
    }
    if (count != 43) print "the table has " count " rows"
    suffix[0] = suffix[4] = "_all"; suffix[1] = "_ordered"
}
/^fact mpart_bytes / { size["MP"] = $3 }
/^input keep / { keep = $3 == "true" }
/^param method / { method = $3 }
/^param pattern / { pattern = $3 }
/^param calls / { calls[method, pattern] = $3 }
/^warning ended at 2 times its scheduled time/ { cut[pattern] = 1 }

# Bytes of a process in the pattern of a type with this chunk that counts for the segment.
function bytes_in(t, chunk,    p, bytes) {
    for (p = 0; p < 43; p++)
        if (type[p] == t && name[p] == chunk && units[p] > 0 && (chunks[p] == 1 || chunk !~ /M/))
            bytes = calls["write", p] * chunks[p] * size[chunk]
    return bytes
}
function repeats(chunk,    a, b, c, rep) {
    a = bytes_in(0, chunk); b = bytes_in(1, chunk); c = bytes_in(2, chunk)
    rep = int(int((a + b + c) / 3) / size[chunk])
    if (release == "2.1") {
        rep = a / size[chunk]
        if (b / size[chunk] * 10 < rep) rep = b / size[chunk] * 10
        if (c / size[chunk] < rep) rep = c / size[chunk]
    }
    return rep < 1 ? 1 : rep
}
function access(p, m, at, l, k, stride) {
    printf "%s%s %d %d %d %d\n", m == "read" ? "read" : "write", suffix[type[p]], at, l, k, stride
}
END {
    for (t = 0; t < 5; t++) {
        segment = 0
        for (p = 0; p < 43; p++) {
            if (type[p] != t || t < 3 || name[p] == "FILL") continue
            planned[p] = units[p] ? repeats(name[p]) : 1
            segment += planned[p] * size[name[p]]
        }
        fill[t] = int((segment + MB - 1) / MB) * MB - segment
        length_of[t] = segment + fill[t]
    }
    split("write rewrite read", methods, " ")
    for (i = 1; i <= 3; i++) for (t = 0; t < 5; t++) {
        m = methods[i]
        if (m == "rewrite" && release == "2.1" && t > 0) continue
        print "open " t " " m (t == 2 ? " self" : "") (m == "read" && release == "2.1" && !keep ? " delete" : "")
        start = 0
        for (p = 0; p < 43; p++) {
            if (type[p] != t) continue
            l = name[p] == "FILL" ? fill[t] : size[name[p]]
            L = l * chunks[p]
            made = calls[m, p]
            if (units[p] == 0) made = l > 0
            else if (t > 2 && m == "write" && !cut[p]) made = planned[p]
            else if (t > 2 && m == "write" && made >= planned[p]) print "pattern " p " is not cut"
            if (made < 1 && l > 0) print "pattern " p " has no call"
            if (m != "write" && made > calls["write", p]) print "pattern " p " goes beyond what was written"
            for (k = 0; k < made; k++) {
                if (t == 0 && chunks[p] > 1) access(p, m, start + k * n * L + rank * l, l, chunks[p], n * l)
                else if (t < 2) access(p, m, start + k * n * L + rank * l, L, 1, 0)
                else if (t == 2) access(p, m, start + k * L, L, 1, 0)
                else access(p, m, rank * length_of[t] + start + k * L, L, 1, 0)
            }
            if (m != "read") print "sync"
            start += t < 2 ? calls["write", p] * L * n : t == 2 ? calls["write", p] * L : (name[p] == "FILL" ? (l > 0) : planned[p]) * L
        }
        print "close"
        if (m == "read" && release != "2.1" && !keep && (t == 2 || rank == 0)) print "delete"
    }
}
