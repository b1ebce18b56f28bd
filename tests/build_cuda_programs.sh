#!/usr/bin/env bash
# Compiles every example and conformance program with nvcc, as a user would; nothing is run.
#   build_cuda_programs.sh CAUSEWAY-TOOL [SOURCE...]
set -u
tool=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- "$root"/examples/*.cu "$root"/tests/conformance/*.cu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export tool directory
compile() {
  "$tool" cc --machine cuda -gencode arch=compute_90,code=sm_90 "$1" -o "$directory/$(basename "$1").program" ||
    { echo "FAILED: $1"; return 1; }
}
export -f compile
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
