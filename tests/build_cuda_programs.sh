#!/usr/bin/env bash
# Compiles every example and conformance program, and the MoE benchmark, with nvcc, as a user would; nothing is run.
#   build_cuda_programs.sh CAUSEWAY-TOOL [--quick | K/N]
# --quick: the conformance programs to PTX only, and none of those that take long. Without it three programs, each of
# which takes a quarter of an hour, are compiled without optimisation, and all others as they are run. K/N: every Nth of
# them from the Kth on.
set -u
tool=$1
quick=${2:-}
root=$(cd "$(dirname "$0")/.." && pwd)
# Those that git knows: what somebody else keeps beside them is his own. Without git all.
mapfile -t sources < <(cd "$root" && git ls-files 'examples/*.cu' 'tests/conformance/*.cu' bench/moe.cu 2> /dev/null)
[ ${#sources[@]} -gt 0 ] || mapfile -t sources < <(cd "$root" && ls examples/*.cu tests/conformance/*.cu bench/moe.cu)
if [[ $quick = */* ]]; then
  for index in "${!sources[@]}"; do ((index % ${quick#*/} == ${quick%/*} - 1)) || unset "sources[$index]"; done
  quick=
fi
set -- "${sources[@]/#/$root/}"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export tool directory quick
compile() {
  local made
  made=$directory/$(basename "$(dirname "$1")").$(basename "$1")  # two folders have a moe.cu
  case $quick$1 in
    --quick*/moving.cu | --quick*/reductions.cu | --quick*/reducescatters.cu) return ;;
    --quick*/scans.cu | --quick*/atomics.cu | --quick*/collective_graphs.cu) return ;;
    --quick*/rma.cu | --quick*/strided.cu | --quick*/wait*.cu | --quick*/tiles.cu) return ;;
    --quick*/conformance/* | --quick*/bench/*)
      "$tool" cc --machine cuda -c -gencode arch=compute_90,code=compute_90 "$1" -o "$made.o" ||
        { echo "FAILED: $1"; return 1; }
      return ;;
  esac
  case $1 in
    */moving.cu | */reductions.cu | */reducescatters.cu)
      "$tool" cc --machine cuda -G -gencode arch=compute_90,code=sm_90 "$1" -o "$made.program" ||
        { echo "FAILED: $1"; return 1; }
      return ;;
  esac
  "$tool" cc --machine cuda -gencode arch=compute_90,code=sm_90 "$1" -o "$made.program" ||
    { echo "FAILED: $1"; return 1; }
}
export -f compile
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'compile {}'
