#!/bin/sh
# As root: a job of one user, beside another user who sends memory to its sockets. The job must not notice.
# Then the same as a user without privileges, and with few open files allowed.
#     tests/by_hand/two_users.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/cpu}" && pwd)
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
"$build/bin/causeway" cc --machine cpu "$here/growth.cu" -o "$work/growth"
cp "$here/intruder.py" "$work"
export NVSHMEM_SYMMETRIC_SIZE=2M CAUSEWAY_LEAK_REPORT=0

failed=0
check() { # NAME COMMAND...: with an intruder beside it
  name=$1 runs=0 good=0
  shift
  setpriv --reuid 65534 --regid 65534 --clear-groups env PATH=/usr/bin:/bin python3 "$work/intruder.py" 15 &
  intruder=$!
  while kill -0 "$intruder" 2>/dev/null; do
    runs=$((runs + 1))
    if timeout 60 "$@" "$build/bin/causeway" run -n 4 --timeout 50 "$work/growth" >"$work/out" 2>&1; then
      good=$((good + 1))
    else
      head -3 "$work/out"
    fi
  done
  wait "$intruder"
  echo "$name: $good of $runs jobs were right"
  [ "$good" = "$runs" ] || failed=1
}

check "a job of root" env
check "a job of another user" setpriv --reuid 65533 --regid 65533 --clear-groups
check "few open files" setpriv --reuid 65533 --regid 65533 --clear-groups sh -c 'ulimit -n 32; exec "$@"' sh
exit $failed
