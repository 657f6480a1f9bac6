/** What is changed at once: names, tags, labels, renewal, reverse DNS. */
import type { Server, SetRdns } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findServer } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, booleanOption, list, pairs, text } from '../../options.ts';
import { SERVER_COLUMNS } from './columns.ts';

const update = command({
  name: 'server update',
  about: 'Change name, tags, labels or renewal of a server',
  operations: ['servers.update', 'servers.get', 'servers.list'],
  args: { server: arg('Name or id.', { completionKind: 'server' }) },
  options: {
    name: text('name', 'A new name.'),
    tag: list('tag', "Replaces all tags; '' takes them away."),
    addTag: list('tag', 'One more tag.'),
    removeTag: list('tag', 'Takes this tag away.'),
    label: pairs("Replaces all labels by these; '' takes them away."),
    addLabel: pairs('One more label, or another value of one.'),
    removeLabel: list('key', 'Takes the label with this key away.'),
    autoRenew: booleanOption('Whether the next cycle is charged when this one ends.'),
  },
  columns: SERVER_COLUMNS,
  help:
    'What is added or taken away is added to, or taken from, what the server has at that moment: two who do that at\n' +
    'once may overwrite each other.',
  example: 'skerry server update web-1 --tag web --tag prod --label env=prod',
  run: async ({ skerry, output }, { server, name, autoRenew: auto_renew, ...words }) => {
    const asked = [name, auto_renew, ...Object.values(words)];
    if (asked.every((one) => one === undefined)) {
      throw new Failure(
        'usage',
        'say what to change: --name, --tag, --add-tag, --remove-tag, --label, --add-label, --remove-label or --auto-renew',
      );
    }
    rejectCombination(words.tag, words.addTag ?? words.removeTag, 'tag');
    rejectCombination(words.label, words.addLabel ?? words.removeLabel, 'label');
    // Read right before it is written: what is added to is what is there by then.
    const found = await findServer(skerry, server);
    const body = omitUndefined({
      name,
      auto_renew,
      tags: resolveTags(found, words),
      labels: resolveLabels(found, words),
    });
    output.show(await skerry.servers.update(found.id, body), SERVER_COLUMNS);
  },
});

interface TagAndLabelOptions {
  readonly tag: readonly string[] | undefined;
  readonly addTag: readonly string[] | undefined;
  readonly removeTag: readonly string[] | undefined;
  readonly label: Readonly<Record<string, string>> | undefined;
  readonly addLabel: Readonly<Record<string, string>> | undefined;
  readonly removeLabel: readonly string[] | undefined;
}

function rejectCombination(all: unknown, some: unknown, name: string): void {
  if (all === undefined || some === undefined) return;
  throw new Failure(
    'usage',
    `--${name} replaces all of them: --add-${name} and --remove-${name} do not go with it`,
  );
}

function resolveTags({ tags }: Server, { tag, addTag, removeTag }: TagAndLabelOptions): string[] | undefined {
  if (tag) return [...tag];
  if (!addTag && !removeTag) return undefined;
  return [...new Set([...tags, ...(addTag ?? [])])].filter((one) => !removeTag?.includes(one));
}

function resolveLabels({ labels }: Server, words: TagAndLabelOptions): Record<string, string> | undefined {
  const { label, addLabel, removeLabel } = words;
  if (label) return { ...label };
  if (!addLabel && !removeLabel) return undefined;
  const all = Object.entries({ ...labels, ...addLabel });
  return Object.fromEntries(all.filter(([key]) => !removeLabel?.includes(key)));
}

const setRdns = command({
  name: 'server set-rdns',
  about: 'Set the host names of a server’s addresses',
  operations: ['servers.set_rdns', 'servers.get', 'servers.list'],
  args: { server: arg('Name or id.', { completionKind: 'server' }) },
  options: {
    ipv4: text('host', "Of the IPv4 address; '' takes it away."),
    ipv6: text('host', "Of the IPv6 address, or of --address; '' takes it away."),
    address: text('address', 'Which address of the /64 --ipv6 is for; the server’s own when left out.'),
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server set-rdns web-1 --ipv4 web.example.org --ipv6 web.example.org',
  run: async ({ skerry, output }, { server, ipv4, ipv6, address }) => {
    if (ipv4 === undefined && ipv6 === undefined) {
      throw new Failure('usage', 'say which host name to set: --ipv4 or --ipv6');
    }
    if (address !== undefined && ipv6 === undefined) {
      throw new Failure('usage', '--address says which address --ipv6 is for: say --ipv6, too');
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
