import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findSshKey } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { LISTED_SSH_KEY_COLUMNS, SSH_KEY_COLUMNS } from './columns.ts';
import { commentOf, readPublicKey } from './public-key.ts';

const SSH_KEY = arg('Name or ID', { completionKind: 'ssh-key' });

const list = command({
  name: 'ssh-key list',
  aliases: ['ls'],
  about: 'List SSH keys',
  operations: ['ssh_keys.list'],
  options: {
    name: text('name', 'Filter by name'),
    type: text('type', 'Filter by type, such as ssh-ed25519'),
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
  about: 'Show an SSH key, including the public key',
  operations: ['ssh_keys.get', 'ssh_keys.list'],
  args: { sshKey: SSH_KEY },
  columns: SSH_KEY_COLUMNS,
  example: 'skerry ssh-key describe laptop',
  run: async ({ skerry, output }, { sshKey }) => {
    const found = await findSshKey(skerry, sshKey);
    // Lists omit the public key.
    const full = 'public_key' in found ? found : await skerry.sshKeys.get(found.id);
    output.show(full as Awaited<ReturnType<typeof skerry.sshKeys.get>>, SSH_KEY_COLUMNS);
  },
});

const create = command({
  name: 'ssh-key create',
  aliases: ['add'],
  about: 'Add an SSH key',
  help:
    'The default is ~/.ssh/id_ed25519.pub, or else ~/.ssh/id_rsa.pub. Private keys are rejected\n' +
    'and never sent.',
  operations: ['ssh_keys.create'],
  options: {
    name: text('name', "Name of the key (default: the key's comment)"),
    publicKey: text('key', "Public key as in a .pub file: 'ssh-ed25519 AAAA… me@laptop'"),
    publicKeyFile: text('file', 'File with the public key; - is stdin'),
  },
  columns: SSH_KEY_COLUMNS,
  example: 'skerry ssh-key create --name desk --public-key-file ~/.ssh/id_ed25519.pub',
  run: async ({ skerry, output, env }, { name, ...source }) => {
    const publicKey = await readPublicKey(source, env);
    const called = name ?? commentOf(publicKey);
    if (!called) throw new Failure('usage', 'the key has no comment to use as its name; pass --name');
    output.show(await skerry.sshKeys.create({ name: called, public_key: publicKey }), SSH_KEY_COLUMNS);
  },
});

const remove = command({
  name: 'ssh-key delete',
  aliases: ['rm'],
  about: 'Delete an SSH key; servers that have the key keep it',
  operations: ['ssh_keys.delete', 'ssh_keys.get', 'ssh_keys.list'],
  args: { sshKey: SSH_KEY },
  options: { yes: YES_OPTION },
  example: 'skerry ssh-key delete old-laptop --yes',
  run: async ({ skerry, terminal }, { sshKey, yes }) => {
    const { id, name } = await findSshKey(skerry, sshKey);
    await confirm(terminal, yes, `delete SSH key ${name} (${id}); servers that have the key keep it`);
    await skerry.sshKeys.delete(id);
    terminal.note(`SSH key ${name} deleted.`);
  },
});

export const SSH_KEY_COMMANDS: readonly Command[] = [list, describe, create, remove];
