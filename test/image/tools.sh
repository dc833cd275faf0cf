# What the image test needs of the machine; sourced by run.sh.

missing_tools() {
  local tool missing=()
  for tool in buildah debootstrap unshare nsenter npm; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -eq 0 ] && return 1
  echo "test:image needs ${missing[*]}. On Debian:"
  echo "  apt-get update && apt-get install --no-install-recommends buildah debootstrap util-linux npm"
}
