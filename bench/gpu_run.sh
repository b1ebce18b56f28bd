#!/usr/bin/env bash
# One call on a machine with NVIDIA GPUs: builds the cuda preset, builds the examples and the conformance programs as a
# user would, runs them with 1, 2 and 3 PEs (several PEs on one GPU under MPS, which the launcher starts), then the
# Python package's tests with 2 PEs where it can be built, and prints a table last. The status is not 0 if anything has
# failed.
#
#   bench/gpu_run.sh [PROGRAM-DIRECTORY...]     more .cu programs to build and run with 1 and 2 PEs
#   bench/gpu_run.sh moe [JSON]                 the mixture-of-experts buffer: its tests, then what it takes, with 2
#                                               PEs, beside the goals; with two GPUs and PyTorch also from Python,
#                                               beside deep_ep if that is installed. JSON: the file for all figures
#
# Environment: ARCHITECTURES (default 90), JOBS (default: all cores), ONLY (a pattern of program names), PES (default "1
# 2 3"), LIMIT_S (per run; Python has three times as long), COMMIT (for JSON, where the tree has no history).
set -u
shopt -s extglob
cd "$(dirname "$0")/.."
architectures=${ARCHITECTURES:-90} jobs=${JOBS:-$(nproc)} limit_s=${LIMIT_S:-60}
only=${ONLY:-*}  # with | between alternatives
build=build/cuda programs=$build/programs
failed=0
rows=()

say() { printf '== %s\n' "$*"; }

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader ||
  { echo "no GPU here: nothing can be run" >&2; exit 2; }
gpus=$(nvidia-smi -L | wc -l)

# What the Python package and its tests need. Where there is no package index it may have been installed beforehand.
modules=()
for module in nanobind numpy torch; do timeout 60 python3 -c "import $module" 2> /dev/null && modules+=("$module"); done
[ -f "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ] && modules+=(Python.h)
has() { [[ " ${modules[*]:-} " == *" $1 "* ]]; }
python=OFF
if has nanobind && has Python.h && { has torch || has numpy; }; then
  python=ON
else
  say "Python is skipped: needs nanobind, torch or numpy, and Python.h; found ${modules[*]:-none of them}"
fi
say "building ($jobs jobs)"
cmake --preset cuda -DCAUSEWAY_TESTS=OFF "-DCAUSEWAY_CUDA_ARCHITECTURES=$architectures" -DCAUSEWAY_PYTHON=$python \
  "-DPython_EXECUTABLE=$(command -v python3)" > /tmp/configure.log 2>&1 ||
  { tail -n 20 /tmp/configure.log; exit 1; }
cmake --build "$build" -j "$jobs" > /tmp/build.log 2>&1 ||
  { grep -E 'error|FAILED' /tmp/build.log | head -n 40; exit 1; }
causeway=$build/bin/causeway

rm -rf "$programs" && mkdir -p "$programs"  # (nothing of an earlier call can pass for this one's)
sources=(examples/*.cu)
[ -d tests/conformance ] && sources+=(tests/conformance/*.cu tests/sim/entry.cu)
extra=() moe=
if [ "${1:-}" = moe ]; then
  moe=yes json=${2:-}
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
nvcc -std=c++17 -rdc=true -gencode "arch=compute_${architectures}a,code=sm_${architectures}a" \
     examples/shift.cu -Isrc -I"$build/include" \
  -L"$build/lib" -lcauseway -Xlinker "-rpath=$PWD/$build/lib" -o "$programs/shift_rdc" || echo "BUILD FAILED shift_rdc"

# A row is printed when it is there: a table that comes last is lost with a run that is cut off.
row() {
  rows+=("$1")
  printf '%s\n' "$1"
}

# job LABEL PES COMMAND...: one row of the table; what it prints goes to a file
job() {
  local label=$1 pes=$2; shift 2
  local start status milliseconds out=$programs/$label.$pes.out
  start=$(date +%s%N)
  timeout -k 5 "$limit_s" "$@" > "$out" 2>&1
  status=$?
  milliseconds=$((($(date +%s%N) - start) / 1000000))
  if [ $status = 0 ]; then
    row "$(printf '%-22s %3d  ok       %6d ms' "$label" "$pes" "$milliseconds")"
  else
    row "$(printf '%-22s %3d  FAILED   %6d ms  status %d' "$label" "$pes" "$milliseconds" "$status")"; failed=1
    say "$label with $pes PEs: status $status"
    grep -v '^W[0-9]' "$out" | tail -n 25  # (less torchrun's warnings)
  fi
  return $status
}

# run NAME PES [ARGUMENTS]: a compiled program; as `label`, where that is set
run() {
  local name=$1 pes=$2; shift 2
  [[ $name == @($only) ]] || return
  if [ ! -x "$programs/$name" ]; then
    row "$(printf '%-22s %3s  not built' "$name" "$pes")"; failed=1
    head -n 5 "$programs/$name.log" 2> /dev/null
    return 1
  fi
  job "${label:-$name}" "$pes" "$causeway" run -n "$pes" "$programs/$name" "$@"
}

# from_python COMMAND...: with the package of this build
from_python() {
  local -x PYTHONPATH=$PWD/$build/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
  # Loading a kernel at its first launch can wait for the kernels that run, and these for the other PE's.
  local -x CAUSEWAY_MACHINE=cuda CUDA_MODULE_LOADING=EAGER
  local limit_s=$((3 * limit_s))  # (PyTorch is loaded by each PE)
  "$@"
}

# script MODULES FILE [ARGUMENTS]: a Python program with 2 PEs, if there are the modules that it imports
script() {
  local needs=$1 file=$2 module name; shift 2
  name=$(basename "$file" .py)
  [[ $name == @($only) ]] || return
  for module in $needs; do
    has "$module" || { row "$(printf '%-22s %3d  skipped: no %s' "$name" 2 "$module")"; return; }
  done
  from_python job "$name" 2 "$causeway" run -n 2 python3 "$file" "$@"
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
if [ $python = ON ]; then
  script numpy tests/python/core_test.py
  script 'numpy torch' tests/python/torch_test.py
  script 'numpy torch' tests/python/ep_test.py 20 1 torch
  script 'numpy torch' tests/python/ep_errors_gpu_test.py
  script torch examples/moe_layer.py
fi

# The operations of the buffer with several numbers of blocks, and from Python where each rank has a GPU; then their
# goals.
moe_figures() {
  local blocks label library runs=() libraries=(causeway.ep) goals
  local ours=$programs/causeway.ep.json peer=$programs/deep_ep.json
  for blocks in 8 24 64; do
    runs+=("$programs/moe_bench.$blocks.json")
    label=moe_bench-$blocks-blocks
    run moe_bench 2 "${runs[-1]}" 4096 $blocks && cat "$programs/$label.2.out"
  done
  if [ $python = ON ] && [ "$gpus" -ge 2 ] && has torch; then
    if from_python timeout 60 python3 -c 'import deep_ep' 2> /tmp/deep_ep.log; then
      libraries+=(deep_ep)
    else
      echo "no deep_ep here: $(tail -n 1 /tmp/deep_ep.log)"
    fi
    for library in "${libraries[@]}"; do
      from_python job "moe_beside-$library" 2 python3 -m torch.distributed.run --nproc-per-node 2 bench/moe_beside.py \
        "$library" "$programs/$library.json"
    done
    timeout 60 python3 bench/moe_beside.py --table "$ours" "$peer"
  fi
  goals=$(timeout 60 python3 bench/moe_table.py --gpus "$gpus" \
               ${json:+--json "$json"} --beside "$ours" "$peer" "${runs[@]}") ||
    failed=1
  mapfile -t -O ${#rows[@]} rows <<< "$goals"
}

if [ -n "$moe" ]; then
  moe_figures
else
  run shift_rdc 2
  for source in "${extra[@]}"; do
    for pes in 1 2; do run "$(basename "$source" .cu)" "$pes"; done
  done
  say "latency and bandwidth, 2 PEs"
  cat "$programs/latency.2.out" 2> /dev/null
fi
say "results"
printf '%-22s %3s  result\n' program PEs
printf '%s\n' "${rows[@]}"
exit $failed
