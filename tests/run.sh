#!/usr/bin/env bash
# `./causeway test [--full]`: builds everything and runs all tests. --full is the acceptance run: long seeded sweeps, many
# random cases, and all conformance programs under AddressSanitizer.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tests/steps.sh"
jobs=$(nproc)
full=OFF
for argument in "$@"; do
  case $argument in
    --full) full=ON ;;
    -h | --help)
      echo "Usage: ./causeway test [--full]"
      echo
      echo "Builds everything and runs all tests (docs/testing.md). --full is the acceptance run: long seeded sweeps, many"
      echo "random cases, and all conformance programs under AddressSanitizer."
      exit 0
      ;;
    *) echo "causeway test: $argument is not known; accepted: --full" >&2; exit 2 ;;
  esac
done
trap 'exit 130' INT  # also where the program that was interrupted ends in another way

configure_and_build() {
  local preset=$1; shift
  one_at_a_time "$root/build" cmake --preset "$preset" "$@" &&
    one_at_a_time "$root/build" cmake --build --preset "$preset" -j "$jobs"
}

run_tests() {
  local preset=$1; shift
  ctest --test-dir "$root/build/$preset" --output-on-failure -j "$jobs" "$@"
}

mkdir -p "$root/build"
"$root/causeway" --prepare
cd "$root"

# Both machines in one tree where there is nvcc: what they share is then built once.
cuda=OFF
if command -v nvcc > /dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
  export PATH=$PATH:/usr/local/cuda/bin
  cuda=ON
fi
step build configure_and_build cpu -DCAUSEWAY_TESTS=ON -DCAUSEWAY_TEST_FULL=$full -DCAUSEWAY_CUDA=$cuda \
  -DCAUSEWAY_CUDA_ARCHITECTURES=90
step tests run_tests cpu
tail -n 8 "$root/build/test.tests.log" | grep 'tests passed' || true
whole=()
[ $full = OFF ] || whole=(--full)
step python tests/python/run.sh "${whole[@]}"
grep skipped "$root/build/test.python.log" || true
step tidy python3 -B tools/tidy.py
step coverage python3 -B tests/api/coverage.py --include build/cpu/include

if [ $cuda = ON ]; then
  step cuda_preset cmake --preset cuda -DCAUSEWAY_TESTS=OFF
  step ptx python3 -B tests/codegen/check.py --include "$root/build/cpu/include" --nvcc "$(command -v nvcc)"
  sources=() quick=(--quick)
  [ $full = OFF ] || sources=(--sources) quick=()
  step prototypes python3 -B tests/api/prototypes.py --include build/cpu/include --nvcc "$(command -v nvcc)" \
    --fetch build/reference "${sources[@]}"
  grep skipped "$root/build/test.prototypes.log" || true
  step cuda_programs "$root/tests/build_cuda_programs.sh" "$root/build/cpu/bin/causeway" "${quick[@]}"
else
  say "no nvcc here: the CUDA machine is not compiled"
fi

# A sample under the sanitizers; with --full all conformance programs under AddressSanitizer.
step build_asan configure_and_build cpu-asan -DCAUSEWAY_TESTS=ON -DCAUSEWAY_TEST_SAMPLE=ON -DCAUSEWAY_TEST_FULL=$full
step asan run_tests cpu-asan
step build_tsan configure_and_build cpu-tsan -DCAUSEWAY_TESTS=ON -DCAUSEWAY_TEST_SAMPLE=ON -DCAUSEWAY_TEST_FULL=$full
step tsan run_tests cpu-tsan

report
