import { type Command, type Context, command } from '../../command.ts';
import { arg, restArg } from '../../options.ts';
import { type Candidate, type Completion, complete, type Groups } from './candidates.ts';
import { loadNames } from './names.ts';
import { SCRIPTS, SHELLS, type Shell } from './scripts.ts';

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
