#!/usr/bin/env bash
# The Python package on the CPU machine: its extension is built beside the library, then every script of this folder is run as a
# job. With --full also `pip install .` into a fresh environment, and many more cases.
#
#   tests/python/run.sh [--full]
#
# Needs Python's development files and venv; nanobind and NumPy come from the package index. Without a network it says so and
# does nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
cases=15 full= sizes="2 4"
[ "${1:-}" != --full ] || cases=500 full=yes sizes="1 2 3 4"
root=$PWD environment=$PWD/build/python

[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
if ! "$environment/bin/python" -c 'import nanobind, numpy' 2> /dev/null &&
   ! "$environment/bin/python" -m pip install --quiet --disable-pip-version-check 'nanobind>=2.2' numpy; then
  echo "skipped: nanobind and NumPy cannot be installed here"
  exit 0
fi

cmake --preset cpu -DCAUSEWAY_PYTHON=ON -DPython_EXECUTABLE="$environment/bin/python" > /dev/null
cmake --build --preset cpu --target causeway_python_cpu causeway

# job PES SCRIPT [ARGUMENTS]
job() {
  local pes=$1 script=$2; shift 2
  echo "-- $script $* with $pes PEs"
  "$causeway" run -n "$pes" --timeout 900 "$python" "tests/python/$script" "$@"
}
scripts() {
  for pes in $sizes; do
    job "$pes" core_test.py
    job "$pes" ep_errors_test.py
  done
  job 4 ep_test.py "$1" 1
  job 2 ep_test.py $((($1 + 4) / 5)) 2
  job 3 ep_test.py $((($1 + 4) / 5)) 3
}
export PYTHONPATH=$root/build/cpu/python CAUSEWAY_MACHINE=cpu PYTHONDONTWRITEBYTECODE=1
causeway=build/cpu/bin/causeway python=$environment/bin/python
scripts "$cases"
[ -n "$full" ] || exit 0

job 8 ep_test.py 40 4
fresh=$root/build/python-installed
rm -rf "$fresh"
python3 -m venv "$fresh"
"$fresh/bin/python" -m pip install --quiet --disable-pip-version-check numpy . -C cmake.define.CAUSEWAY_CUDA=OFF
unset PYTHONPATH
causeway=$fresh/bin/causeway python=$fresh/bin/python
scripts 10
