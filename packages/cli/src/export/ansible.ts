/** A playbook of the collection skerry.cloud that changes nothing in this account. */
import type { Alert, FirewallGroup, Server, SshKey, Volume } from '@skerry/sdk';
import { type ExportedAccount, protectionOf, rdnsOf, referencesBy, unlessEmpty } from './account.ts';
import { toYaml } from './yaml.ts';

const HEADER = `# The account as a playbook of the collection skerry.cloud. It changes nothing here:
#   ansible-playbook --check --diff account.yml
# It contains no secrets and no user data.
`;

/** A text with an expression would run in a template. */
const TEMPLATE = /\{[{%#]/;

interface References {
  readonly key: (id: string) => string;
  readonly group: (id: string) => string;
  readonly server: (id: string) => string;
  readonly volume: (id: string) => string;
  readonly alert: (id: string) => string;
}

export function toPlaybook({ keys, groups, servers, volumes, alerts }: ExportedAccount): string {
  const references: References = {
    key: referencesBy(keys),
    group: referencesBy(groups),
    server: referencesBy(servers),
    volume: referencesBy(volumes),
    alert: referencesBy(alerts),
  };
  const tasks = [
    ...keys.map((key) => keyTask(key, references)),
    ...servers.map((server) => serverTask(server, references)),
    ...volumes.map((volume) => volumeTask(volume, references)),
    // Last: they name servers.
    ...groups.map((group) => groupTask(group, references)),
    ...alerts.map((alert) => alertTask(alert, references)),
  ];
  const play = { name: 'Skerry account', hosts: 'localhost', gather_facts: false, tasks };
  const tag = (text: string) => (TEMPLATE.test(text) ? '!unsafe' : undefined);
  return `${HEADER}${toYaml([play], { tag })}`;
}

/** The title has no names: Ansible would run templates in it. */
const task = (module: string, id: string, options: object) => ({
  name: `${module} ${id}`,
  [`skerry.cloud.${module}`]: options,
});

/** A resource is found by its name if no other has it, and else by its ID. */
const identity = ({ id, name }: { readonly id: string; readonly name: string }, reference: string) =>
  reference === name ? { name } : { id, name };

function keyTask(key: SshKey, { key: reference }: References): object {
  return task('ssh_key', key.id, { ...identity(key, reference(key.id)), public_key: key.public_key });
}

function serverTask(server: Server, references: References): object {
  const { id, status, plan, region, image, billing_months, auto_renew } = server;
  return task('server', id, {
    ...identity(server, references.server(id)),
    state: status === 'running' || status === 'stopped' ? status : 'present',
    ...{ plan, region, image },
    ssh_keys: unlessEmpty(server.ssh_keys.map(references.key)),
    tags: unlessEmpty(server.tags),
    labels: unlessEmpty(server.labels),
    ...{ billing_months, auto_renew },
    protection: protectionOf(server.protection),
    rdns: rdnsOf(server),
  });
}

function volumeTask(volume: Volume, references: References): object {
  const { id, size_gb, region, encrypted, filesystem, attached_to } = volume;
  const attachment =
    attached_to === null
      ? { state: 'detached' }
      : { state: 'attached', server: references.server(attached_to) };
  return task('volume', id, {
    ...identity(volume, references.volume(id)),
    ...attachment,
    ...{ size_gb, region, encrypted },
    filesystem: filesystem ?? undefined,
    labels: unlessEmpty(volume.labels),
    protection: protectionOf(volume.protection),
  });
}

function groupTask(group: FirewallGroup, references: References): object {
  const rules = group.rules.map(({ id: _id, port, note, ...rule }) => ({
    ...rule,
    port: port ?? undefined,
    note: note ?? undefined,
  }));
  return task('firewall_group', group.id, {
    ...identity(group, references.group(group.id)),
    default_action: group.default_action,
    rules,
    servers: group.applied_to.map(references.server),
  });
}

function alertTask(alert: Alert, references: References): object {
  const { id, metric, compare, value, window, servers, label_selector, enabled } = alert;
  return task('alert', id, {
    ...identity(alert, references.alert(id)),
    metric,
    compare: compare ?? undefined,
    value: value ?? undefined,
    window,
    servers: servers?.map(references.server),
    label_selector: label_selector ?? undefined,
    enabled,
  });
}
