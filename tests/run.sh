#!/usr/bin/env bash
# `./causeway test [--full]`: builds everything and runs all tests. --full is the acceptance run: long seeded sweeps,
# many random cases, and all conformance programs under AddressSanitizer; it consists of parts (parts.sh).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/steps.sh"
jobs=$(nproc)
full=OFF listing= named=()
usage() {
  cat << 'END'
Usage: ./causeway test [--full] [--parts | --part NAME...]

Builds everything and runs all tests (docs/testing.md). --full is the acceptance run: long seeded sweeps, many
random cases, and all conformance programs under AddressSanitizer.

  --full        takes hours, in parts; what has passed on this commit, with a clean tree, is not run again
  --parts       list the parts of the acceptance run and their state
  --part NAME   run this part of it, also if it has passed; may be repeated
END
}
while [ $# -gt 0 ]; do
  case $1 in
    --full) full=ON ;;
    --parts) full=ON listing=yes ;;
    --part)
      [ $# -gt 1 ] || { echo "causeway test: --part needs a name; --parts lists them" >&2; exit 2; }
      full=ON named+=("$2")
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "causeway test: $1 is not known; accepted: --full, --parts, --part NAME" >&2; exit 2 ;;
  esac
  shift
done
trap 'exit 130' INT  # also where the program that was interrupted ends in another way

# Both machines in one tree where there is nvcc: what they share is then built once.
cuda=OFF
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  export PATH=$PATH:/usr/local/cuda/bin
  cuda=ON
fi

# build PRESET [OPTION...]: configures it for this run, and builds
build() {
  local preset=$1 settings=(-DCAUSEWAY_TESTS=ON -DCAUSEWAY_TEST_FULL=$full); shift
  case $preset in
    cpu) settings+=(-DCAUSEWAY_CUDA=$cuda -DCAUSEWAY_CUDA_ARCHITECTURES=90) ;;
    *) settings+=(-DCAUSEWAY_TEST_SAMPLE=ON) ;;
  esac
  one_at_a_time "$root/build" cmake --preset "$preset" "${settings[@]}" &&
    one_at_a_time "$root/build" cmake --build --preset "$preset" -j "$jobs" "$@"
}

# A part may be run alone, and after a quick run: it brings up to date what it needs.
# built TARGETS COMMAND...: these of preset cpu, then the command
built() {
  local targets=$1; shift
  [ $full = OFF ] || build cpu --target $targets || return
  "$@"
}

run_tests() {
  local preset=$1; shift
  [ $full = OFF ] || build "$preset" || return
  ctest --test-dir "$root/build/$preset" --output-on-failure -j "$jobs" "$@"
}

quick_steps() {
  step build build cpu
  step tests run_tests cpu
  note '% tests passed'
  step python tests/python/run.sh
  note skipped
}

full_steps() {
  local name words i
  step build build cpu --target causeway causeway_cpu
  step build_tests build cpu
  while read -ru 3 name words; do
    step "$name" run_tests cpu $words
    note '% tests passed'
  done 3< <(test_parts)
  for name in scripts cases torch installed; do
    step "python.$name" tests/python/run.sh --full "$name"
    note skipped
  done
}

all_steps() {
  if [ $full = OFF ]; then quick_steps; else full_steps; fi
  step tidy python3 -B tools/tidy.py
  step coverage built causeway_generated python3 -B tests/api/coverage.py --include build/cpu/include
  if [ $cuda = ON ]; then cuda_steps; fi
  # A sample under the sanitizers; with --full all conformance programs under AddressSanitizer.
  step build_asan build cpu-asan
  step asan run_tests cpu-asan
  step build_tsan build cpu-tsan
  step tsan run_tests cpu-tsan
}

cuda_steps() {
  local i compile=(tests/build_cuda_programs.sh build/cpu/bin/causeway)
  local nvcc; nvcc=$(command -v nvcc)
  local prototypes=(tests/api/prototypes.py --include build/cpu/include --nvcc "$nvcc" --fetch build/reference)
  step cuda_preset cmake --preset cuda -DCAUSEWAY_TESTS=OFF
  step ptx built causeway_generated python3 -B tests/codegen/check.py \
    --include "$root/build/cpu/include" --nvcc "$nvcc"
  if [ $full = OFF ]; then
    step prototypes python3 -B "${prototypes[@]}"
    note skipped
    step cuda_programs "${compile[@]}" --quick
  else
    step prototypes built causeway_generated python3 -B "${prototypes[@]}" --sources
    note skipped
    for i in 1 2 3 4; do step "cuda_programs.$i" built "causeway causeway_cuda" "${compile[@]}" "$i/4"; done
  fi
}

prepare() {
  mkdir -p "$root/build"
  "$root/causeway" --prepare
  [ $cuda = ON ] || say "no nvcc here: the CUDA machine is not compiled"
}

cd "$root"
if [ $full = ON ]; then
  . "$root/tests/parts.sh"
  run_parts "$listing" "${named[@]}"
else
  prepare
  all_steps
  report
fi
