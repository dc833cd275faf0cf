#!/usr/bin/env bash
# Gives HAProxy a renewed certificate: renew-certificate.sh CHAIN KEY, as root. CHAIN is the certificate with its chain. For the hook of
# an ACME client: certbot's --deploy-hook with "$RENEWED_LINEAGE/fullchain.pem" and "$RENEWED_LINEAGE/privkey.pem".
# HAProxy checks it before it takes it, and serves on with the old one if it is wrong.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
folder=${DESTDIR-}/etc/haproxy
umask 077
new=$(mktemp "$folder/.gateway.pem.XXXXXX")
trap 'rm -f "$new"' EXIT
{ cat "$1" && echo && cat "$2"; } >"$new"
# A configuration of this certificate alone: the real one is not touched until it is right.
check=$(mktemp)
trap 'rm -f "$new" "$check"' EXIT
printf 'defaults\n  mode http\n  timeout connect 1s\n  timeout client 1s\n  timeout server 1s\nfrontend f\n  bind 127.0.0.1:1 ssl crt %s\n' "$new" >"$check"
haproxy -c -q -f "$check" || { echo "$1 and $2 are no certificate and key that HAProxy takes; nothing was changed" >&2 && exit 1; }
mv "$new" "$folder/gateway.pem"
[ -n "${DESTDIR-}" ] || systemctl reload haproxy
