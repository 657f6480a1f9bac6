import { type Command, command } from '../command.ts';
import { type Account, type Config, readConfig } from '../config/config.ts';
import { removeContext, renameContext, resolveAccount, useContext } from '../config/contexts.ts';
import { arg } from '../options.ts';
import type { Column } from '../output/format.ts';

/** A context as shown: only the end of the token, enough to tell two tokens apart. */
interface ContextRow {
  /** Null: the environment defines the whole account. */
  readonly name: string | null;
  readonly url: string;
  readonly token_hint: string;
  readonly current: boolean;
}

export const CONTEXT_COLUMNS: readonly Column<ContextRow>[] = [
  { name: 'current', value: (context) => (context.current ? '*' : ' ') },
  { name: 'name', value: (context) => context.name ?? '(environment)' },
  { name: 'url', value: (context) => context.url },
  { name: 'token_hint', value: (context) => `…${context.token_hint}` },
];

const HINT_LENGTH = 4;

export function toContextRow(name: string | null, { url, token }: Account, current: boolean): ContextRow {
  return { name, url, token_hint: token.slice(-HINT_LENGTH), current };
}

function toContextRows({ current, contexts }: Config): ContextRow[] {
  return Object.entries(contexts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, account]) => toContextRow(name, account, name === current));
}

const CONTEXT = arg('Name of the context', { completionKind: 'context' });

const list = command({
  name: 'context list',
  aliases: ['ls'],
  about: 'List contexts',
  help: 'Shows only the last four characters of each token.',
  operations: [],
  columns: CONTEXT_COLUMNS,
  example: 'skerry context list',
  run: async ({ env, output, terminal }) => {
    output.list(toContextRows(readConfig(env, terminal.warn)), CONTEXT_COLUMNS);
  },
});

const show = command({
  name: 'context show',
  aliases: ['current', 'describe'],
  about: 'Show the current context',
  help: 'Takes --context and environment variables into account; see `skerry help environment`.',
  operations: [],
  columns: CONTEXT_COLUMNS,
  example: 'skerry context show',
  run: async ({ env, output, terminal, contextName }) => {
    const { name, ...account } = resolveAccount(env, contextName, terminal.warn);
    output.show(toContextRow(name, account, true), CONTEXT_COLUMNS);
  },
});

const use = command({
  name: 'context use',
  about: 'Set the current context',
  operations: [],
  args: { name: CONTEXT },
  example: 'skerry context use work',
  run: async ({ env, terminal }, { name }) => {
    useContext(env, name);
    terminal.note(`Current context: ${name}.`);
    const by = ['SKERRY_TOKEN', 'SKERRY_CONTEXT'].find((variable) => env[variable]);
    if (by !== undefined) terminal.warn(`skerry: ${by} is set and takes precedence`);
  },
});

const rename = command({
  name: 'context rename',
  about: 'Rename a context',
  operations: [],
  args: { name: CONTEXT, newName: arg('New name') },
  example: 'skerry context rename work client',
  run: async ({ env }, { name, newName }) => {
    renameContext(env, name, newName);
  },
});

const remove = command({
  name: 'context delete',
  aliases: ['rm'],
  about: 'Delete a context and its token from this computer',
  help: 'The token stays valid on the host until you run `skerry token delete`.',
  operations: [],
  args: { name: CONTEXT },
  example: 'skerry context delete client',
  run: async ({ env, terminal }, { name }) => {
    removeContext(env, name);
    terminal.note(
      `Context ${name} deleted. Its token is still valid; to revoke it, run: skerry token delete`,
    );
  },
});

export const CONTEXT_COMMANDS: readonly Command[] = [list, show, use, rename, remove];
