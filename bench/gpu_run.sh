#!/usr/bin/env bash
# One call on a machine with NVIDIA GPUs: builds the cuda preset, builds the examples and the conformance programs as a
# user would, runs them with 1, 2 and 3 PEs (several PEs on one GPU under MPS, which the launcher starts), and prints a
# table last.
#
#   bench/gpu_run.sh [PROGRAM-DIRECTORY...]     more .cu programs to build and run with 1 and 2 PEs
#   bench/gpu_run.sh moe [JSON [JSON]]          the mixture-of-experts buffer: its tests, then what it takes, with 2 PEs; with
#                                               two GPUs and PyTorch also from Python, beside deep_ep if that is installed
#
# Environment: ARCHITECTURES (default 90), JOBS (default: all cores), ONLY (a pattern of program names), PES (default
# "1 2 3"), LIMIT_S (per run).
set -u
shopt -s extglob
cd "$(dirname "$0")/.."
architectures=${ARCHITECTURES:-90} jobs=${JOBS:-$(nproc)} limit_s=${LIMIT_S:-60} only=${ONLY:-*}  # with | between alternatives
build=build/cuda programs=$build/programs
failed=0
rows=()

say() { printf '== %s\n' "$*"; }

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || { echo "no GPU here: nothing can be run" >&2; exit 2; }
gpus=$(nvidia-smi -L | wc -l)

python=OFF
if [ "${1:-}" = moe ] && [ "$gpus" -ge 2 ] && python3 -c 'import torch, nanobind' 2> /dev/null; then python=ON; fi
say "building ($jobs jobs)"
cmake --preset cuda -DCAUSEWAY_TESTS=OFF "-DCAUSEWAY_CUDA_ARCHITECTURES=$architectures" -DCAUSEWAY_PYTHON=$python \
  > /tmp/configure.log 2>&1 ||
  { tail -n 20 /tmp/configure.log; exit 1; }
cmake --build "$build" -j "$jobs" > /tmp/build.log 2>&1 || { grep -E 'error|FAILED' /tmp/build.log | head -n 40; exit 1; }
causeway=$build/bin/causeway

mkdir -p "$programs"
sources=(examples/*.cu)
[ -d tests/conformance ] && sources+=(tests/conformance/*.cu)
extra=() moe=
if [ "${1:-}" = moe ]; then
  moe=yes json=${2:--} beside=${3:-}
  set --
  sources=(tests/conformance/moe*.cu tests/conformance/primitives.cu bench/moe.cu)
fi
for directory in "$@"; do extra+=("$directory"/*.cu); done
say "building $((${#sources[@]} + ${#extra[@]})) programs with nvcc"
export causeway programs architectures only
compile() {
  local name; name=$(basename "$1" .cu)
  case $1 in bench/*) name=${name}_bench ;; esac
  [[ $name == @($only) ]] || return
  # (bash -c does not inherit extglob, but [[ == ]] always understands it)
  "$causeway" cc --machine cuda -O3 -gencode "arch=compute_${architectures}a,code=sm_${architectures}a" "$1" \
    -o "$programs/$name" > "$programs/$name.log" 2>&1 || echo "BUILD FAILED $1"
}
export -f compile
printf '%s\n' "${sources[@]}" "${extra[@]}" | xargs -P "$jobs" -I{} bash -c 'compile {}'
# The same source with relocatable device code links and runs as well.
nvcc -std=c++17 -rdc=true -gencode "arch=compute_${architectures}a,code=sm_${architectures}a" examples/shift.cu -I"$build/include" \
  -L"$build/lib" -lcauseway -Xlinker "-rpath=$PWD/$build/lib" -o "$programs/shift_rdc" || echo "BUILD FAILED shift_rdc"

# A row is printed when it is there: a table that comes last is lost with a run that is cut off.
row() {
  rows+=("$1")
  printf '%s\n' "$1"
}

# run NAME PES [ARGUMENTS]: one row of the table
run() {
  local name=$1 pes=$2; shift 2
  [[ $name == @($only) ]] || return
  if [ ! -x "$programs/$name" ]; then
    row "$(printf '%-22s %3s  not built' "$name" "$pes")"; failed=1
    head -n 5 "$programs/$name.log" 2> /dev/null
    return
  fi
  local start status seconds
  start=$(date +%s%N)
  timeout -k 5 "$limit_s" "$causeway" run -n "$pes" "$programs/$name" "$@" > "$programs/$name.$pes.out" 2>&1
  status=$?
  seconds=$((($(date +%s%N) - start) / 1000000))
  if [ $status = 0 ]; then
    row "$(printf '%-22s %3d  ok       %6d ms' "$name" "$pes" "$seconds")"
  else
    row "$(printf '%-22s %3d  FAILED   %6d ms  status %d' "$name" "$pes" "$seconds" "$status")"; failed=1
    say "$name with $pes PEs: status $status"
    tail -n 12 "$programs/$name.$pes.out"
  fi
}

say "running on $gpus GPU(s)"
for pes in ${PES:-1 2 3}; do
  for source in "${sources[@]}"; do
    name=$(basename "$source" .cu)
    case $source in bench/*) continue ;; esac
    case $name in
      latency) [ "$pes" = 3 ] || run latency "$pes" ;;
      uniqueid) run uniqueid "$pes" "$(mktemp -u)" ;;  # the file by which the PEs pass the id
      *) run "$name" "$pes" ;;
    esac
  done
done
if [ -n "$moe" ]; then
  for blocks in 8 24 64; do
    say "2 PEs, $blocks blocks"
    timeout -k 5 "$limit_s" "$causeway" run -n 2 "$programs/moe_bench" "$json" 4096 $blocks || failed=1
  done
  if [ $python = ON ]; then
    say "from Python, 2 ranks"
    export PYTHONPATH=$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH} CUDA_MODULE_LOADING=EAGER
    libraries=(causeway.ep)
    python3 -c 'import deep_ep' 2> /tmp/deep_ep.log && libraries+=(deep_ep) || echo "no deep_ep here: $(tail -n 1 /tmp/deep_ep.log)"
    for library in "${libraries[@]}"; do
      timeout -k 5 120 python3 -m torch.distributed.run --nproc-per-node 2 bench/moe_beside.py "$library" "/tmp/$library.json" \
        > "/tmp/$library.log" 2>&1 || { failed=1; say "$library failed"; grep -v '^W' "/tmp/$library.log" | tail -n 25; }
    done
    python3 bench/moe_beside.py --table /tmp/causeway.ep.json /tmp/deep_ep.json $beside
  fi
  exit $failed
fi
run shift_rdc 2
for source in "${extra[@]}"; do
  for pes in 1 2; do run "$(basename "$source" .cu)" "$pes"; done
done

say "latency and bandwidth, 2 PEs"
cat "$programs/latency.2.out" 2> /dev/null
say "results"
printf '%-22s %3s  result\n' program PEs
printf '%s\n' "${rows[@]}"
exit $failed
