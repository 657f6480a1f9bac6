import { type Command, command } from '../../command.ts';
import { readConfig } from '../../config/config.ts';
import { resolveAccount } from '../../config/contexts.ts';
import { removeContext, renameContext, useContext } from '../../config/edit-contexts.ts';
import { arg } from '../../options.ts';
import { CONTEXT_COLUMNS, toContextRow, toContextRows } from './columns.ts';

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
