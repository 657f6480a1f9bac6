/**
 * A valid request for every operation, with every place that holds an id. Bodies include every field of their
 * schema, so that no place is missed. All of them can run on one estate, deletions last.
 */
import type { Operation } from '../../../../src/spec/operations.ts';
import { type Case, caseFor, inBody, inFilter, inPath, NOTHING } from './cases-parts.ts';
import { type Estate, PUBLIC_KEY, RULE, UPLOAD } from './estate.ts';

const USER_DATA = Buffer.from('#cloud-config\n').toString('base64');
const KEY_PLACES = [inBody('ssh_keys.0', 'sshKey'), inBody('ssh_keys.1', 'sshKey')];
const LATER = '2099-01-31T12:00:00Z';

/** A new operation does not compile without a case. */
export const CASES: Readonly<Record<Operation, (estate: Estate) => Case>> = {
  'servers.list': ({ image }) => ({
    ...NOTHING,
    query: { 'filter[image]': image.own, 'filter[plan]': 's1', 'filter[region]': 'par' },
    places: [
      inFilter('filter[image]', 'customImage'),
      inFilter('filter[plan]', 'plan'),
      inFilter('filter[region]', 'region'),
    ],
  }),
  'servers.create': ({ image, keys, group, volume, quote }) => ({
    ...NOTHING,
    body: {
      name: 'web-2',
      plan: 's1',
      region: 'par',
      image: image.official,
      ssh_keys: keys,
      tags: ['web'],
      labels: { env: 'prod' },
      user_data_b64: USER_DATA,
      billing_months: 1,
      auto_renew: false,
      protection: { delete: false, rebuild: false },
      start: true,
      firewall_groups: [group.applied],
      volumes: [volume.ordered],
      backups: { every: 'week', weekday: 'sunday', hour_utc: 3, keep: 4 },
      quote: quote.order,
      max_price_usd: 1_000,
    },
    places: [
      inBody('firewall_groups.0', 'firewallGroup'),
      inBody('volumes.0', 'volume'),
      inBody('plan', 'plan'),
      inBody('region', 'region'),
      inBody('image', 'customImage'),
      ...KEY_PLACES,
      inBody('quote', 'quote'),
    ],
  }),
  'servers.get': ({ server }) => caseFor('server', server.running),
  'servers.update': ({ server }) =>
    caseFor('server', server.running, {
      body: {
        name: 'web-3',
        tags: [],
        labels: {},
        auto_renew: false,
        protection: { delete: false, rebuild: false },
        boot: 'disk',
      },
    }),
  'servers.delete': ({ server }) => caseFor('server', server.running),
  'servers.reboot': ({ server }) => caseFor('server', server.running, { query: { hard: 'true' } }),
  'servers.rebuild': ({ server, image, keys }) =>
    caseFor('server', server.running, {
      body: { image: image.official, ssh_keys: keys, user_data_b64: USER_DATA },
      places: [inBody('image', 'customImage'), ...KEY_PLACES],
    }),
  'servers.rescue': ({ server }) => caseFor('server', server.running),
  'servers.stop': ({ server }) => caseFor('server', server.running),
  'servers.start': ({ server, quote }) =>
    caseFor('server', server.stopped, {
      body: { quote: quote.start, max_price_usd: 0 },
      places: [inBody('quote', 'quote')],
    }),
  'servers.resize': ({ server, quote }) =>
    caseFor('server', server.running, {
      body: { plan: 's2', resize_disk: true, restart: true, quote: quote.resize, max_price_usd: 100 },
      places: [inBody('quote', 'quote')],
    }),
  'servers.insert_iso': ({ server, image }) =>
    caseFor('server', server.running, {
      body: { image: image.inserted },
      places: [inBody('image', 'customImage')],
    }),
  'servers.eject_iso': ({ server }) => caseFor('server', server.stopped),
  'servers.console': ({ server }) => caseFor('server', server.running),
  'servers.metrics': ({ server }) => caseFor('server', server.running),
  'servers.set_rdns': ({ server, address }) =>
    caseFor('server', server.running, { body: { ipv4: 'a.example.org', ipv6: 'a.example.org', address } }),

  'images.list': () => NOTHING,
  'images.get': ({ image }) => caseFor('customImage', image.own),
  'images.create': () => ({ ...NOTHING, upload: UPLOAD }),
  'images.delete': ({ image }) => caseFor('customImage', image.own),
  'plans.list': () => NOTHING,
  'plans.get': () => caseFor('plan', 's1'),
  'regions.list': () => NOTHING,
  'regions.get': () => caseFor('region', 'par'),

  'ssh_keys.list': () => NOTHING,
  'ssh_keys.create': () => ({ ...NOTHING, body: { name: 'third', public_key: PUBLIC_KEY } }),
  'ssh_keys.get': ({ keys }) => caseFor('sshKey', keys[0]),
  'ssh_keys.delete': ({ keys }) => caseFor('sshKey', keys[0]),
  'account.get': () => NOTHING,
  'limits.list': () => NOTHING,
  'tokens.list': () => NOTHING,
  'tokens.create': ({ server }) => ({
    ...NOTHING,
    body: {
      name: 'ci',
      scope: 'read',
      expires_at: LATER,
      limits: {
        ip_cidrs: ['0.0.0.0/0', '::/0'],
        operations: ['servers.get'],
        resources: [server.running],
        label_selector: 'env=ci',
        regions: ['par'],
        spend_usd: 10,
        spend_period: 'month',
        max_servers: 1,
      },
    },
    places: [inBody('limits.resources.0', 'server'), inBody('limits.regions.0', 'region')],
  }),
  'tokens.get': ({ token }) => caseFor('token', token),
  'tokens.update': ({ token, server }) =>
    caseFor('token', token, {
      body: { name: 'spare-2', limits: { resources: [server.running], max_servers: 1 } },
      places: [inBody('limits.resources.0', 'server')],
    }),
  'tokens.delete': ({ token }) => caseFor('token', token),

  'balance.get': () => NOTHING,
  'ledger.list': () => NOTHING,
  'topups.create': () => ({ ...NOTHING, body: { coin: 'BTC', amount_usd: 30 } }),
  'topups.get': ({ topup }) => caseFor('topup', topup.credited),
  'topups.list': () => NOTHING,
  'quotes.create': ({ server }) => ({
    ...NOTHING,
    body: { operation: 'server.start', resource: server.stopped, params: {} },
    places: [inBody('resource', 'server')],
  }),

  'volumes.list': ({ server }) => ({
    ...NOTHING,
    query: { 'filter[attached_to]': server.running, 'filter[region]': 'par' },
    places: [inFilter('filter[attached_to]', 'server'), inFilter('filter[region]', 'region')],
  }),
  'volumes.create': () => ({
    ...NOTHING,
    body: {
      name: 'more',
      size_gb: 10,
      region: 'par',
      encrypted: true,
      filesystem: 'ext4',
      labels: { env: 'prod' },
      protection: {},
    },
    places: [inBody('region', 'region')],
  }),
  'volumes.get': ({ volume }) => caseFor('volume', volume.attached),
  'volumes.update': ({ volume }) =>
    caseFor('volume', volume.attached, {
      body: { name: 'disk', size_gb: 20, labels: {}, protection: { delete: false } },
    }),
  'volumes.delete': ({ volume }) => caseFor('volume', volume.spare),
  'volumes.attach': ({ volume, server }) =>
    caseFor('volume', volume.detached, {
      body: { server: server.running },
      places: [inBody('server', 'server')],
    }),
  'volumes.detach': ({ volume }) => caseFor('volume', volume.attached),

  'snapshots.list': ({ server }) => ({
    ...NOTHING,
    query: { 'filter[server]': server.running },
    places: [inFilter('filter[server]', 'server')],
  }),
  'snapshots.create': ({ server }) =>
    caseFor('server', server.running, {
      body: { name: 'before', expires_at: LATER, labels: { env: 'prod' }, protection: {} },
    }),
  'snapshots.get': ({ snapshot }) => caseFor('snapshot', snapshot),
  'servers.restore': ({ server, snapshot }) =>
    caseFor('server', server.running, { body: { snapshot }, places: [inBody('snapshot', 'snapshot')] }),
  'backup_policies.get': ({ server }) => caseFor('server', server.running),
  'backup_policies.replace': ({ server }) =>
    caseFor('server', server.running, {
      body: { enabled: true, every: 'week', weekday: 'sunday', hour_utc: 3, keep: 4, max_price_usd: 5 },
    }),
  'snapshots.update': ({ snapshot }) =>
    caseFor('snapshot', snapshot, {
      body: { name: 'kept', expires_at: LATER, labels: {}, protection: { delete: false } },
    }),
  'snapshots.delete': ({ snapshot }) => caseFor('snapshot', snapshot),

  'firewall_groups.list': () => NOTHING,
  'firewall_groups.create': ({ server }) => ({
    ...NOTHING,
    body: {
      name: 'gate',
      default_action: 'accept',
      rules: [RULE],
      applied_to: [server.running, server.stopped],
    },
    places: [inBody('applied_to.0', 'server'), inBody('applied_to.1', 'server')],
  }),
  'firewall_groups.get': ({ group }) => caseFor('firewallGroup', group.applied),
  'firewall_groups.update': ({ group, server }) =>
    caseFor('firewallGroup', group.applied, {
      body: {
        name: 'gate',
        default_action: 'accept',
        applied_to: [server.running, server.stopped],
        attach: [server.running],
        detach: [server.stopped],
      },
      places: ['applied_to.0', 'applied_to.1', 'attach.0', 'detach.0'].map((path) => inBody(path, 'server')),
    }),
  'firewall_groups.delete': ({ group }) => caseFor('firewallGroup', group.idle),
  'firewall_rules.create': ({ group }) => caseFor('firewallGroup', group.applied, { body: RULE }),
  'firewall_rules.replace': ({ group }) =>
    caseFor('firewallGroup', group.idle, { body: { rules: [RULE, RULE] } }),
  'firewall_rules.delete': ({ group, rule }) => ({
    ...caseFor('firewallGroup', group.applied),
    params: { id: group.applied, rule_id: rule.ofApplied },
    places: [inPath('id', 'firewallGroup'), inPath('rule_id', 'firewallRule')],
  }),

  'webhooks.list': () => NOTHING,
  'webhooks.create': () => ({
    ...NOTHING,
    body: { url: 'https://hooks.invalid/', events: ['server.suspended'], active: false },
  }),
  'webhooks.get': ({ webhook }) => caseFor('webhook', webhook.pinged),
  'webhooks.update': ({ webhook }) =>
    caseFor('webhook', webhook.pinged, {
      body: { url: 'https://other.invalid/', events: ['server.suspended'], active: true },
    }),
  'webhooks.delete': ({ webhook }) => caseFor('webhook', webhook.pinged),
  'webhooks.rotate_secret': ({ webhook }) => caseFor('webhook', webhook.pinged),
  'webhooks.end_rotation': ({ webhook }) => caseFor('webhook', webhook.pinged, { body: { keep: 'current' } }),
  'webhooks.test': ({ webhook }) => caseFor('webhook', webhook.pinged),
  'deliveries.list': ({ webhook }) => caseFor('webhook', webhook.pinged),
  'deliveries.replay': ({ webhook, delivery }) => ({
    ...caseFor('webhook', webhook.pinged),
    params: { id: webhook.pinged, delivery_id: delivery.ofPinged },
    places: [inPath('id', 'webhook'), inPath('delivery_id', 'delivery')],
  }),

  'alerts.list': () => NOTHING,
  'alerts.create': ({ server }) => ({
    ...NOTHING,
    body: {
      ...{ name: 'busy', metric: 'cpu_pct', compare: 'gt', value: 90, window: '1h', enabled: true },
      servers: [server.running],
    },
    instead: ['label_selector'],
    places: [inBody('servers.0', 'server')],
  }),
  'alerts.get': ({ alert }) => caseFor('alert', alert.listed),
  'alerts.update': ({ alert, server }) =>
    caseFor('alert', alert.listed, {
      body: {
        ...{ name: 'busier', metric: 'ram_pct', compare: 'lt', value: 95, window: '5m', enabled: true },
        servers: [server.stopped],
      },
      instead: ['label_selector'],
      places: [inBody('servers.0', 'server')],
    }),
  'alerts.delete': ({ alert }) => caseFor('alert', alert.labeled),
  'tickets.list': () => NOTHING,
  'tickets.create': () => ({ ...NOTHING, body: { subject: 'A question', text: 'How?' } }),
  'tickets.get': ({ ticket }) => caseFor('ticket', ticket),
  'tickets.reply': ({ ticket }) => caseFor('ticket', ticket, { body: { text: 'More.' } }),
  'tickets.close': ({ ticket }) => caseFor('ticket', ticket),

  'audit_events.list': ({ server }) => ({
    ...NOTHING,
    query: { resource: server.running },
    places: [inFilter('resource', 'server')],
  }),
  'audit_events.get': ({ auditEvent }) => caseFor('audit', auditEvent),
  'actions.of_server': ({ server }) => caseFor('server', server.running),
  'actions.list': ({ server }) => ({
    ...NOTHING,
    query: { 'filter[resource]': server.running },
    places: [inFilter('filter[resource]', 'server')],
  }),
  'actions.get': ({ action }) => caseFor('action', action),
  'events.stream': () => NOTHING,
};
