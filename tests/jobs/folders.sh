#!/bin/bash
# folders.sh CAUSEWAY PROGRAM   A job of threads makes a folder for its copies of the program (staying.cu). It is gone
# after the job, however that ends; so is one that an earlier job has left.
causeway=$1 program=$2
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
wrong=0
set -m  # else what runs in the background ignores SIGINT

# waits until "$@" holds, a minute at most
until_holds() {
  for _ in $(seq 6000); do
    "$@" && return 0
    sleep 0.01
  done
  return 1
}
is_there() { ls -d "$TMPDIR"/causeway-job-*/pe1.so >/dev/null 2>&1; }
is_gone() { ! ls -d "$TMPDIR"/causeway-job-* >/dev/null 2>&1; }
expect_gone() {
  until_holds is_gone || { echo "FAIL folders: left after $1: $(ls "$TMPDIR")"; wrong=1; }
}

for signal in KILL INT TERM SEGV; do
  "$causeway" run --threads -n 2 "$program" >/dev/null 2>&1 &
  job=$!
  until_holds is_there || { echo "FAIL folders: no folder"; wrong=1; }
  kill -"$signal" "$job"
  wait "$job" 2>/dev/null
  expect_gone "signal $signal"
done
"$causeway" run --threads -n 2 --timeout 0.5 "$program" >/dev/null 2>&1
expect_gone "the time limit"
"$causeway" run --threads -n 2 "$program" abort >/dev/null 2>&1
expect_gone "abort"
"$causeway" run --threads -n 2 "$program" exit >/dev/null 2>&1
expect_gone "exit"
"$causeway" run --threads -n 2 "$program" return >/dev/null 2>&1
expect_gone "a good end"

mkdir "$TMPDIR/causeway-job-left" && touch -d '1 hour ago' "$TMPDIR/causeway-job-left"
"$causeway" run --threads -n 2 "$program" return >/dev/null 2>&1
expect_gone "a later job"
[ "$wrong" = 0 ] && echo passed
exit "$wrong"
