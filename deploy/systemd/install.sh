#!/usr/bin/env bash
# Installs a built gateway as systemd units: install.sh APP NODE, as root.
#
#   APP   the folder with dist and package.json: a checkout after its build, or /app of the image
#   NODE  the Node that runs it, copied beside it, so that a rollback brings back its Node too
#
# It starts and restarts nothing. Each version has a folder in /opt/agent-gateway, and `current` points to the last one that was
# installed. For packagers: DESTDIR goes before each path.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
app=$1 node=$2
for needed in dist/main.js package.json; do
  [ -e "$app/$needed" ] || { echo "$app has no $needed: build the gateway first" >&2 && exit 1; }
done
version=$("$node" -p 'JSON.parse(fs.readFileSync(process.argv[1], "utf8")).version' "$app/package.json")
root=${DESTDIR-}/opt/agent-gateway

# The new folder gets its name when it is complete.
umask 022
mkdir -p "$root"
rm -rf "$root/.new"
mkdir -p "$root/.new/bin"
cp -R "$app/dist" "$app/package.json" "$here/until-ready.mjs" "$root/.new"
cp -L "$node" "$root/.new/bin/node"
chmod -R u=rwX,go=rX "$root/.new"
rm -rf "${root:?}/$version.old"
[ ! -e "$root/$version" ] || mv "$root/$version" "$root/$version.old"
mv "$root/.new" "$root/$version"
rm -rf "${root:?}/$version.old"
ln -sfn "$version" "$root/current"

install -D -m 644 -t "${DESTDIR-}/etc/systemd/system" "$here/agent-gateway@.service" "$here/agent-gateway.target"
install -D -m 644 "$here/agent-gateway.sysctl.conf" "${DESTDIR-}/etc/sysctl.d/60-agent-gateway.conf"
install -D -m 644 "$here/agent-gateway.logrotate" "${DESTDIR-}/etc/logrotate.d/agent-gateway"
install -d -m 700 "${DESTDIR-}/etc/agent-gateway"
if [ -z "${DESTDIR-}" ]; then
  systemctl daemon-reload
  sysctl --quiet --load /etc/sysctl.d/60-agent-gateway.conf
fi
echo "agent-gateway $version is in $root/$version"
