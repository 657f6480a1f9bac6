import type { FormInput } from '../../support/panel-client.ts';
import { type Click, type Clicker, running } from './click.ts';

const ORDER = { name: 'clicked', plan: 's1', region: 'par', billing_months: '1' };

const order = async ({ panel }: Clicker): Promise<FormInput> => {
  const { text } = await panel.get('/servers/new');
  return { ...ORDER, image: /<option value="(img_\w+)">/.exec(text)?.[1] ?? '' };
};
const firstKey = async ({ panel }: Clicker): Promise<string> =>
  /name="(ssh_keys\.\w+)"/.exec((await panel.get('/servers/new')).text)?.[1] ?? '';

export const SERVER_CLICKS: readonly Click[] = [
  {
    form: ['/servers/new/total', 'deploy'],
    once: null,
    at: () => '/servers/new',
    action: '/servers/new/total',
    fields: order,
  },
  {
    form: ['/servers/new', 'deploy'],
    once: 'server.create',
    plain: true,
    fields: async (clicker) => ({ ...(await order(clicker)), [await firstKey(clicker)]: 'on' }),
  },
  {
    form: ['/servers/new/topup', 'deploy'],
    once: 'order_draft.save',
    at: () => '/servers/new',
    action: '/servers/new/topup',
    fields: order,
  },
  {
    form: ['/servers/new', 'discard'],
    once: 'order_draft.discard',
    prepare: async (clicker) => {
      const { panel } = clicker;
      const page = await panel.get('/servers/new');
      await panel.submit(page, 'deploy', await order(clicker), { action: '/servers/new/topup' });
    },
    at: () => '/servers/new',
  },
  { form: ['/search', 'find'], once: null, fields: { q: '203.0.113.9' } },
  {
    form: ['/search', 'shortcuts'],
    once: 'customer.set_shortcuts',
    button: 'shortcuts',
  },
  {
    form: ['/servers/{id}/network', 'names'],
    once: 'server.set_rdns',
    at: (estate) => running(estate, '/network'),
    fields: { ipv4: 'clicked.example.org' },
  },
  {
    form: ['/servers/{id}/network', 'add_name'],
    once: 'server.set_rdns',
    at: (estate) => running(estate, '/network'),
    fields: async ({ panel, estate }) => {
      const { text } = await panel.get(running(estate, '/network'));
      return {
        address: `${/address in ([0-9a-f:]+)::\/64/.exec(text)?.[1]}::77`,
        ipv6: 'clicked.example.org',
      };
    },
  },
  {
    form: ['/servers/{id}/network', 'remove_name'],
    once: 'server.set_rdns',
    at: (estate) => running(estate, '/network'),
  },
  {
    form: ['/servers', 'start'],
    once: 'server.start',
    at: ({ stopped }) => `/servers?bulk=start&server.${stopped}=on`,
  },
  {
    form: ['/servers', 'stop'],
    once: 'server.stop',
    at: ({ stopped }) => `/servers?bulk=stop&server.${stopped}=on`,
  },
  {
    form: ['/servers', 'reboot'],
    once: 'server.reboot',
    at: (estate) => `/servers?bulk=reboot&server.${estate.running}=on`,
  },
  { form: ['/servers', 'console'], once: null, button: 'key', apart: true },
  {
    form: ['/servers', 'save_filter'],
    once: 'saved_filter.save',
    at: () => '/servers?status=running',
    fields: { name: 'Clicked' },
  },
  {
    form: ['/servers', 'delete_filter'],
    once: 'saved_filter.delete',
    prepare: async ({ panel }) => {
      await panel.submit(await panel.get('/servers?status=stopped'), 'save_filter', { name: 'Old' });
    },
    // The first of this name on the page: those of the rows are below.
    button: 'key',
  },
  { form: ['/servers/{id}', 'start'], once: 'server.start', at: ({ stopped }) => `/servers/${stopped}` },
  { form: ['/servers/{id}', 'stop'], once: 'server.stop', at: ({ stopped }) => `/servers/${stopped}` },
  { form: ['/servers/{id}', 'reboot'], once: 'server.reboot', at: running },
  { form: ['/servers/{id}', 'reset'], once: 'server.reboot', at: running },
  { form: ['/servers/{id}', 'console'], once: null, at: running, apart: true },
  {
    form: ['/servers/{id}/resize', 'resize'],
    once: 'server.resize',
    at: (estate) => running(estate, '/resize'),
    fields: { plan: 's3', restart: 'on' },
  },
  {
    form: ['/servers/{id}/rebuild', 'rescue'],
    once: 'server.rescue',
    at: (estate) => running(estate, '/rebuild'),
  },
  {
    form: ['/servers/{id}/rebuild', 'rebuild'],
    once: 'server.rebuild',
    at: (estate) => running(estate, '/rebuild'),
  },
  {
    form: ['/servers/{id}/rebuild', 'insert_iso'],
    once: 'server.insert_iso',
    at: (estate) => running(estate, '/rebuild'),
    fields: async ({ panel, estate }) => {
      const { text } = await panel.get(running(estate, '/rebuild'));
      return { iso: /name="iso".*?<option value="(custom_\w+)"/s.exec(text)?.[1] ?? '' };
    },
  },
  {
    form: ['/servers/{id}/rebuild', 'boot'],
    once: 'server.update',
    at: (estate) => running(estate, '/rebuild'),
  },
  {
    form: ['/servers/{id}/rebuild', 'eject_iso'],
    once: 'server.eject_iso',
    at: (estate) => running(estate, '/rebuild'),
  },
  {
    form: ['/servers/{id}/settings', 'change'],
    once: 'server.update',
    at: (estate) => running(estate, '/settings'),
    fields: { tags: 'clicked' },
  },
  {
    form: ['/servers/{id}/settings', 'protect'],
    once: 'server.update',
    at: (estate) => running(estate, '/settings'),
    fields: { protect_delete: 'on' },
  },
  {
    form: ['/servers/{id}/settings', 'destroy'],
    once: 'server.destroy',
    at: ({ lapsed }) => `/servers/${lapsed}/settings`,
    fields: { name_typed: 'old-shop' },
  },
];
