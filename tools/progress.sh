# What ./causeway and tests/run.sh print while something long runs, and how builds take turns. To be sourced by bash.

progress_every_s=30  # where standard error is no terminal: seconds between two lines
progress_look_s=0.5  # between two looks at a log

# say TEXT: a headline on standard error; bold on a terminal, unless NO_COLOR is set.
say() {
  if [ -t 2 ] && [ -z "${NO_COLOR:-}" ]; then
    printf '\033[1m== %s\033[0m\n' "$*" >&2
  else
    printf '== %s\n' "$*" >&2
  fi
}

# shown PATH: as short as it can be typed from here.
shown() { printf '%s' "${1#"$PWD"/}"; }

# progress_of LOG: how far ninja ("[12/113] ...") or ctest (" 3/80 Test ...") is in it: "12 of 113 files, ", or nothing.
progress_of() {
  { tail -c 8192 "$1" 2> /dev/null || true; } | sed -nE -e 's|^\[ *([0-9]+)/([0-9]+)\] .*|\1 of \2 files, |p' \
    -e 's|^ *([0-9]+)/([0-9]+) Test .*|\1 of \2 tests, |p' | tail -n 1
}

# watch_log LOG PARENT: shows how far it is until it is killed or PARENT is gone. In place on a terminal, else now and
# then.
watch_log() {
  local log=$1 parent=$2 start=$SECONDS next=$progress_every_s pause
  exec {pause}<> <(:)  # reading from it waits, without a process that would outlive this one
  while read -rt "$progress_look_s" -u "$pause" || kill -0 "$parent" 2> /dev/null; do
    if [ -t 2 ]; then
      printf '\r\033[K   %s%d s' "$(progress_of "$log")" $((SECONDS - start)) >&2
    elif ((SECONDS - start >= next)); then
      next=$((next + progress_every_s))
      printf '   %s%d s\n' "$(progress_of "$log")" $((SECONDS - start)) >&2
    fi
  done
}

# with_progress LOG COMMAND...: runs it with its output in LOG. The status is the command's.
with_progress() {
  local log=$1 watcher status=0; shift
  : > "$log"
  watch_log "$log" $$ &
  watcher=$!
  "$@" > "$log" 2>&1 || status=$?
  kill "$watcher" 2> /dev/null || true
  wait "$watcher" 2> /dev/null || true
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  return $status
}

# one_at_a_time FOLDER COMMAND...: waits until no other build goes on in FOLDER, where there is flock. The status is the
# command's.
one_at_a_time() {
  local folder=$1; shift
  (
    if command -v flock > /dev/null && ! flock -n 9; then
      say "waiting for another build in $(shown "$folder")"
      flock 9
    fi
    "$@" 9>&-
  ) 9> "$folder/.lock"
}

# failures_of LOG: the tests that failed and the first lines that say what is wrong; where there are none, the last
# lines.
failures_of() {
  local names errors
  names=$(sed -nE '/^The following tests FAILED:/,/^Errors while/s/^[[:space:]]+[0-9]+ - (.*)/\1/p' "$1")
  # Of compilers, linkers and CMake; of GoogleTest; of conformance programs; of Python; of tools/tidy.py and tests/api.
  errors=$(grep -E -e '(^|[^[:alnum:]_])([Ff]atal )?([Ee]rror|ERROR)(:| at | in )' -e '^FAILED: ' \
    -e 'undefined reference' -e ': Failure$' -e '^\[  FAILED  \] [^ ]+ \(' -e '^(FAIL|ERROR):? ' \
    -e '^PE [0-9]+: .*, case [0-9]+ of seed' \
    -e '^[[:alpha:]][[:alnum:]_.]*(Error|Exception)(:|$)' -e '^[^ :]+:[0-9]+: .*\]$' -e '^never called: ' "$1" || true)
  [ -n "$errors" ] || errors=$(grep -E -e '^causeway( [a-z]+)?: ' -e 'No space left' -e 'Killed$' "$1" || true)
  printf '%s\n' "$names" "$(head -n 12 <<< "$errors" | cut -c 1-300)" | sed '/^$/d'
  if [ -z "$names$errors" ]; then tail -n 12 "$1"; fi
}
