#!/usr/bin/env bash
# Runs a command in a container's root, in the namespaces that `unshare --mount --pid --fork` made:
# read-only root, its own /proc, uid and gid by number. Becomes PID 1 by exec.
#   start-as-pid-1.sh ROOT UID GID WORKDIR COMMAND…
set -euo pipefail
root=$1 uid=$2 gid=$3 workdir=$4
shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec setpriv --no-new-privs -- \
  unshare --root="$root" --wd="$workdir" --setgid="$gid" --setuid="$uid" -- "$@"
