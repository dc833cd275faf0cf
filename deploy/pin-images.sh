#!/usr/bin/env bash
# Writes the images of deploy/images.txt to where they are used.
#   pin-images.sh              writes
#   pin-images.sh --check      tells what differs, and writes nothing
#   pin-images.sh --digests    first asks each registry for the digest of each tag; needs skopeo and a network
set -euo pipefail
cd "$(dirname "$0")/.."
list=deploy/images.txt

if [ "${1:-}" = --digests ]; then
  while read -r name image; do
    case $name in '' | '#'*) continue ;; esac
    digest=$(skopeo inspect --no-tags --format '{{.Digest}}' "docker://${image%@*}")
    sed -i "s|^$name .*|$name ${image%@*}@$digest|" "$list"
  done < <(cat "$list")
fi

different=0
# pin FILE SCRIPT: what sed makes of a file.
pin() {
  local made
  made=$(sed "$2" "$1")
  if [ "$made" = "$(cat "$1")" ]; then return; fi
  different=1
  if [ "${check:-}" ]; then echo "$1 differs from $list: run deploy/pin-images.sh"; else printf '%s\n' "$made" >"$1"; fi
}
[ "${1:-}" = --check ] && check=yes

while read -r name image; do
  case $name in '' | '#'*) continue ;; esac
  if [ "$name" = node ]; then
    pin Dockerfile "s|^ARG NODE_IMAGE=.*|ARG NODE_IMAGE=$image|"
    pin deploy/services.Dockerfile "s|^ARG NODE_IMAGE=.*|ARG NODE_IMAGE=$image|"
  else
    # The tag has to follow at once, so that an image whose name begins the same is not meant.
    repository=${image%%@*}
    pin deploy/compose.yaml "s|image: ${repository%:*}[:@].*|image: $image|"
    pin deploy/compose.cluster.yaml "s|image: ${repository%:*}[:@].*|image: $image|"
  fi
done <"$list"
[ -z "${check:-}" ] || exit "$different"
