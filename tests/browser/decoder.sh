#!/usr/bin/env bash
# proves: IOT-30 PHASE-6
# The decoder of the report page on data that no report holds, for a second. Fails when it throws something else than its
# own Error, or calls something a report that the views cannot walk through.
# labels: browser
# timeout: 60
source "$(dirname "$0")/../lib.sh"
command -v node >/dev/null || skip "needs node (package nodejs)"
[ -d "$BINARY/web/node_modules/esbuild" ] || skip "the page was not built: no npm, or no network"
cd "$TMP"
expect_exit 0 node --max-old-space-size=1024 "$SOURCE/tests/browser/decoder.mjs" "$BINARY/web" "$SOURCE/tests/fuzz/corpus/page" "${DECODER_AMOUNT:-1s}"
cat "$OUT"
