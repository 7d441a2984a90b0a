# shellcheck shell=sh disable=SC2154
# The lines of an attempt's log that hold one of many literals, and those that follow each: a header frame as a tail
# has it, then records "NUMBER TEXT", bounded whatever the log holds. Gigabytes stay on the node.

# Records of grep's lines: the first ones and the last ones; of a line with carriage returns (progress bars) the
# last stretches.
mt_bound_records() {
    awk -v first=600 -v last=1400 -v width=900 '
        function keep(record) {
            count++
            if (count <= first) {
                print record
            } else {
                ring[count % last] = record
            }
        }
        {
            if (!match($0, /^[0-9]+[:-]/)) {
                next
            }
            number = substr($0, 1, RLENGTH - 1)
            parts = split(substr($0, RLENGTH + 1), part, "\r")
            for (i = parts > 4 ? parts - 3 : 1; i <= parts; i++) {
                if (part[i] != "") {
                    keep(number " " substr(part[i], 1, width))
                }
            }
        }
        END {
            for (i = count > first + last ? count - last + 1 : first + 1; i <= count; i++) {
                print ring[i % last]
            }
        }'
}

mt_verb_grep() {
    mt_set_paths
    mt_check_place || mt_fail place "$mt_problem"
    if ! mt_find_log || ! [ -r "$mt_file" ]; then
        mt_frame missing 1
        mt_end
    fi
    mt_size=$(wc -c <"$mt_file" | tr -d ' ')
    mt_frame log "$mt_file"
    mt_frame offset 0
    mt_frame size "$mt_size"
    mt_frame body 1
    LC_ALL=C
    export LC_ALL
    head -c "$mt_size" "$mt_file" | grep -naF -A 10 -e "$mt_grep_literals" | mt_bound_records
    # the last record: how many lines the log has
    printf '0 %s\n' "$(head -c "$mt_size" "$mt_file" | wc -l | tr -d ' ')"
    exit 0
}
