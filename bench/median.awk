# Medians and spreads of the values that were put under a key.
function keep(key, value) { values[key, ++count[key]] = value }

function sort_values(key,    i, j, moved) {
    for (i = 2; i <= count[key]; i++) {
        moved = values[key, i]
        for (j = i - 1; j >= 1 && values[key, j] > moved; j--)
            values[key, j + 1] = values[key, j]
        values[key, j + 1] = moved
    }
}

function median(key,    half) {
    sort_values(key)
    half = int((count[key] + 1) / 2)
    return count[key] % 2 ? values[key, half] : (values[key, half] + values[key, half + 1]) / 2
}

# "0.93 (0.71-1.02)"; "-" where nothing was kept.
function spread(key,    middle) {
    if (!count[key])
        return "-"
    middle = median(key)
    return sprintf("%.2f (%.2f-%.2f)", middle, values[key, 1], values[key, count[key]])
}

# At most 4 characters, so that a table keeps its width whatever was measured: 0.93 12.3 456 7.9k 12k
function short(value) {
    if (value >= 999.5)
        return value >= 999500 ? sprintf("%.0fM", value / 1e6) : sprintf(value < 9950 ? "%.1fk" : "%.0fk", value / 1000)
    return sprintf(value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value)
}

function short_spread(key,    middle) {
    if (!count[key])
        return "-"
    middle = median(key)
    return short(middle) " (" short(values[key, 1]) "-" short(values[key, count[key]]) ")"
}
