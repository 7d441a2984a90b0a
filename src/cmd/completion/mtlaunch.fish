# Completion of mtlaunch for fish: mtlaunch itself lists what may be typed at the cursor.
function __mtlaunch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -q current[1]; or set current ''
    set -l program $words[1]
    set -e words[1]
    for line in ($program completion candidates -- $words $current 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path $current
        else if test "$line" = :specs
            __fish_complete_suffix $current .yaml
            __fish_complete_suffix $current .yml
        else
            printf '%s\n' $line
        end
    end
end
complete -c mtlaunch -f -a '(__mtlaunch_complete)'
