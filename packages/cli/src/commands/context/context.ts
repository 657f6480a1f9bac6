import { type Command, command } from '../../command.ts';
import { readConfig } from '../../config/config.ts';
import { resolveAccount } from '../../config/contexts.ts';
import { removeContext, renameContext, useContext } from '../../config/edit-contexts.ts';
import { arg } from '../../options.ts';
import { CONTEXT_COLUMNS, toContextRow, toContextRows } from './columns.ts';

const CONTEXT = arg('Its name.', { completionKind: 'context' });

const list = command({
  name: 'context list',
  aliases: ['ls'],
  about: 'List the accounts that you signed in to',
  help: 'Tokens are never shown, only their last four characters.',
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
  about: 'Show which account is in use',
  help: 'What --context and the environment say counts, too: see `skerry help environment`.',
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
  about: 'Use another account from now on',
  operations: [],
  args: { name: CONTEXT },
  example: 'skerry context use work',
  run: async ({ env, terminal }, { name }) => {
    useContext(env, name);
    terminal.note(`In use: ${name}.`);
    const by = ['SKERRY_TOKEN', 'SKERRY_CONTEXT'].find((variable) => env[variable]);
    if (by !== undefined) terminal.warn(`skerry: ${by} is set, and comes first`);
  },
});

const rename = command({
  name: 'context rename',
  about: 'Give a context another name',
  operations: [],
  args: { name: CONTEXT, newName: arg('Its new name.') },
  example: 'skerry context rename work client',
  run: async ({ env }, { name, newName }) => {
    renameContext(env, name, newName);
  },
});

const remove = command({
  name: 'context delete',
  aliases: ['rm'],
  about: 'Forget a context and its token',
  help: 'At the host the token stays good: `skerry token delete` takes that away.',
  operations: [],
  args: { name: CONTEXT },
  example: 'skerry context delete client',
  run: async ({ env, terminal }, { name }) => {
    removeContext(env, name);
    terminal.note(`Forgotten here. The token of ${name} is still good: skerry token delete revokes one.`);
  },
});

export const CONTEXT_COMMANDS: readonly Command[] = [list, show, use, rename, remove];
