#!/bin/sh
# As root: every PE in a pid namespace of its own, as with one container a PE: all have the same pid. With and without a
# /proc that fits, and without any.
#     tests/by_hand/same_pid.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/cpu}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bin/causeway" cc --machine cpu "$here/growth.cu" -o "$work/growth"
export NVSHMEM_SYMMETRIC_SIZE=2M CAUSEWAY_LEAK_REPORT=0

failed=0
check() { # NAME COMMAND...
  name=$1
  shift
  if timeout 60 "$build/bin/causeway" run -n 3 --timeout 50 "$@"; then echo "$name: right"
  else echo "$name: wrong"; failed=1; fi
}

check "one pid, a /proc for each" unshare --pid --fork --mount-proc "$work/growth"
check "one pid, the /proc of all" unshare --pid --fork "$work/growth"
check "one pid, no /proc" unshare --pid --mount --fork sh -c "mount -t tmpfs none /proc && exec $work/growth"
check "another user namespace for all" unshare --user --map-root-user "$build/bin/causeway" run -n 3 "$work/growth"
check "a user namespace without any names" unshare --user "$build/bin/causeway" run -n 3 "$work/growth"
exit $failed
