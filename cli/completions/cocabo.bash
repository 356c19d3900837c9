# bash completion for cocabo: the program knows its own commands, options and studies.
_cocabo() {
  local word cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == : ]]; then
      compopt -o default
    else
      word=${word%%$'\t'*}
      [[ $word == *= ]] && compopt -o nospace
      COMPREPLY+=("$(printf '%q' "$word")")
    fi
  done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cocabo cocabo
