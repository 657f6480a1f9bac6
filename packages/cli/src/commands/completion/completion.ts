import { type Command, type Context, command } from '../../command.ts';
import { arg, restArg } from '../../options.ts';
import { type Candidate, type Completion, complete, type Groups } from './candidates.ts';
import { loadNames } from './names.ts';
import { SCRIPTS, SHELLS, type Shell } from './scripts.ts';

const completion = command({
  name: 'completion',
  about: 'Print the script that completes skerry in a shell',
  help: `bash: add to ~/.bashrc   source <(skerry completion bash)
zsh:  add to ~/.zshrc    source <(skerry completion zsh)       (after compinit)
fish: once               skerry completion fish > ~/.config/fish/completions/skerry.fish

It completes names of servers and the like, too: for that it asks the host, and is silent when no answer comes
within a second.`,
  operations: [],
  args: { shell: arg('Of which shell.', { choices: SHELLS }) },
  example: 'skerry completion bash',
  run: async ({ output }, { shell }) => {
    const script = SCRIPTS[shell as Shell];
    output.text(script, { shell, script });
  },
});

/** `rows` is called when something is completed: the table of all commands holds this one, too. */
export function completionCommands(rows: () => readonly Command[], groups: () => Groups): readonly Command[] {
  const completeCommand = command({
    name: '__complete',
    hidden: true,
    about: 'What may stand where the cursor is: for the scripts of completion',
    operations: [],
    args: { words: restArg('What was typed after skerry, up to the cursor.', { optional: true }) },
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
    // In the middle of a line there is no place for a message: nothing is completed.
    return [];
  }
}

/** `--context work` of the line that is being typed. */
function contextFromWords(words: readonly string[]): string | undefined {
  const joined = words.find((word) => word.startsWith('--context='));
  const at = words.indexOf('--context');
  return joined?.slice('--context='.length) ?? (at >= 0 && at < words.length - 2 ? words[at + 1] : undefined);
}

function toSingleLine(about: string): string {
  return about.replace(/\s+/g, ' ').replace(/\.$/, '');
}
