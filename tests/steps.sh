# The steps of tests/run.sh: each is announced, timed, and explained if it fails. To be sourced by bash, with `root` set.
. "$root/tools/progress.sh"

passed=0 failed=() what_failed=

# step NAME COMMAND...: runs it, says what went wrong if it fails
step() {
  local name=$1; shift
  local log=$root/build/test.$name.log start=$SECONDS
  say "$name ... (log: $(shown "$log"))"
  if with_progress "$log" "$@"; then
    passed=$((passed + 1))
    printf '   %s: ok (%d s)\n' "$name" $((SECONDS - start))
    return
  fi
  failed+=("$name")
  printf '   %s: FAILED (%d s); the end of its log:\n' "$name" $((SECONDS - start))
  tail -n 60 "$log" | sed 's/^/   | /'
  printf '   %s: FAILED; from its log:\n' "$name"
  failures_of "$log" | sed 's/^/   > /'
  what_failed+=$(printf '\n== FAILED: %s (log: %s)\n%s' "$name" "$(shown "$log")" "$(failures_of "$log" | sed 's/^/   > /')")
}

# report: what failed, once more, and how many steps passed; fails if one did.
report() {
  [ ${#failed[@]} = 0 ] || printf '%s\n' "${what_failed#$'\n'}" "failed: ${failed[*]}"
  echo "$passed passed, ${#failed[@]} failed"
  [ ${#failed[@]} = 0 ]
}
