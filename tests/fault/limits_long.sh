#!/usr/bin/env bash
# proves: GPFS-6 COLL-8
# limits.sh with every scene by itself, on 1, 2, 4 and 8 ranks, and with more values of each limit. Fails as it does.
# processors: 2
# timeout: 3000
# labels: long
export LIMITS_WHOLE=yes
exec bash "$(dirname "$0")/limits.sh"
