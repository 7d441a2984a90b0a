# shellcheck shell=sh disable=SC2154,SC2034
# Prepares the environment that a job starts from, and finds the shell for its setup lines.

mt_prepare_env() {
    mt_find_tool setsid
    mt_setsid=$mt_path
    [ "$mt_env_mode" = keep ] || return 0
    mt_text=$(exec 2>&1 && awk 'BEGIN {
        for (n in ENVIRON)
            if (n ~ /^(PET|GROUP|TORCHELASTIC|MTLAUNCH)_[A-Za-z0-9_]*$/ || n ~ /^(RANK|LOCAL_RANK|WORLD_SIZE)$/)
                print "unset:" n
        print "."
    }')
    mt_code=$?
    case $mt_text in
    *.) ;;
    *)
        mt_set_unproven awk "$mt_code" "$mt_text"
        mt_fail_scan
        ;;
    esac
    for mt_key in ${mt_text%.}; do
        case $mt_key in
        unset:*) unset "${mt_key#unset:}" ;; # other words are the loader's
        esac
    done
}

# -> mt_user. Most users are among the first lines of /etc/passwd, which are read without a fork.
mt_name_user() {
    mt_user='' mt_number=0
    while [ "$mt_number" -lt 50 ] && IFS=: read -r mt_key mt_rest mt_value mt_line; do
        mt_number=$((mt_number + 1))
        [ "$mt_value" != "$mt_uid" ] || mt_user=$mt_key mt_number=50
    done 2>/dev/null </etc/passwd
    [ -n "$mt_user" ] || mt_user=$(id -un 2>/dev/null) || mt_user=$mt_uid
}

# Run a command; in clean mode, with only the environment of a login.
mt_with_env() {
    if [ "$mt_env_mode" != clean ]; then
        "$@"
        return
    fi
    mt_value=/usr/local/bin:/usr/bin:/bin
    [ "$mt_uid" != 0 ] || mt_value=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    env -i HOME="$mt_home" USER="$mt_user" LOGNAME="$mt_user" SHELL="${SHELL:-/bin/sh}" PATH="$mt_value" \
        ${MTLAUNCH_KEEPS:+"MTLAUNCH_KEEPS=$MTLAUNCH_KEEPS"} "$@"
}

mt_pick_shell() { # -> mt_shell_path, empty when there is none of that name
    case $mt_shell in
    auto | '') mt_find_tool bash || mt_path=/bin/sh ;;
    */*) mt_path=$(command -v "$mt_shell") || mt_path= ;;
    *) mt_find_tool "$mt_shell" ;;
    esac
    mt_shell_path=$mt_path
}
