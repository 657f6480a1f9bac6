/** A call of every operation, by its ID in the OpenAPI document. Deletions come last. */
import type { Skerry } from '@skerry/sdk';
import { type Estate, PUBLIC_KEY, RULE } from '../http/v1/contract/estate.ts';
import { isoFile } from '../support/iso.ts';

export type Calls = Readonly<Record<string, (skerry: Skerry, estate: Estate) => Promise<unknown>>>;

const URL = 'https://hooks.invalid/';
const rule = { ...RULE, direction: 'in', proto: 'tcp', action: 'accept' } as const;
const group = { name: 'more', default_action: 'drop' } as const;
const order = { name: 'web-2', plan: 's1', region: 'par' };

const READS: Calls = {
  'servers.list': (s) => s.servers.list().all(),
  'servers.get': (s, e) => s.servers.get(e.server.running),
  'servers.console': (s, e) => s.servers.console(e.server.running),
  'servers.metrics': (s, e) => s.servers.metrics(e.server.running),
  'images.list': (s) => s.images.list().all(),
  'images.get': (s, e) => s.images.get(e.image.official),
  'plans.list': (s) => s.plans.list().all(),
  'plans.get': (s) => s.plans.get('s1'),
  'regions.list': (s) => s.regions.list().all(),
  'regions.get': (s) => s.regions.get('par'),
  'ssh_keys.list': (s) => s.sshKeys.list().all(),
  'ssh_keys.get': (s, e) => s.sshKeys.get(e.keys[0]),
  'account.get': (s) => s.account.get(),
  'limits.list': (s) => s.limits.list().all(),
  'tokens.list': (s) => s.tokens.list().all(),
  'tokens.get': (s, e) => s.tokens.get(e.token),
  'balance.get': (s) => s.balance.get(),
  'ledger.list': (s) => s.ledger.list().all(),
  'topups.list': (s) => s.topups.list().all(),
  'topups.get': (s, e) => s.topups.get(e.topup.credited),
  'volumes.list': (s) => s.volumes.list().all(),
  'volumes.get': (s, e) => s.volumes.get(e.volume.attached),
  'snapshots.list': (s) => s.snapshots.list().all(),
  'snapshots.get': (s, e) => s.snapshots.get(e.snapshot),
  'firewall_groups.list': (s) => s.firewallGroups.list().all(),
  'firewall_groups.get': (s, e) => s.firewallGroups.get(e.group.applied),
  'webhooks.list': (s) => s.webhooks.list().all(),
  'backup_policies.get': (s, e) => s.backupPolicies.get(e.server.running),
  'webhooks.get': (s, e) => s.webhooks.get(e.webhook.pinged),
  'deliveries.list': (s, e) => s.deliveries.list(e.webhook.pinged).all(),
  'alerts.list': (s) => s.alerts.list().all(),
  'alerts.get': (s, e) => s.alerts.get(e.alert.listed),
  'tickets.list': (s) => s.tickets.list().all(),
  'tickets.get': (s, e) => s.tickets.get(e.ticket),
  'audit_events.list': (s) => s.auditEvents.list().all(2),
  'audit_events.get': (s, e) => s.auditEvents.get(e.auditEvent),
  'actions.of_server': (s, e) => s.actions.ofServer(e.server.running).all(),
  'actions.list': (s) => s.actions.list().all(2),
  'actions.get': (s, e) => s.actions.get(e.action),
  'events.stream': async (s) => {
    for await (const event of s.events.stream({ after: 0 })) return event;
  },
};

const WRITES: Calls = {
  'servers.create': (s, e) => s.servers.create({ ...order, image: e.image.official, ssh_keys: [...e.keys] }),
  'servers.update': (s, e) => s.servers.update(e.server.running, { name: 'web-3' }),
  'servers.set_rdns': (s, e) => s.servers.setRdns(e.server.running, { ipv4: 'web.example.org' }),
  'servers.reboot': (s, e) => s.servers.reboot(e.server.running, { hard: true }),
  'servers.rescue': (s, e) => s.servers.rescue(e.server.running),
  'servers.stop': (s, e) => s.servers.stop(e.server.running),
  'servers.start': (s, e) => s.servers.start(e.server.running),
  'servers.rebuild': (s, e) => s.servers.rebuild(e.server.running, { image: e.image.official }),
  'servers.resize': (s, e) => s.servers.resize(e.server.running, { plan: 's2', restart: true }),
  'servers.insert_iso': (s, e) => s.servers.insertIso(e.server.running, { image: e.image.inserted }),
  'servers.eject_iso': (s, e) => s.servers.ejectIso(e.server.running),
  'servers.restore': (s, e) => s.servers.restore(e.server.running, { snapshot: e.snapshot }),
  'images.create': (s) => s.images.create({ name: 'disk', arch: ['amd64'], file: new Blob([isoFile()]) }),
  'ssh_keys.create': (s) => s.sshKeys.create({ name: 'phone', public_key: PUBLIC_KEY }),
  'tokens.update': (s, e) => s.tokens.update(e.token, { name: 'renamed' }),
  'tokens.create': (s) => s.tokens.create({ name: 'more', scope: 'read' }),
  'quotes.create': (s) => s.quotes.create({ operation: 'server.create', params: { plan: 's1' } }),
  'topups.create': (s) => s.topups.create({ coin: 'LTC', amount_usd: 30 }),
  'volumes.create': (s) => s.volumes.create({ name: 'more', size_gb: 10, region: 'par' }),
  'volumes.update': (s, e) => s.volumes.update(e.volume.detached, { size_gb: 20 }),
  'volumes.attach': (s, e) => s.volumes.attach(e.volume.detached, { server: e.server.running }),
  'volumes.detach': (s, e) => s.volumes.detach(e.volume.detached),
  'snapshots.create': (s, e) => s.snapshots.create(e.server.running),
  'backup_policies.replace': (s, e) => s.backupPolicies.replace(e.server.running, { enabled: true }),
  'firewall_groups.create': (s) => s.firewallGroups.create(group),
  'firewall_groups.update': (s, e) => s.firewallGroups.update(e.group.idle, { name: 'still' }),
  'firewall_rules.create': (s, e) => s.firewallRules.create(e.group.applied, rule),
  'firewall_rules.replace': (s, e) => s.firewallRules.replace(e.group.applied, { rules: [rule] }),
  'webhooks.create': (s) => s.webhooks.create({ url: URL, events: ['*'], active: false }),
  'webhooks.update': (s, e) => s.webhooks.update(e.webhook.pinged, { events: ['server.suspended'] }),
  'webhooks.rotate_secret': (s, e) => s.webhooks.rotateSecret(e.webhook.pinged),
  'webhooks.end_rotation': (s, e) => s.webhooks.endRotation(e.webhook.pinged),
  'webhooks.test': (s, e) => s.webhooks.test(e.webhook.pinged),
  'tickets.create': (s) => s.tickets.create({ subject: 'A question', text: 'How?' }),
  'tickets.reply': (s, e) => s.tickets.reply(e.ticket, { text: 'More.' }),
  'tickets.close': (s, e) => s.tickets.close(e.ticket),
  'alerts.create': (s) =>
    s.alerts.create({ name: 'down', metric: 'unreachable', label_selector: 'env=prod' }),
  'alerts.update': (s, e) => s.alerts.update(e.alert.listed, { value: 5, servers: [e.server.running] }),
  'deliveries.replay': (s, e) => s.deliveries.replay(e.webhook.pinged, e.delivery.ofPinged),
};

const DELETES: Calls = {
  'firewall_rules.delete': (s, e) => s.firewallRules.delete(e.group.idle, e.rule.ofIdle),
  'firewall_groups.delete': (s, e) => s.firewallGroups.delete(e.group.idle),
  'snapshots.update': (s, e) => s.snapshots.update(e.snapshot, { protection: { delete: false } }),
  'snapshots.delete': (s, e) => s.snapshots.delete(e.snapshot),
  'volumes.delete': (s, e) => s.volumes.delete(e.volume.spare),
  'webhooks.delete': (s, e) => s.webhooks.delete(e.webhook.other),
  'alerts.delete': (s, e) => s.alerts.delete(e.alert.labeled),
  'images.delete': (s, e) => s.images.delete(e.image.own),
  'ssh_keys.delete': (s, e) => s.sshKeys.delete(e.keys[1]),
  'tokens.delete': (s, e) => s.tokens.delete(e.token),
  'servers.delete': (s, e) => s.servers.delete(e.server.stopped),
};

export const CALLS: Calls = { ...READS, ...WRITES, ...DELETES };
