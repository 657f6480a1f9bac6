/** A Pulumi program in YAML that imports the resources of the account. */
import type { Alert, FirewallGroup, Server, Volume } from '@skerry/sdk';
import { type ExportedAccount, protectionOf, rdnsOf, unlessEmpty } from './account.ts';
import { toYaml } from './yaml.ts';

const HEADER = `# The account as a Pulumi program. The first update imports the resources; check its preview.
# Afterward, remove the import options. The program contains no secrets and no user data.
`;

const NAME_MAX = 40;

/** The name of a resource in the program, by its ID. */
type Names = ReadonlyMap<string, string>;

/** A reference to another resource, which is no text to escape. */
class Reference {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export function toProgram({ keys, groups, servers, volumes, alerts }: ExportedAccount): string {
  const kinds = { ssh_key: keys, firewall_group: groups, server: servers, volume: volumes, alert: alerts };
  const names = nameAll(kinds);
  const entry = (kind: string, { id }: { readonly id: string }, properties: object) =>
    [
      names.get(id) ?? id,
      { type: `skerry:index:${kind}`, properties: escapeAll(properties), options: { import: id } },
    ] as const;
  const resources = Object.fromEntries([
    ...keys.map((key) => entry('SshKey', key, { name: key.name, publicKey: key.public_key })),
    ...groups.map((group) => entry('FirewallGroup', group, groupProperties(group))),
    ...servers.map((server) => entry('Server', server, serverProperties(server, groups, names))),
    ...volumes.map((volume) => entry('Volume', volume, volumeProperties(volume, names))),
    ...alerts.map((alert) => entry('Alert', alert, alertProperties(alert, names))),
  ]);
  return `${HEADER}${toYaml({ name: 'skerry-account', runtime: 'yaml', resources })}`;
}

/** `server_web_1`: letters, digits, and underscores, which references can contain. */
function nameAll(
  kinds: Readonly<Record<string, readonly { readonly id: string; readonly name: string }[]>>,
): Names {
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const [kind, items] of Object.entries(kinds)) {
    for (const { id, name } of items) {
      const slug = name
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '_')
        .slice(0, NAME_MAX)
        .replace(/^_+|_+$/g, '');
      const base = slug === '' ? kind : `${kind}_${slug}`;
      let unique = base;
      for (let count = 2; used.has(unique); count += 1) unique = `${base}_${count}`;
      used.add(unique);
      names.set(id, unique);
    }
  }
  return names;
}

const referTo = (names: Names, id: string) => new Reference(names.get(id) ?? id);

function groupProperties({ name, default_action: defaultAction, rules }: FirewallGroup): object {
  const own = rules.map(({ id: _id, port, note, ...rule }) => ({
    ...rule,
    port: port ?? undefined,
    note: note ?? undefined,
  }));
  return { name, defaultAction, rules: own };
}

function serverProperties(server: Server, groups: readonly FirewallGroup[], names: Names): object {
  const { id, name, plan, region, image, billing_months: billingMonths, auto_renew: autoRenew } = server;
  const applied = groups.filter(({ applied_to }) => applied_to.includes(id));
  return {
    ...{ name, plan, region, image, billingMonths, autoRenew },
    sshKeys: server.ssh_keys.map((key) => referTo(names, key)),
    firewallGroups: unlessEmpty(applied.map((group) => referTo(names, group.id))),
    tags: unlessEmpty(server.tags),
    labels: unlessEmpty(server.labels),
    protection: protectionOf(server.protection),
    rdns: rdnsOf(server),
  };
}

function volumeProperties(volume: Volume, names: Names): object {
  const { name, size_gb: sizeGb, region, encrypted, filesystem, attached_to: server } = volume;
  return {
    ...{ name, sizeGb, region, encrypted },
    filesystem: filesystem ?? undefined,
    labels: unlessEmpty(volume.labels),
    protection: protectionOf(volume.protection),
    server: server === null ? undefined : referTo(names, server),
  };
}

function alertProperties(alert: Alert, names: Names): object {
  const { name, metric, window, enabled, label_selector: labelSelector } = alert;
  return {
    ...{ name, metric, window, enabled },
    compare: alert.compare ?? undefined,
    value: alert.value ?? undefined,
    servers: alert.servers?.map((server) => referTo(names, server)),
    labelSelector: labelSelector ?? undefined,
  };
}

/** `$$` stands for `$`, and `${` starts a reference. */
function escapeAll(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\$+(?=\{)|\$\$+/g, '$&$&');
  if (value instanceof Reference) return `\${${value.name}.id}`;
  if (Array.isArray(value)) return value.map(escapeAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escapeAll(one)]));
}
