#!/usr/bin/env bash
# Restarts the running copies one after the other: roll.sh, as root. Each drains first, and the next one follows when it is
# ready again. The first that does not come back ends it; the other copies then still run as before.
set -euo pipefail
copies=$(systemctl list-units --plain --no-legend --state=active 'agent-gateway@*.service' | awk '{ print $1 }')
[ -n "$copies" ] || { echo 'no copy of agent-gateway runs here' >&2 && exit 1; }
for copy in $copies; do
  echo "restarting $copy"
  systemctl restart "$copy" || {
    echo "$copy is not ready: see journalctl -u $copy. The other copies were left alone." >&2
    exit 1
  }
done
