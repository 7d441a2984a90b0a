# shellcheck shell=sh disable=SC2154
# Finds the lines of an attempt's log that contain one of many literals, and the lines that follow each: prints a header
# as a tail does, then records "NUMBER TEXT", bounded whatever the log contains. Gigabytes stay on the node.

# Make records from grep's lines: the first ones and the last ones; of a line with carriage returns (progress bars), the
# last segments.
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

# Print the error files in which workers recorded the exception that ended them (torch's @record). They are found by the
# name of the rendezvous below the temporary folder, or by the paths that torchrun's last lines name. Records "e
# LOCAL-RANK TIME PATH JSON"; the time is in the time zone of this node, as torchrun shows it.
mt_print_error_files() {
    {
        printf '%s\n' "${TMPDIR:-/tmp}"/torchelastic_*/"$mt_run_id.$mt_attempt"_*/attempt_*/*/error.json
        tail -c 300000 "$mt_file" | grep -aF 'error_file: /' | sed 's/^.*error_file: //'
    } | grep -x '/[A-Za-z0-9._/+-]*/[0-9]\{1,6\}/error[.]json' | sort -u | tail -n 32 | while read -r mt_path; do
        if [ -h "$mt_path" ] || ! [ -f "$mt_path" ] || ! [ -r "$mt_path" ]; then
            continue
        fi
        mt_text=$(head -c 16000 "$mt_path" | tr '\n\r\0' '   ')
        mt_time=$(printf '%s\n' "$mt_text" | sed -n 's/^.*"timestamp": *"\{0,1\}\([0-9]\{1,11\}\)[",}].*$/\1/p')
        [ -z "$mt_time" ] || mt_time=$(date -d "@$mt_time" +%Y-%m-%d_%H:%M:%S 2>/dev/null)
        mt_local=${mt_path%/error.json}
        printf 'e %s %s %s %s\n' "${mt_local##*/}" "${mt_time:--}" "$mt_path" "$mt_text"
    done
}

# Lines near the start that name a step: where the training begins here. Records "s NUMBER TEXT".
mt_print_starts() {
    head -n 5000 "$mt_file" | head -c 4000000 | grep -naiE -e '(step|iteration|iter|epoch)[ :=#]+[0-9]' |
        head -n 8 | cut -b 1-420 | sed -n 's/^\([0-9]*\):/s \1 /p'
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
    mt_print_starts
    head -c "$mt_size" "$mt_file" | grep -naF -A 10 -e "$mt_grep_literals" | mt_bound_records
    mt_print_error_files
    (mt_print_dumps)
    # the last record: how many lines the log has
    printf '0 %s\n' "$(head -c "$mt_size" "$mt_file" | wc -l | tr -d ' ')"
    exit 0
}
