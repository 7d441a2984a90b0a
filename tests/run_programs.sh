#!/bin/sh
# Run test programs one after another; show the output of each and fail when one failed. A failed one is run once
# more, and that is said: limits of time may pass on a busy machine.
failed=0
for program in "$@"; do
    "$program" && continue
    echo "once more: $program"
    "$program" || { failed=1; echo "FAILED: $program"; }
done
exit $failed
