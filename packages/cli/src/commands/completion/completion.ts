import { type Command, type Context, command } from '../../command.ts';
import { arg, restArg } from '../../options.ts';
import { type Candidate, type Completion, complete, type Groups } from './candidates.ts';
import { loadNames } from './names.ts';

/**
 * Each script calls `skerry __complete`, which prints a candidate per line with a tab and a description; the
 * line `:files` asks for file names.
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

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
type Shell = keyof typeof SCRIPTS;
const SHELLS = ['bash', 'zsh', 'fish'] as const satisfies readonly Shell[];

const completion = command({
  name: 'completion',
  about: 'Print a completion script for a shell',
  help: `bash: add to ~/.bashrc   source <(skerry completion bash)
zsh:  add to ~/.zshrc    source <(skerry completion zsh)       (after compinit)
fish: run once           skerry completion fish > ~/.config/fish/completions/skerry.fish

Completion also suggests names of resources. It asks the host for them and gives up after one second.`,
  operations: [],
  args: { shell: arg('Shell', { choices: SHELLS }) },
  example: 'skerry completion bash',
  run: async ({ output }, { shell }) => {
    const script = SCRIPTS[shell as Shell];
    output.text(script, { shell, script });
  },
});

/** `rows` is a function because the table of all commands contains this command too. */
export function completionCommands(rows: () => readonly Command[], groups: () => Groups): readonly Command[] {
  const completeCommand = command({
    name: '__complete',
    hidden: true,
    about: 'Print completions for the word at the cursor; used by the completion scripts',
    operations: [],
    args: { words: restArg('Words after skerry, up to the cursor', { optional: true }) },
    example: "skerry __complete -- server ''",
    run: async ({ env, terminal }, { words }) => {
      const found = complete(rows(), groups(), words);
      const candidates = [...found.candidates, ...(await dynamicCandidates(env, words, found))];
      const lines = candidates.map(({ word, about }) => (about ? `${word}\t${toSingleLine(about)}` : word));
      if (found.dynamic?.kind === 'file') lines.push(':files');
      terminal.write(lines.map((line) => `${line}\n`).join(''));
    },
  });
  return [completion, completeCommand];
}

async function dynamicCandidates(
  env: Context['env'],
  words: readonly string[],
  { dynamic }: Completion,
): Promise<Candidate[]> {
  if (dynamic === null || dynamic.kind === 'file') return [];
  const typed = words.at(-1) ?? '';
  try {
    const names = await loadNames(dynamic.kind, env, contextFromWords(words));
    return names
      .map(({ word, ...about }) => ({ word: `${dynamic.prefix}${word}`, ...about }))
      .filter(({ word }) => word.startsWith(typed));
  } catch {
    // The shell is in the middle of a line and cannot show an error.
    return [];
  }
}

/** Finds `--context work` in the line that is being typed. */
function contextFromWords(words: readonly string[]): string | undefined {
  const joined = words.find((word) => word.startsWith('--context='));
  const at = words.indexOf('--context');
  return joined?.slice('--context='.length) ?? (at >= 0 && at < words.length - 2 ? words[at + 1] : undefined);
}

function toSingleLine(about: string): string {
  return about.replace(/\s+/g, ' ').replace(/\.$/, '');
}
