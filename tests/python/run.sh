#!/usr/bin/env bash
# The Python package on the CPU machine: its extension is built beside the library, then every script of this folder is
# run as a job. With --full also with PyTorch, from `pip install .` in a fresh environment, and many more cases.
#
#   tests/python/run.sh [--full [scripts | cases | torch | installed]]
#
# A word behind --full: this part alone.
#
# Needs Python's development files and venv; nanobind and NumPy come from the package index. Without a network it says
# so and does nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
full= sizes="2 4"
[ "${1:-}" != --full ] || full=yes sizes="1 2 3 4"
parts=${2:-scripts cases torch installed}
for part in $parts; do
  case $part in scripts | cases | torch | installed) ;; *) echo "run.sh: there is no part $part" >&2; exit 2 ;; esac
done
root=$PWD environment=$PWD/build/python

[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
if ! "$environment/bin/python" -c 'import nanobind, numpy' 2> /dev/null &&
   ! "$environment/bin/python" -m pip install --quiet --disable-pip-version-check 'nanobind>=2.2' numpy; then
  echo "skipped: nanobind and NumPy cannot be installed here"
  exit 0
fi

cmake --preset cpu -DCAUSEWAY_PYTHON=ON -DPython_EXECUTABLE="$environment/bin/python" > /dev/null
cmake --build --preset cpu --target causeway_python_cpu causeway

# job PES SCRIPT [ARGUMENTS]; $options: of causeway run
options=()
job() {
  local pes=$1 script=$2; shift 2
  echo "-- $script $* with $pes PEs ${options[*]}"
  "$causeway" run -n "$pes" --timeout 900 "${options[@]}" "$python" "$script" "$@"
}
# The documents' programs: they run, and a type checker finds nothing in them (where mypy can be had).
documents() {
  local folder=$root/build/python-documents
  "$python" tests/python/documents.py "$folder"
  for program in "$folder"/*.py; do job 2 "$program"; done
  "$python" -c 'import mypy' 2> /dev/null || "$python" -m pip install --quiet --disable-pip-version-check mypy ||
    { echo "skipped: mypy cannot be installed here"; return; }
  for program in "$folder"/*.py; do
    MYPYPATH=python "$python" -m mypy --ignore-missing-imports --cache-dir "$folder/cache" \
      "$program" examples/moe_layer.py
  done
}
scripts() {
  job 1 tests/python/ep_interface_test.py
  "$python" tests/python/start_test.py
  for pes in $sizes; do
    job "$pes" tests/python/core_test.py
    job "$pes" tests/python/ep_errors_test.py
  done
}
export PYTHONPATH=$root/build/cpu/python CAUSEWAY_MACHINE=cpu PYTHONDONTWRITEBYTECODE=1
causeway=build/cpu/bin/causeway python=$environment/bin/python
if [ -z "$full" ]; then
  scripts
  documents
  job 4 tests/python/ep_test.py 15 1
  job 2 tests/python/ep_test.py 3 101
  job 3 tests/python/ep_test.py 3 201
  exit 0
fi

cases() {
  for pes in 1 2 3 4 5 6 7 8; do job "$pes" tests/python/ep_test.py 63 $((pes * 1000)); done  # 504 cases
  options=(--nodes 2)
  job 4 tests/python/ep_errors_test.py
  options=()
}

# With PyTorch, where one for this Python is there or can be had: its tensors, process groups and the example.
version=$("$python" -c 'import sys; print(sys.version_info[:2])')
with_torch() {
  for candidate in "$environment/bin/python" python3 /usr/bin/python3; do
    command -v "$candidate" > /dev/null || continue
    "$candidate" -c "import sys, torch, numpy; sys.exit(str(sys.version_info[:2]) != '$version')" 2> /dev/null ||
      continue
    echo "$candidate"
    return
  done
}
# ranks N SCRIPT [ARGUMENTS]: under torchrun, or where it does not work (PyTorch 1.13 with Python 3.11) with the
# variables it sets
ranks() {
  local count=$1 rank pid failed=0 pids=(); shift
  if "$torch" -m torch.distributed.run --nproc_per_node 1 --no_python true > /dev/null 2>&1; then
    echo "-- $* with $count ranks of torchrun"
    timeout 300 "$torch" -m torch.distributed.run --nproc_per_node "$count" "$@"
    return
  fi
  echo "-- $* with $count ranks by torchrun's variables"
  for ((rank = 0; rank < count; ++rank)); do
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$count LOCAL_WORLD_SIZE=$count MASTER_ADDR=127.0.0.1 \
      MASTER_PORT=$((20000 + $$ % 10000)) timeout 300 "$torch" "$@" &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return $failed
}
torch() {
  local torch python
  torch=$(with_torch)
  if [ -z "$torch" ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-torch python3-numpy \
      > /dev/null 2>&1 || true
    torch=$(with_torch)
  fi
  [ -n "$torch" ] || { echo "skipped: PyTorch for this Python is not there and cannot be installed"; return; }
  python=$torch
  job 2 tests/python/torch_test.py
  job 4 tests/python/ep_test.py 20 1 torch
  job 4 examples/moe_layer.py
  options=(--nodes 2)
  job 4 examples/moe_layer.py
  options=()
  ranks 2 tests/python/torch_test.py
  ranks 2 tests/python/torch_test.py group
  ranks 4 tests/python/ep_group_test.py
}

installed() {
  fresh=$root/build/python-installed
  rm -rf "$fresh"
  python3 -m venv "$fresh"
  "$fresh/bin/python" -m pip install --quiet --disable-pip-version-check numpy . -C cmake.define.CAUSEWAY_CUDA=OFF
  unset PYTHONPATH
  causeway=$fresh/bin/causeway python=$fresh/bin/python
  scripts
  job 4 tests/python/ep_test.py 10 1
  # The package's tool has what it needs.
  "$causeway" info | grep -x '  cpu: available'
  "$causeway" cc --machine cpu examples/shift.cu -o "$fresh/shift"
  "$causeway" run -n 2 "$fresh/shift"
}

for part in $parts; do
  "$part"
  [ "$part" != scripts ] || documents
done
