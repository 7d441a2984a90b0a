# shellcheck shell=sh disable=SC2154,SC2088,SC2012
# Facts: folder="INDEX IDENTITY RANKS", a list: the ranks whose token files were seen there within two seconds; unwritable,
# a list. A folder that is not there yet is judged by the one it will be made in. Each node takes its own file away.
mt_check_shared() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_folder=$(cat "$mt_tmp/found.folder")
    mt_index=0 mt_text=
    while IFS= read -r mt_path; do
        case $mt_path in
        /*) ;;
        '~/'*) mt_path=${mt_home%/}/${mt_path#'~/'} ;;
        *) mt_path=$mt_folder/$mt_path ;;
        esac
        while [ ! -d "$mt_path" ] && [ "$mt_path" != / ]; do
            mt_path=${mt_path%/}
            mt_path=${mt_path%/*}
            mt_path=${mt_path:-/}
        done
        if ! (: >"$mt_path/.mtlaunch-check.$mt_shared_token.$mt_rank") 2>/dev/null; then
            mt_frame unwritable "$mt_path"
        else
            mt_text="$mt_text$mt_index $mt_path
"
        fi
        mt_index=$((mt_index + 1))
    done <<MT_LIST
$mt_shared_folders
MT_LIST
    mt_tries=20
    while [ "$mt_tries" -gt 0 ]; do
        mt_count=0
        mt_path=${mt_text%%
*}
        for mt_file in "${mt_path#* }/.mtlaunch-check.$mt_shared_token."*; do
            [ ! -e "$mt_file" ] || mt_count=$((mt_count + 1))
        done
        [ "$mt_count" -lt "$mt_shared_nodes" ] || break
        mt_pause 0.1
        mt_tries=$((mt_tries - 1))
    done
    mt_pause 0.3
    printf '%s' "$mt_text" | while IFS=' ' read -r mt_index mt_path; do
        mt_value=$(stat -c %i "$mt_path" 2>/dev/null)-$(stat -f -c %i "$mt_path" 2>/dev/null)
        [ "$mt_value" != - ] || mt_value='?'
        for mt_file in "$mt_path/.mtlaunch-check.$mt_shared_token."*; do
            [ ! -e "$mt_file" ] || mt_value="$mt_value ${mt_file##*.}"
        done
        mt_frame folder "$mt_index $mt_value"
        rm -f "$mt_path/.mtlaunch-check.$mt_shared_token.$mt_rank"
    done
}
