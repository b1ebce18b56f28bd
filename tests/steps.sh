# The steps of tests/run.sh: each is announced, timed, and explained if it fails. To be sourced by bash, with `root`
# set.
. "$root/tools/progress.sh"

passed=0 failed=() what_failed= ran=

# Which steps are run, and what is kept of them: parts.sh has others.
wanted() { :; }                                # wanted NAME
begins() { :; }                                # begins NAME COMMAND...
ends() { :; }                                  # ends NAME ok|failed SECONDS COMMAND...

# step NAME COMMAND...: runs it, says what went wrong if it fails
step() {
  local name=$1; shift
  local log=$root/build/test.$name.log start=$SECONDS
  ran=
  wanted "$name" || return 0
  ran=$name
  begins "$name" "$@"
  say "$name ... (log: $(shown "$log"))"
  if with_progress "$log" "$@" 3<&- 8>&-; then  # (what parts.sh and run.sh have open is theirs)
    passed=$((passed + 1))
    printf '   %s: ok (%d s)\n' "$name" $((SECONDS - start))
    ends "$name" ok $((SECONDS - start)) "$@"
    return
  fi
  ends "$name" failed $((SECONDS - start)) "$@"
  failed+=("$name")
  printf '   %s: FAILED (%d s); the end of its log:\n' "$name" $((SECONDS - start))
  tail -n 60 "$log" | sed 's/^/   | /'
  printf '   %s: FAILED; from its log:\n' "$name"
  failures_of "$log" | sed 's/^/   > /'
  what_failed+=$(printf '\n== FAILED: %s (log: %s)\n%s' "$name" "$(shown "$log")" \
    "$(failures_of "$log" | sed 's/^/   > /')")
}

# note PATTERN: the lines of the last step's log, if it was run, that should be seen even where all is well
note() { [ -z "$ran" ] || grep -e "$1" "$root/build/test.$ran.log" || true; }

# report: what failed, once more, and how many steps passed; fails if one did.
report() {
  [ ${#failed[@]} = 0 ] || printf '%s\n' "${what_failed#$'\n'}" "failed: ${failed[*]}"
  echo "$passed passed, ${#failed[@]} failed"
  [ ${#failed[@]} = 0 ]
}
