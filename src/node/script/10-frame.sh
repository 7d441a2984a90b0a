# shellcheck shell=sh disable=SC2154,SC2034
# Writes answers as frames: a newline, then a line "@@NONCE key=value". All characters of a value except plain ones are
# percent-encoded, so that no value can end a line or look like a frame.
# Every name in these files begins with mt_, so that the script's variables do not clash with exported variables of the
# login, which the job inherits. Nothing here is exported.

mt_encode() { # TEXT -> mt_coded
    mt_coded='' mt_uncoded=$1
    while :; do
        mt_plain=${mt_uncoded%%[!A-Za-z0-9_./:@+,=\ -]*}
        mt_uncoded=${mt_uncoded#"$mt_plain"}
        mt_coded=$mt_coded$mt_plain
        case $mt_uncoded in
        '') return ;;
        '
'*) mt_coded=$mt_coded%0a ;;
        '	'*) mt_coded=$mt_coded%09 ;;
        '!'*) mt_coded=$mt_coded%21 ;;
        '"'*) mt_coded=$mt_coded%22 ;;
        '#'*) mt_coded=$mt_coded%23 ;;
        '$'*) mt_coded=$mt_coded%24 ;;
        '%'*) mt_coded=$mt_coded%25 ;;
        '&'*) mt_coded=$mt_coded%26 ;;
        "'"*) mt_coded=$mt_coded%27 ;;
        '('*) mt_coded=$mt_coded%28 ;;
        ')'*) mt_coded=$mt_coded%29 ;;
        '*'*) mt_coded=$mt_coded%2a ;;
        ';'*) mt_coded=$mt_coded%3b ;;
        '<'*) mt_coded=$mt_coded%3c ;;
        '>'*) mt_coded=$mt_coded%3e ;;
        '?'*) mt_coded=$mt_coded%3f ;;
        '['*) mt_coded=$mt_coded%5b ;;
        \\*) mt_coded=$mt_coded%5c ;;
        ']'*) mt_coded=$mt_coded%5d ;;
        '{'*) mt_coded=$mt_coded%7b ;;
        '|'*) mt_coded=$mt_coded%7c ;;
        '}'*) mt_coded=$mt_coded%7d ;;
        '~'*) mt_coded=$mt_coded%7e ;;
        *)
            mt_coded=$(printf '%s' "$1" | od -An -v -tx1 | tr -s ' \n' '%%')
            mt_coded=${mt_coded%"%"}
            return
            ;;
        esac
        mt_uncoded=${mt_uncoded#?}
    done
}

# mt_prefix is put before each key. mt_frame_lost: a frame could not be written (the output is a file on a full disk).
mt_prefix='' mt_frame_lost=''
mt_frame() { # KEY VALUE
    mt_encode "$2"
    printf '\n@@%s %s=%s\n' "$mt_nonce" "$mt_prefix$1" "$mt_coded" || mt_frame_lost=1
}

mt_end() {
    mt_answered=1
    printf '\n@@%s end=ok\n' "$mt_nonce"
    exit 0
}

mt_fail() { # KIND DETAIL
    mt_prefix=
    mt_frame error "$1"
    mt_frame detail "$2"
    mt_end
}

# Hundredths of a second since boot -> mt_clock
mt_read_clock() {
    IFS=' ' read -r mt_clock mt_rest </proc/uptime
    mt_clock=${mt_clock%.*}${mt_clock#*.}
    while :; do
        case $mt_clock in
        0?*) mt_clock=${mt_clock#0} ;;
        *) break ;;
        esac
    done
}
