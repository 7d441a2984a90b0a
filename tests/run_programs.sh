#!/bin/sh
# Run test programs one after another; show the output of each and fail when one failed.
failed=0
for program in "$@"; do
    "$program" || { failed=1; echo "FAILED: $program"; }
done
exit $failed
