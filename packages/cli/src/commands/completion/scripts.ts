/**
 * The completion scripts of three shells. Each calls `skerry __complete`, which prints a candidate per line
 * with a tab and a description; the line `:files` asks for file names.
 */

const BASH = `# skerry completion bash
_skerry() {
  local IFS=$' \\t\\n' line=\${COMP_LINE:0:COMP_POINT} words=() word at last cut=''
  # Bash splits words at = and :, but the command does not; join them again.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    ((\${#word} > \${#line})) && word=$line
    if [[ $at -gt 0 && $line == "$word"* && -n $word && $line != [[:space:]]* ]]; then
      last=$((\${#words[@]} - 1))
      ((at == COMP_CWORD)) && cut=\${words[last]}
      [[ $word == [=:] ]] && cut=\${words[last]}$word
      words[last]+=$word
    else
      line=\${line#"\${line%%[![:space:]]*}"}
      ((\${#word} > \${#line})) && word=$line
      words+=("$word")
      cut=''
    fi
    line=\${line#"$word"}
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default 2>/dev/null
    elif [[ -n $word && $word == "\${words[\${#words[@]} - 1]}"* ]]; then
      [[ $word == *= ]] && compopt -o nospace 2>/dev/null
      COMPREPLY+=("\${word#"$cut"}")
    fi
  done < <("\${words[0]/#~/$HOME}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _skerry skerry`;

const ZSH = `#compdef skerry
# skerry completion zsh
_skerry() {
  local line word about files
  local -a candidates joined
  while IFS=$'\\t' read -r word about; do
    if [[ $word == :files ]]; then
      files=1
    elif [[ $word == *= ]]; then
      joined+=("$word")
    elif [[ -n $word ]]; then
      candidates+=("\${word//:/\\\\:}\${about:+:$about}")
    fi
  done < <("\${(Q)words[1]}" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#joined} )) && compadd -S '' -a joined
  (( \${#candidates} )) && _describe -t skerry skerry candidates
  [[ -n $files ]] && _files
}
if [[ \${funcstack[1]} == _skerry ]]; then
  _skerry "$@"
else
  compdef _skerry skerry
fi`;

const FISH = `# skerry completion fish
function __skerry_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete -- $words[2..] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c skerry -f -a '(__skerry_complete)'`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
export type Shell = keyof typeof SCRIPTS;
export const SHELLS = ['bash', 'zsh', 'fish'] as const satisfies readonly Shell[];
