# The parts of the acceptance run: their results stay in build/test-full/COMMIT, so that a run that was cut off is
# continued. To be sourced by bash after steps.sh, with `root` set. A part is a step; it is run in a pass through all
# steps.

parts=()      # all, in order
selected=()   # those that were named; none: all that have not passed
collecting=   # a pass that only notes the names
results=      # where the results are; of a tree that differs from its commit nothing is continued

# test_parts: the tests of preset cpu in parts, as NAME and what ctest takes to choose them. Each test is in exactly
# one.
test_parts() {
  local i slices=9  # programs have tests of ten sizes, and those of one size are to be spread
  echo "unit -L ^unit$"
  for ((i = 1; i <= slices; ++i)); do echo "conformance.$i -L ^conformance$ -I $i,,$slices"; done
  echo "sim -L ^sim$ -E ^mutant[.]"
  echo "mutants -R ^mutant[.]"
}

# git_here WORD...: of this tree, whatever repository a hook that runs this is about
git_here() { (unset "${!GIT_@}"; git -C "$root" "$@" 2> /dev/null); }

# tree: the commit; with -changed behind it where the tree is another; `unknown` without git.
# What somebody keeps in the top folder, and in folders of his own there, is no part of the tree.
tree() {
  local commit
  [ "$(git_here rev-parse --show-toplevel)" -ef "$root" ] && commit=$(git_here rev-parse HEAD) ||
    { echo unknown; return; }
  if git_here status --porcelain --untracked-files=normal | grep -qvE '^\?\? [^/]*/?$'; then commit+=-changed; fi
  echo "$commit"
}

# start_parts: before the first is run; nothing else may run them meanwhile.
start_parts() {
  case $tree in
    unknown | *-changed)
      say "the tree is no clean commit: all parts are run, and nothing is kept for another run"
      rm -rf "$results"
      ;;
  esac
  mkdir -p "$results"
  exec 8> "$root/build/test-full/.lock"
  if command -v flock > /dev/null && ! flock -w 3 8; then
    echo "causeway test: another acceptance run goes on in this tree" >&2
    exit 2
  fi
}

# state_of PART: ok, failed, interrupted, or "to do"; seconds_of PART
state_of() {
  case $(sed -n 's/^result: //p;T;q' "$results/$1" 2> /dev/null) in
    ok) echo ok ;;
    failed) echo failed ;;
    begun) echo interrupted ;;
    *) echo "to do" ;;
  esac
}
seconds_of() { sed -n 's/^seconds: //p;T;q' "$results/$1" 2> /dev/null || true; }

machine() { echo "$(uname -srm), $(nproc) processors,$(sed -n 's/^model name[^:]*://p;T;q' /proc/cpuinfo)"; }
versions() {
  local program
  for program in g++ cmake python3 nvcc; do
    if command -v $program > /dev/null; then echo "  $($program --version | grep -m 1 -E '[0-9]+\.[0-9]+')"; fi
  done
}

# keep PART RESULT SECONDS COMMAND...: what is known of it, whole or not at all
keep() {
  local name=$1 result=$2 seconds=$3 log=$root/build/test.$1.log; shift 3
  {
    printf '%s\n' "part: $name" "result: $result" "seconds: $seconds" "commit: $tree" \
      "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)" \
      "machine: $(machine)" "versions:" "$(versions)" "command: $*"
    [ "$result" = begun ] || { echo "the end of its log:"; tail -n 40 "$log" | sed 's/^/  /'; }
  } > "$results/.$name"
  mv "$results/.$name" "$results/$name"
}

# ---- what step of steps.sh asks

wanted() {
  if [ -n "$collecting" ]; then parts+=("$1"); return 1; fi
  if [ ${#selected[@]} -gt 0 ]; then [[ " ${selected[*]} " = *" $1 "* ]]; return; fi
  [ "$(state_of "$1")" != ok ] || { printf '   %s: ok before (%s s)\n' "$1" "$(seconds_of "$1")"; return 1; }
}

begins() { keep "$1" begun 0 "${@:2}"; }

ends() {
  if [ "$(tree)" != "$tree" ]; then
    rm -f "$results/$1"
    echo "causeway test: the tree has changed while $1 ran: its result does not count; begin again" >&2
    exit 1
  fi
  keep "$@"
}

# list_parts: each with its state and seconds
list_parts() {
  local name
  for name in "${parts[@]}"; do printf '%-20s %-12s %s\n' "$name" "$(state_of "$name")" "$(seconds_of "$name")"; done
}

# report_parts: what failed, once more, and the summary, which is kept, too; fails if one that was to be run has not
# passed.
report_parts() {
  local list name states=
  [ -z "$what_failed" ] || printf '%s\n' "${what_failed#$'\n'}"
  list=$(list_parts)
  for name in "${parts[@]}"; do states+="$(state_of "$name")"$'\n'; done
  printf '%s\n' "commit: $tree" "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)" "machine: $(machine)" "$list" \
    "$(grep -cx ok <<< "$states") passed, $(grep -cx failed <<< "$states") failed, $(
      grep -cxE 'to do|interrupted' <<< "$states") to do" |
    tee "$results/summary"
  echo "kept in $(shown "$results")"
  for name in "${selected[@]:-${parts[@]}}"; do [ "$(state_of "$name")" = ok ] || return 1; done
}

# run_parts LISTING [NAME...]: runs those named, or all that have not passed on this tree; only lists them if LISTING is
# not empty. all_steps has them as steps; `prepare` is called before the first.
run_parts() {
  local listing=$1 name; shift
  collecting=yes
  all_steps
  collecting=
  for name in "$@"; do
    [[ " ${parts[*]} " = *" $name "* ]] ||
      { echo "causeway test: there is no part $name; --parts lists them" >&2; exit 2; }
  done
  selected=("$@")
  tree=$(tree)
  results=$root/build/test-full/$tree
  if [ -n "$listing" ]; then list_parts; return; fi
  prepare
  start_parts
  all_steps
  report_parts
}
