# fish completion for cocabo: the program knows its own commands, options and studies.
function __cocabo_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end
complete -c cocabo -f -a '(__cocabo_complete)'
