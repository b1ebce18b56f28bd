#!/usr/bin/env bash
# Compiles every example and conformance program with nvcc, as a user would; nothing is run.
set -u
tool=$1
root=$(cd "$(dirname "$0")/.." && pwd)
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
status=0
for source in "$root"/examples/*.cu "$root"/tests/conformance/*.cu; do
  "$tool" cc --machine cuda -gencode arch=compute_90,code=sm_90 "$source" -o "$directory/program" || { echo "FAILED: $source"; status=1; }
done
exit $status
