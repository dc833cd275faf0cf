#!/usr/bin/env bash
# Makes an image under the name of the Dockerfile's base out of Debian's packages, the npm package
# `node` and this machine's npm, for machines that reach no container registry.
#   base-image.sh NAME     with buildah set up by run.sh ($BUILDAH)
set -euo pipefail
name=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

# Without a mirror named, debootstrap takes Debian's own.
debootstrap --variant=minbase bookworm "$work/rootfs" ${DEBIAN_MIRROR:-} >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log"; exit 1; }

npm_home=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
install -m 755 "$root/node_modules/node/bin/node" "$work/rootfs/usr/local/bin/node"
mkdir -p "$work/rootfs/usr/local/lib/node_modules"
cp -a "$npm_home" "$work/rootfs/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/rootfs/usr/local/bin/npm"
# A machine behind a proxy of its own trusts more than Node does.
mkdir -p "$work/rootfs/etc/ssl/certs"
cp -L /etc/ssl/certs/ca-certificates.crt "$work/rootfs/etc/ssl/certs/" 2>/dev/null || true

container=$($BUILDAH from scratch)
$BUILDAH copy --quiet "$container" "$work/rootfs" / >/dev/null
$BUILDAH config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
  --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
$BUILDAH commit --quiet "$container" "$name" >/dev/null
$BUILDAH rm "$container" >/dev/null
