#!/usr/bin/env bash
# Shows an installed or built Causeway at work: runs its example programs and prints what the operations take.
#
#   demo.sh OUTDIR PREFIX...
#
# PREFIX/bin/causeway is the tool and PREFIX/examples holds the built programs, of the CPU machine (four PEs) or of GPUs
# (two PEs, under MPS if they share one): PREFIX/lib says which. OUTDIR gets the pictures.
set -euo pipefail

if [[ $# -lt 2 ]]; then
  echo "usage: ${0##*/} OUTDIR PREFIX..." >&2
  exit 2
fi
outdir=$1
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds_max=120  # a program that takes longer hangs

for prefix in "$@"; do
  [[ -x $prefix/bin/causeway ]] || { echo "demo: no tool at $prefix/bin/causeway" >&2; exit 2; }
  [[ -d $prefix/examples ]] || { echo "demo: no programs in $prefix/examples" >&2; exit 2; }
done
mkdir -p "$outdir"
log=$(mktemp)
trap 'rm -f "$log" "$log.field"' EXIT

step=0
steps=5

# run WHERE PES PROGRAM [ARGUMENTS]: one progress line. WHERE is the folder above bin/ and examples/.
# What the program printed stays in $log; it is shown if it failed.
run() {
  local where=$1 pes=$2 program=$3 begin end status=0
  shift 3
  step=$((step + 1))
  printf '[%d/%d] %s, %d PEs ... ' "$step" "$steps" "$program" "$pes"
  begin=${EPOCHREALTIME/[.,]/}
  timeout --kill-after=10 "$seconds_max" "$where/bin/causeway" run -n "$pes" "$where/examples/$program" "$@" \
    > "$log" 2>&1 || status=$?
  end=${EPOCHREALTIME/[.,]/}
  if [[ $status -eq 0 ]]; then
    printf 'ok %d.%d s\n' $(((end - begin) / 1000000)) $(((end - begin) / 100000 % 10))
    return
  fi
  printf 'FAILED\n'
  {
    if [[ $status -eq 124 || $status -eq 137 ]]; then echo "demo: $program did not end within $seconds_max s:"
    else echo "demo: $program ended with status $status:"; fi
    sed 's/^/  | /' "$log"
  } >&2
  exit 1
}

# run_all WHERE PES PICTURE: the five programs. The last one's table is left in $log.
run_all() {
  local where=$1 pes=$2 picture=$3
  step=0
  run "$where" "$pes" shift
  run "$where" "$pes" ring_allreduce
  run "$where" "$pes" jacobi --nx 480 --ny 300 --iterations 1500 --check-every 500 --dump "$log.field"
  python3 "$field_to_png" "$log.field" "$picture" --zoom 2
  echo "      picture: $picture"
  run "$where" "$pes" token_shuffle
  run "$where" 2 latency
}

# The script lies beside the programs where they are installed, else in the sources.
field_to_png=$1/examples/field_to_png.py
[[ -f $field_to_png ]] || field_to_png=$here/../examples/field_to_png.py
[[ -f $field_to_png ]] || { echo "demo: no field_to_png.py, neither in $1/examples nor in the sources" >&2; exit 2; }

tables=
for prefix in "$@"; do
  if [[ -e $prefix/lib/libcauseway_cpu.so ]]; then
    where=CPU pes=4 picture=$outdir/jacobi.png what=', whose cores run the GPU threads: no measure of a GPU'
  else
    where=GPU pes=2 picture=$outdir/jacobi_gpu.png what=
  fi
  echo "On the $where:"
  run_all "$prefix" $pes "$picture"
  tables+=$(printf '\nLatencies on the %s:\n%s' "$where$what" "$(cat "$log")")$'\n'
done
printf '%s' "$tables"
