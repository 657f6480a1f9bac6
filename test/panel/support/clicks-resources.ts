import assert from 'node:assert/strict';
import { PART_UPLOADS_PATH } from '../../../src/spec/paths.ts';
import { isoFile } from '../../support/iso.ts';
import { type Click, running } from './click.ts';
import { publicKey } from './estate.ts';

export const RESOURCE_CLICKS: readonly Click[] = [
  {
    form: ['/keys', 'add'],
    once: 'ssh_key.create',
    plain: true,
    fields: { name: 'clicked', public_key: publicKey(7, 'me') },
  },
  {
    form: ['/volumes', 'create'],
    once: 'volume.create',
    plain: true,
    fields: { name: 'clicked', size_gb: '10', region: 'par' },
  },
  {
    form: ['/volumes/{id}', 'change'],
    once: 'volume.update',
    at: ({ detached }) => `/volumes/${detached}`,
    fields: { name: 'grown', size_gb: '300' },
  },
  {
    form: ['/volumes/{id}', 'protect'],
    once: 'volume.update',
    at: ({ attached }) => `/volumes/${attached}`,
    fields: { protect_delete: 'on' },
  },
  { form: ['/volumes/{id}', 'detach'], once: 'volume.detach', at: ({ attached }) => `/volumes/${attached}` },
  {
    form: ['/volumes/{id}', 'attach'],
    once: 'volume.attach',
    at: ({ attached }) => `/volumes/${attached}`,
    fields: ({ estate }) => ({ server: estate.running }),
  },
  {
    form: ['/servers/{id}/storage', 'detach'],
    once: 'volume.detach',
    at: (estate) => running(estate, '/storage'),
    key: ({ estate }) => estate.attached,
  },
  {
    form: ['/servers/{id}/storage', 'attach'],
    once: 'volume.attach',
    at: (estate) => running(estate, '/storage'),
    fields: ({ estate }) => ({ volume: estate.attached }),
  },
  { form: ['/volumes/{id}', 'delete'], once: 'volume.delete', at: ({ detached }) => `/volumes/${detached}` },
  {
    form: ['/snapshots', 'create'],
    once: 'snapshot.create',
    fields: ({ estate }) => ({ server: estate.running, name: 'clicked' }),
  },
  {
    form: ['/servers/{id}/storage', 'snapshot'],
    once: 'snapshot.create',
    at: (estate) => running(estate, '/storage'),
    fields: { name: 'clicked again' },
  },
  {
    form: ['/servers/{id}/storage', 'backups'],
    once: 'backup_policy.replace',
    at: (estate) => running(estate, '/storage'),
    fields: { enabled: 'on', keep: '3' },
  },
  {
    form: ['/servers/{id}/storage', 'restore'],
    once: 'server.restore',
    at: (estate) => running(estate, '/storage'),
    fields: ({ estate }) => ({ snapshot: estate.snapshot, name_typed: 'web-1' }),
  },
  {
    form: ['/snapshots/{id}', 'change'],
    once: 'snapshot.update',
    at: ({ snapshot }) => `/snapshots/${snapshot}`,
    fields: { name: 'kept', expires_at: '2099-01-31T12:00' },
  },
  {
    form: ['/snapshots/{id}', 'protect'],
    once: 'snapshot.update',
    at: ({ snapshot }) => `/snapshots/${snapshot}`,
    fields: { protect_delete: 'on' },
  },
  {
    form: ['/snapshots/{id}', 'restore'],
    once: 'server.restore',
    at: ({ snapshot }) => `/snapshots/${snapshot}`,
    fields: ({ estate }) => ({ server: estate.running, name_typed: 'web-1' }),
  },
  {
    form: ['/snapshots/{id}', 'delete'],
    once: 'snapshot.delete',
    at: ({ failedSnapshot }) => `/snapshots/${failedSnapshot}`,
  },
  {
    form: ['/firewall', 'create'],
    once: 'firewall_group.create',
    plain: true,
    fields: { name: 'clicked', default_action: 'drop' },
  },
  {
    form: ['/firewall/{id}/settings', 'change'],
    once: 'firewall_group.update',
    at: ({ group }) => `/firewall/${group}/settings`,
    fields: { name: 'clicked' },
  },
  {
    form: ['/firewall/{id}/settings', 'apply'],
    once: 'firewall_group.update',
    at: ({ group }) => `/firewall/${group}/settings`,
    fields: ({ estate }) => ({ [`applied_to.${estate.stopped}`]: 'on' }),
  },
  {
    form: ['/firewall/{id}', 'rules'],
    once: 'firewall_group.replace_rules',
    at: ({ group }) => `/firewall/${group}`,
  },
  {
    form: ['/firewall/{id}/settings', 'delete'],
    once: 'firewall_group.delete',
    at: ({ emptyGroup }) => `/firewall/${emptyGroup}/settings`,
  },
  {
    form: ['/images', 'upload'],
    once: 'image.create',
    fields: { name: 'clicked', file: new Blob([new Uint8Array(isoFile())]) },
  },
  {
    form: ['/images', 'discard'],
    once: null,
    prepare: async ({ world, session }) => {
      await session.fetchCsrf();
      const begun = await fetch(`${world.url}${PART_UPLOADS_PATH}`, {
        method: 'POST',
        body: new URLSearchParams({ key: 'clicked', size: '1000' }),
        headers: { cookie: `PHPSESSID=${session.cookie}`, 'x-csrf-token': session.csrf ?? '' },
      });
      assert.equal(begun.status, 200, await begun.text());
    },
  },
  { form: ['/images/{id}', 'delete'], once: 'image.delete', at: ({ ownImage }) => `/images/${ownImage}` },
  { form: ['/keys/{id}', 'delete'], once: 'ssh_key.delete', at: ({ keys }) => `/keys/${keys[1]}` },
  {
    form: ['/webhooks', 'create'],
    once: 'webhook.create',
    plain: true,
    fields: { url: 'https://example.com/clicked', 'events.server.running': 'on' },
  },
  {
    form: ['/webhooks/{id}', 'rotate'],
    once: 'webhook.rotate_secret',
    at: ({ webhook }) => `/webhooks/${webhook}`,
  },
  {
    form: ['/webhooks/{id}', 'end_rotation'],
    once: 'webhook.end_rotation',
    button: 'keep',
    at: ({ webhook }) => `/webhooks/${webhook}`,
  },
  { form: ['/webhooks/{id}', 'ping'], once: 'webhook.test', at: ({ webhook }) => `/webhooks/${webhook}` },
  {
    form: ['/webhooks/{id}', 'replay'],
    once: 'webhook.replay',
    button: 'delivery',
    at: ({ webhook }) => `/webhooks/${webhook}`,
  },
  {
    form: ['/webhooks/{id}', 'change'],
    once: 'webhook.update',
    at: ({ webhook }) => `/webhooks/${webhook}`,
    fields: { url: 'https://example.com/changed' },
  },
  {
    form: ['/webhooks/{id}', 'delete'],
    once: 'webhook.delete',
    at: ({ brokenWebhook }) => `/webhooks/${brokenWebhook}`,
  },
  {
    form: ['/support', 'create'],
    once: 'ticket.create',
    fields: { subject: 'clicked', text: 'clicked' },
  },
  {
    form: ['/support/{id}', 'reply'],
    once: 'ticket.reply',
    at: ({ ticket }) => `/support/${ticket}`,
    fields: { text: 'clicked' },
  },
  {
    form: ['/support/{id}/attach', 'attach'],
    once: 'ticket.attach',
    at: ({ ticket }) => `/support/${ticket}/attach`,
    fields: { name: 'clicked', file: new Blob(['clicked']) },
  },
  { form: ['/support/{id}', 'close'], once: 'ticket.close', at: ({ ticket }) => `/support/${ticket}` },
  {
    form: ['/alerts', 'create'],
    once: 'alert.create',
    fields: { name: 'clicked', value: '90' },
  },
  {
    form: ['/alerts/{id}', 'change'],
    once: 'alert.update',
    at: ({ alert }) => `/alerts/${alert}`,
    fields: { value: '91' },
  },
  { form: ['/alerts/{id}', 'delete'], once: 'alert.delete', at: ({ alert }) => `/alerts/${alert}` },
];
