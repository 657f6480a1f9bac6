/** Changes without a restart: names, tags, labels, renewal, protection, boot order, reverse DNS. */
import type { Server, SetRdns } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { omitUndefined, requireChanges } from '../../lists.ts';
import { arg, booleanOption, listOf, text } from '../../options.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { changeLabels, LABEL_CHANGES, rejectCombination } from '../label-options.ts';
import { DELETE_PROTECTION, protectionField, REBUILD_PROTECTION } from '../protection.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

const BOOT_ORDERS = ['disk', 'iso'] as const;

const update = command({
  name: 'server update',
  about: 'Change the name, tags, labels, renewal, protection, or boot order of a server',
  operations: ['servers.update', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    name: text('name', 'New name'),
    tag: listOf('tag', "Replace all tags; '' removes them"),
    addTag: listOf('tag', 'Add a tag'),
    removeTag: listOf('tag', 'Remove a tag'),
    ...LABEL_CHANGES,
    autoRenew: booleanOption('Charge the next cycle when the current one ends'),
    deleteProtection: DELETE_PROTECTION,
    rebuildProtection: REBUILD_PROTECTION,
    boot: text('what', 'What boots first, from the next restart on', { choices: BOOT_ORDERS }),
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  help:
    'Additions and removals are applied to the tags and labels at that moment; two concurrent updates may\n' +
    'overwrite each other.',
  example: 'skerry server update web-1 --tag web --tag prod --label env=prod',
  run: async (context, { server, name, autoRenew: auto_renew, noWait, timeout, ...words }) => {
    const { skerry } = context;
    requireChanges({ name, auto_renew, ...words });
    rejectCombination(words.tag, words.addTag ?? words.removeTag, 'tag');
    rejectCombination(words.label, words.addLabel ?? words.removeLabel, 'label');
    // Read right before writing, so that additions apply to the latest values.
    const found = await findServer(skerry, server);
    const changes = omitUndefined({
      name,
      auto_renew,
      tags: resolveTags(found, words),
      labels: changeLabels(found, words),
      boot: BOOT_ORDERS.find((each) => each === words.boot),
    });
    const body = { ...changes, ...protectionField(words) };
    const updated = await skerry.servers.update(found.id, body);
    // Only this one begins an action. Another may run on the server.
    const boots = updated.action?.command === 'server.set_boot';
    if (boots) await waitForServer(context, { noWait, timeout }, updated, 'installed');
    else context.output.show(updated, SERVER_COLUMNS);
  },
});

interface TagChanges {
  readonly tag: readonly string[] | undefined;
  readonly addTag: readonly string[] | undefined;
  readonly removeTag: readonly string[] | undefined;
}

function resolveTags({ tags }: Server, { tag, addTag, removeTag }: TagChanges): string[] | undefined {
  if (tag) return [...tag];
  if (!addTag && !removeTag) return undefined;
  return [...new Set([...tags, ...(addTag ?? [])])].filter((one) => !removeTag?.includes(one));
}

const setRdns = command({
  name: 'server set-rdns',
  about: "Set the reverse DNS of a server's addresses",
  operations: ['servers.set_rdns', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    ipv4: text('host', "Host name of the IPv4 address; '' removes it"),
    ipv6: text('host', "Host name of the IPv6 address, or of --address; '' removes it"),
    address: text('address', "Address in the /64 that --ipv6 applies to (default: the server's address)"),
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server set-rdns web-1 --ipv4 web.example.org --ipv6 web.example.org',
  run: async ({ skerry, output }, { server, ipv4, ipv6, address }) => {
    if (ipv4 === undefined && ipv6 === undefined) {
      throw new Failure('usage', 'nothing to change; specify --ipv4 or --ipv6');
    }
    if (address !== undefined && ipv6 === undefined) {
      throw new Failure('usage', '--address requires --ipv6');
    }
    const { id } = await findServer(skerry, server);
    const body: SetRdns = omitUndefined({ ipv4: hostOrNull(ipv4), ipv6: hostOrNull(ipv6), address });
    output.show(await skerry.servers.setRdns(id, body), SERVER_COLUMNS);
  },
});

function hostOrNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text;
}

export const SERVER_UPDATE: readonly Command[] = [update, setRdns];
