#!/usr/bin/env bash
# proves: IOT-30 PHASE-6
# The decoder of the report page on a million inputs; fails as decoder.sh does.
# labels: browser long
# timeout: 1200
export DECODER_AMOUNT=1000000 COMMAND_TIMEOUT=3000
exec bash "$(dirname "$0")/decoder.sh"
