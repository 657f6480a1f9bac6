import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findSshKey } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { LISTED_SSH_KEY_COLUMNS, SSH_KEY_COLUMNS } from './columns.ts';
import { commentOf, readPublicKey } from './public-key.ts';

const SSH_KEY = arg('Name or id.', { completionKind: 'ssh-key' });

const list = command({
  name: 'ssh-key list',
  aliases: ['ls'],
  about: 'List SSH keys',
  operations: ['ssh_keys.list'],
  options: {
    name: text('name', 'Only with this name.'),
    type: text('type', 'Only of this type: ssh-ed25519, say.'),
    ...LIST_OPTIONS,
  },
  columns: LISTED_SSH_KEY_COLUMNS,
  example: 'skerry ssh-key list -o columns=name,fingerprint',
  run: async (context, { sort, limit, ...filter }) => {
    const query = omitUndefined({ filter: omitUndefined(filter), sort }) as object;
    await showList(context, context.skerry.sshKeys.list(query), limit, LISTED_SSH_KEY_COLUMNS);
  },
});

const describe = command({
  name: 'ssh-key describe',
  aliases: ['get', 'show'],
  about: 'Show an SSH key, the key itself too',
  operations: ['ssh_keys.get', 'ssh_keys.list'],
  args: { sshKey: SSH_KEY },
  columns: SSH_KEY_COLUMNS,
  example: 'skerry ssh-key describe laptop',
  run: async ({ skerry, output }, { sshKey }) => {
    const found = await findSshKey(skerry, sshKey);
    // Lists leave the key itself out.
    const full = 'public_key' in found ? found : await skerry.sshKeys.get(found.id);
    output.show(full as Awaited<ReturnType<typeof skerry.sshKeys.get>>, SSH_KEY_COLUMNS);
  },
});

const create = command({
  name: 'ssh-key create',
  aliases: ['add'],
  about: 'Add an SSH key',
  help:
    'Without --public-key and --public-key-file it is ~/.ssh/id_ed25519.pub, or else ~/.ssh/id_rsa.pub.\n' +
    'A private key is refused, and never sent.',
  operations: ['ssh_keys.create'],
  options: {
    name: text('name', "How to call it; the key's comment when left out."),
    publicKey: text('key', "The line of a .pub file: 'ssh-ed25519 AAAA… me@laptop'."),
    publicKeyFile: text('file', 'The file with that line; - is stdin.'),
  },
  columns: SSH_KEY_COLUMNS,
  example: 'skerry ssh-key create --name desk --public-key-file ~/.ssh/id_ed25519.pub',
  run: async ({ skerry, output, env }, { name, ...source }) => {
    const publicKey = await readPublicKey(source, env);
    const called = name ?? commentOf(publicKey);
    if (!called) throw new Failure('usage', 'the key has no comment to call it by: give --name');
    output.show(await skerry.sshKeys.create({ name: called, public_key: publicKey }), SSH_KEY_COLUMNS);
  },
});

const remove = command({
  name: 'ssh-key delete',
  aliases: ['rm'],
  about: 'Delete an SSH key; servers that have it keep it',
  operations: ['ssh_keys.delete', 'ssh_keys.get', 'ssh_keys.list'],
  args: { sshKey: SSH_KEY },
  options: { yes: YES_OPTION },
  example: 'skerry ssh-key delete old-laptop --yes',
  run: async ({ skerry, terminal }, { sshKey, yes }) => {
    const { id, name } = await findSshKey(skerry, sshKey);
    await confirm(terminal, yes, `delete SSH key ${name} (${id}); servers that have it keep it`);
    await skerry.sshKeys.delete(id);
    terminal.note(`SSH key ${name} is deleted.`);
  },
});

export const SSH_KEY_COMMANDS: readonly Command[] = [list, describe, create, remove];
