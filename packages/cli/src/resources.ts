/** The commands `describe` and `delete`, which resources of all kinds share. */
import type { OperationId, Skerry } from '@skerry/sdk';
import { type Command, command } from './command.ts';
import { arg } from './options.ts';
import type { Column } from './output/format.ts';
import { confirm, YES_OPTION } from './terminal/terminal.ts';

/** A kind of resource, and the argument that names one. */
export interface Resource<T> {
  /** The command group, and the kind of the names that complete the argument: `ssh-key`. */
  readonly word: string;
  /** The argument, if it is not the group's name. */
  readonly argument?: string;
  /** Help of the argument. */
  readonly about: string;
  readonly find: (skerry: Skerry, text: string) => Promise<T>;
  /** The operations that `find` calls. */
  readonly calls: readonly OperationId[];
}

type Row = Pick<Command, 'about' | 'help' | 'example'>;

export function describeCommand<T>(
  { word, argument = word, about, find, calls }: Resource<T>,
  row: Row & { readonly columns: readonly Column<T>[] },
): Command {
  return command({
    ...row,
    name: `${word} describe`,
    aliases: ['get', 'show'],
    operations: calls,
    args: { [argument]: arg(about, { completionKind: word }) },
    run: async ({ skerry, output }, { [argument]: text = '' }) => {
      output.show(await find(skerry, text), row.columns);
    },
  });
}

interface DeleteRow<T> extends Row {
  /** In messages: `SSH key`. */
  readonly noun: string;
  readonly operation: OperationId;
  readonly delete: (skerry: Skerry, id: string) => Promise<unknown>;
  /** Ends the question: what is lost with it, and what stays. */
  readonly consequence?: (found: T) => string;
}

/** A command that asks before it deletes a resource. */
export function deleteCommand<T extends { readonly id: string; readonly name?: string | null }>(
  { word, argument = word, about, find, calls }: Resource<T>,
  { noun, operation, delete: remove, consequence = () => '', ...row }: DeleteRow<T>,
): Command {
  return command({
    ...row,
    name: `${word} delete`,
    aliases: ['rm'],
    operations: [operation, ...calls],
    args: { [argument]: arg(about, { completionKind: word }) },
    options: { yes: YES_OPTION },
    run: async ({ skerry, terminal }, { [argument]: text = '', yes }) => {
      const found = await find(skerry, text);
      const { id, name } = found;
      const which = name ? `${name} (${id})` : id;
      await confirm(terminal, yes, `delete ${noun} ${which}${consequence(found)}`);
      await remove(skerry, id);
      terminal.note(`${noun.slice(0, 1).toUpperCase()}${noun.slice(1)} ${name ?? id} deleted.`);
    },
  });
}
