#!/usr/bin/env bash
# Builds Kubernetes' API server into GOBIN and installs Debian's etcd, for the dry run of
# `npm run test:helm`. The build takes about five minutes of two cores, the first time.
set -euo pipefail
version=$(sed -n "s/^export const KUBERNETES_VERSION = '\(.*\)';/\1/p" "$(dirname "$0")/chart.ts")
bin=${GOBIN:-$(go env GOPATH)/bin}
command -v etcd >/dev/null || apt-get install -y --no-install-recommends etcd-server

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
go mod init api-server.local 2>/dev/null
go mod edit -require="k8s.io/kubernetes@v$version"
# Kubernetes' own module takes its parts from folders that are not in it; each is a module as well.
source=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
for part in $(sed -n 's/^\s*\(k8s.io\/[a-z0-9-]*\) => .*/\1/p' "$source/go.mod" | sort -u); do
  go mod edit -replace="$part=$part@v0.${version#*.}"
done
echo 'package tools; import _ "k8s.io/kubernetes/cmd/kube-apiserver"' >tools.go
go mod tidy -e >/dev/null 2>&1 || true
# Helm asks for the version, and refuses the one of a build without it.
named=k8s.io/component-base/version
GOFLAGS="-mod=mod -buildvcs=false" CGO_ENABLED=0 \
  go build -ldflags="-s -w -X $named.gitVersion=v$version -X $named.gitMajor=1 -X $named.gitMinor=$(cut -d. -f2 <<<"$version")" -o "$bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
echo "$bin/kube-apiserver"
