# shellcheck shell=sh disable=SC2154,SC2088,SC2012
# Facts: folder="INDEX IDENTITY RANKS", a list: the ranks whose token files were seen there within some seconds;
# unwritable, a list; step="INDEX STEP", a list: the last checkpoint in a folder that has one. For a folder that
# does not exist yet, the folder in which it will be created is used. Each node removes its own file.

# The last checkpoint in a folder -> mt_step: as Megatron-LM and DeepSpeed record it, or from the numbers of folders
mt_find_step() { # FOLDER
    mt_step=
    for mt_file in "$1/latest_checkpointed_iteration.txt" "$1/latest"; do
        [ -f "$mt_file" ] && mt_step=$(head -c 40 "$mt_file" 2>/dev/null | tr -cd 'A-Za-z0-9_.-') && return 0
    done
    for mt_file in "$1"/checkpoint-*; do
        mt_digits "${mt_file##*/checkpoint-}"
        [ -z "$mt_number" ] || [ ! -d "$mt_file" ] || [ "$mt_number" -le "${mt_step:-0}" ] || mt_step=$mt_number
    done
}

mt_check_shared() {
    [ -e "$mt_tmp/found.setup" ] || return 0
    mt_read_text "$mt_tmp/found.folder"
    mt_folder=$mt_text
    mt_index=0 mt_text=
    while IFS= read -r mt_path; do
        case $mt_path in
        /*) ;;
        '~/'*) mt_path=${mt_home%/}/${mt_path#'~/'} ;;
        *) mt_path=$mt_folder/$mt_path ;;
        esac
        mt_find_step "$mt_path"
        [ -z "$mt_step" ] || mt_frame step "$mt_index $mt_step"
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
    mt_tries=60
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
