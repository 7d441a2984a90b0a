# shellcheck shell=sh disable=SC2154,SC2088,SC2034
# Fact: is="INDEX WHAT", a list: "missing", "commit ID", "commit ID with changes (hash ID)", "content …" (of a short
# file), "hash ID" (of a file, or of all files below a folder).

mt_hash() { # standard input -> prints 12 characters of its digest
    { sha256sum 2>/dev/null || cksum; } | {
        read -r mt_word mt_rest
        printf '%.12s' "$mt_word"
    }
}

mt_describe_tree() { # FOLDER
    if [ -e "$1/.git" ] && command -v git >/dev/null && mt_word=$(cd "$1" && git rev-parse --short=12 HEAD 2>/dev/null); then
        mt_count=$(cd "$1" && git status --porcelain 2>/dev/null | wc -l)
        if [ "$((mt_count))" = 0 ]; then
            printf 'commit %s' "$mt_word"
        else
            # changes that are not committed count, too
            printf 'commit %s with changes (hash %s)' "$mt_word" "$(mt_hash_tree "$1")"
        fi
    else
        printf 'hash %s' "$(mt_hash_tree "$1")"
    fi
}

mt_hash_tree() { # FOLDER
    (
        cd "$1" && find . -name .git -prune -o -name __pycache__ -prune -o -type f -exec cksum {} + 2>/dev/null |
            LC_ALL=C sort -k 3 | mt_hash
    )
}

mt_describe_file() { # FILE
    mt_count=$(wc -c <"$1")
    mt_text=
    [ "$((mt_count))" -gt 80 ] || mt_text=$(tr -d '\000' <"$1")
    case $mt_text in
    '' | *[!A-Za-z0-9_./:+,=\ -]*) printf 'hash %s' "$(mt_hash <"$1")" ;;
    *) printf "content '%s'" "$mt_text" ;;
    esac
}

mt_check_same() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.folder"
    mt_folder=$mt_text
    mt_index=0
    while IFS= read -r mt_path; do
        mt_file=$mt_path
        case $mt_file in
        /*) ;;
        '~/'*) mt_file=${mt_home%/}/${mt_file#'~/'} ;;
        *) mt_file=$mt_folder/$mt_file ;;
        esac
        if [ -d "$mt_file" ] && [ -x "$mt_file" ]; then
            mt_frame is "$mt_index $(mt_describe_tree "$mt_file")"
        elif [ -f "$mt_file" ] && [ -r "$mt_file" ]; then
            mt_frame is "$mt_index $(mt_describe_file "$mt_file")"
        else
            mt_frame is "$mt_index missing"
        fi
        mt_index=$((mt_index + 1))
    done <<MT_LIST
$mt_same
MT_LIST
}
