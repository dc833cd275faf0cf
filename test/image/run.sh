#!/usr/bin/env bash
# Builds the image without a Docker engine, and runs it in a namespace of its own: as its numeric
# user, with a read-only root, as PID 1. Needs root, for chroot and namespaces.
#   IMAGE_TEST_STORE=…   where buildah keeps its images (default: a folder in the temporary directory)
#   IMAGE=…              checks this image of the store, that of a release of the last commit, and removes it; builds none
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/image/tools.sh
PATH=$PWD/node_modules/.bin:$PATH

fail_early() {
  echo "$1"
  echo '0 passed, 1 failed'
  exit 1
}
if hint=$(missing_tools); then fail_early "$hint"; fi
[ "$(id -u)" = 0 ] || fail_early 'test:image must run as root: buildah --isolation chroot and unshare need it.'

store=${IMAGE_TEST_STORE:-${TMPDIR:-/tmp}/agent-gateway-image-test}
export BUILDAH="buildah --storage-driver vfs --root $store/storage --runroot $store/run"
base=$(sed -n 's/^ARG NODE_IMAGE=//p' Dockerfile)
image=${IMAGE:-localhost/agent-gateway:test-$$}
version=$(node -p 'require("./package.json").version')
log=$(mktemp)
config=$(mktemp)
container=
clean_up() {
  rm -f "$log" "$config"
  if [ -n "$container" ]; then $BUILDAH rm "$container" >/dev/null; fi
  $BUILDAH rmi "$image" >/dev/null 2>&1 || true
}
trap clean_up EXIT

build_image() {
  # The base stays in the store for the next run.
  if ! $BUILDAH inspect --type image "$base" >/dev/null 2>&1; then
    echo "making $base from Debian and the npm package node"
    bash test/image/base-image.sh "$base"
  fi

  echo "building the image"
  $BUILDAH bud --isolation chroot --pull-never --format docker --layers=false --timestamp 0 \
    --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --tag "$image" . >"$log" 2>&1 ||
    { tail -n 40 "$log"; fail_early 'the image cannot be built'; }
}

if [ -n "${IMAGE:-}" ]; then
  revision=$(git rev-parse HEAD)
else
  revision=test
  build_image
fi

container=$($BUILDAH from --pull-never "$image")
$BUILDAH inspect --type image "$image" >"$config"
node test/image/check.ts "$($BUILDAH mount "$container")" "$config" "$revision"
