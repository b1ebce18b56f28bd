#!/bin/sh
# fails.sh STATUS PATTERN PATTERN COMMAND...   passes if the command ends with this status and says both.
status=$1 first=$2 second=$3
shift 3
said=$("$@" 2>&1)
ended=$?
echo "$said"
[ "$ended" = "$status" ] || { echo "ended with $ended, not $status"; exit 1; }
echo "$said" | grep -q -- "$first" || { echo "does not say: $first"; exit 1; }
echo "$said" | grep -q -- "$second" || { echo "does not say: $second"; exit 1; }
