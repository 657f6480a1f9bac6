import type { ServerObject, StaffServer } from '../../../domain/staff/servers.ts';
import { formatMonths } from '../../../panel/parts/format.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import type { Room } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const NAME: Shown<ServerObject> = {
  name: 'Server',
  value: ({ name }) => name,
  link: ({ id }) => `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`,
};

const STATE: Shown<ServerObject> = {
  name: 'Status',
  value: ({ status, frozen_at, hold_order }) => {
    if (frozen_at !== null) return 'frozen';
    return hold_order === null ? status : `${status}, legal hold`;
  },
  as: 'state',
  tones: {
    running: 'good',
    provisioning: 'busy',
    installing: 'busy',
    'running, legal hold': 'busy',
    suspended: 'bad',
    frozen: 'bad',
  },
};

const CUSTOMER: Shown<ServerObject> = { name: 'Customer', value: ({ customer }) => customer, as: 'customer' };
const PLAN: Shown<ServerObject> = { name: 'Plan', value: ({ plan }) => plan };
const REGION: Shown<ServerObject> = { name: 'Region', value: ({ region }) => region };
const HOST: Shown<ServerObject> = { name: 'Host', value: ({ host }) => host };
const PAID: Shown<ServerObject> = { name: 'Paid until', value: (row) => row.paid_until, as: 'time' };
const WORK: Shown<ServerObject> = {
  name: 'Under way',
  value: ({ operation }) => operation && `${operation.kind}, ${operation.step}`,
  link: ({ id }) => `${CONSOLE_PATHS.operations}/${encodeURIComponent(id)}`,
};

const DETAILS: readonly Shown<StaffServer>[] = [
  { name: 'ID', value: ({ id }) => id, as: 'code' },
  CUSTOMER,
  PLAN,
  REGION,
  HOST,
  { name: 'IPv4', value: ({ ipv4 }) => ipv4, as: 'code' },
  { name: 'IPv6', value: ({ ipv6 }) => ipv6, as: 'code' },
  { name: 'Suspended because of', value: (row) => row.suspended_reason },
  { name: 'Price', value: (row) => row.price_usd, as: 'usd' },
  { name: 'Billing cycle', value: (row) => formatMonths(row.billing_months) },
  PAID,
  { name: 'Renews', value: (row) => row.auto_renew },
  { name: 'Created', value: (row) => row.created_at, as: 'time' },
  { name: 'Frozen since', value: (row) => row.frozen_at, as: 'time' },
  { name: 'Frozen because of', value: (row) => row.freeze_reason },
  { name: 'Legal hold', value: (row) => row.hold_order },
  { name: 'Transfer', value: (row) => row.throttled && 'throttled until the month ends' },
  { name: 'Outbound SMTP', value: (row) => (row.mail_allowed ? 'allowed' : 'blocked') },
  { name: 'Blackholed until', value: (row) => row.blackholed_until, as: 'time' },
  {
    name: 'Abuse reports',
    value: ({ abuse_reports: { open, recent } }) =>
      recent + open > 0 ? `${open} open, ${recent} in 180 days` : 'none',
    link: ({ id, abuse_reports: { open, recent } }) =>
      recent + open > 0 ? `${CONSOLE_PATHS.abuse}?server=${encodeURIComponent(id)}` : null,
  },
  WORK,
];

const TABLES = [
  tableOf<StaffServer, StaffServer['actions'][number]>({
    title: 'Latest work',
    rows: ({ actions }) => actions,
    empty: 'Nothing was done on this server in the last 90 days.',
    columns: [
      { name: 'Work', value: ({ command }) => command.replace(/^server\./, '').replaceAll('_', ' ') },
      {
        name: 'Result',
        value: ({ status }) => status,
        as: 'state',
        tones: { success: 'good', running: 'busy', error: 'bad' },
      },
      { name: 'Step', value: ({ step }) => step },
      { name: 'Began', value: (row) => row.created_at, as: 'time' },
      { name: 'Ended', value: (row) => row.finished_at, as: 'time' },
      { name: 'Error', value: ({ error }) => error },
    ],
  }),
  tableOf<StaffServer, StaffServer['plans'][number]>({
    title: 'Plans it can have',
    rows: ({ plans }) => plans,
    empty: 'The server cannot be resized now.',
    columns: [
      { name: 'Plan', value: ({ id }) => id },
      { name: 'Charged now', value: (row) => row.due_usd, as: 'usd' },
      { name: 'Each cycle', value: (row) => row.cycle_usd, as: 'usd' },
    ],
  }),
];

const isIdle = ({ status }: StaffServer): boolean => status === 'running' || status === 'stopped';

const SUPPORT_ACTS: readonly RoomAct<StaffServer>[] = [
  { operation: 'servers.power', title: 'Power', button: 'Apply', notice: 'begun', when: isIdle },
  {
    operation: 'servers.rescue',
    title: 'Boot the rescue system',
    button: 'Boot rescue system',
    text: 'The password is shown once. A restart ends the rescue system.',
    when: ({ status }) => status === 'running',
    shows: ({ rescue }) => ({ Password: String((rescue as { password?: string }).password) }),
  },
  {
    operation: 'servers.open_console',
    title: 'Open the console',
    button: 'Create link',
    text: 'Creates a link that works once, within 5 minutes. The customer’s audit log shows it.',
    when: ({ status }) => status === 'running',
    shows: ({ url }) => ({ Link: String(url) }),
  },
  {
    operation: 'servers.move',
    title: 'Move to another host',
    button: 'Move server',
    text: 'It keeps running while its disk is copied.',
    notice: 'begun',
    when: ({ status }) => status !== 'destroying',
  },
  {
    operation: 'servers.resize',
    title: 'Give it another plan',
    button: 'Resize server',
    text: 'The customer is charged or credited as for their own resize.',
    notice: 'begun',
    when: ({ plans }) => plans.length > 0,
    values: () => ({ max_price_usd: 0 }),
  },
  {
    operation: 'servers.set_mail',
    title: 'Outbound SMTP',
    button: 'Save',
    notice: 'mail_changed',
    values: ({ mail_allowed: allowed }) => ({ allowed }),
  },
];

const BLACKHOLE_ACTS: readonly RoomAct<StaffServer>[] = [
  {
    operation: 'servers.blackhole',
    title: 'Blackhole its addresses',
    button: 'Blackhole',
    isDangerous: true,
    text: 'Its host drops all packets to and from these addresses. We mail the customer.',
    notice: 'blackholed',
    when: ({ status }) => status !== 'destroying',
    values: () => ({ address: 'both', minutes: 60 }),
  },
  {
    operation: 'servers.lift_blackhole',
    title: 'Lift the blackhole',
    button: 'Lift blackhole',
    notice: 'lifted',
    when: (row) => row.blackholed_until !== null,
  },
];

const LOCK_ACTS: readonly RoomAct<StaffServer>[] = [
  {
    operation: 'servers.freeze',
    title: 'Freeze the server',
    button: 'Freeze server',
    isDangerous: true,
    text: 'Powers the server off. Its customer can only view and delete it.',
    notice: 'server_frozen',
  },
  {
    operation: 'servers.release',
    title: 'Lift the freeze',
    button: 'Lift freeze',
    notice: 'server_released',
    when: (row) => row.frozen_at !== null,
  },
  {
    operation: 'servers.hold',
    title: 'Place a legal hold',
    button: 'Place hold',
    isDangerous: true,
    text: 'Preserves the server and its disk. It keeps running and cannot be deleted or overwritten.',
    notice: 'server_held',
  },
  {
    operation: 'servers.release_hold',
    title: 'Lift the legal hold',
    button: 'Lift hold',
    notice: 'server_released',
    when: (row) => row.hold_order !== null,
  },
  {
    operation: 'servers.rebuild',
    title: 'Install it again',
    button: 'Rebuild server',
    isDangerous: true,
    text: 'All data on its disk is lost.',
    notice: 'begun',
    when: isIdle,
  },
  {
    operation: 'servers.delete',
    title: 'Delete the server',
    button: 'Delete server',
    isDangerous: true,
    text: 'All data on its disk is lost, and the paid time is not refunded.',
    notice: 'begun',
    to: () => CONSOLE_PATHS.servers,
    when: ({ status }) => status !== 'destroying',
  },
];

export const SERVERS_ROOM: Room<StaffServer> = {
  section: 'servers',
  path: CONSOLE_PATHS.servers,
  title: 'Servers',
  many: 'servers',
  list: 'servers.list',
  search: 'Name, ID, customer, address, host, plan, region, or label',
  columns: [NAME, STATE, CUSTOMER, PLAN, REGION, HOST, { name: 'IPv4', value: ({ ipv4 }) => ipv4 }, PAID],
  filters: [
    ['customer', 'Customer'],
    ['status', 'Status'],
    ['region', 'Region'],
    ['plan', 'Plan'],
    ['host', 'Host'],
    ['label', 'Label'],
    ['frozen', 'Frozen'],
    ['held', 'Legal hold'],
  ],
  item: {
    get: 'servers.get',
    id: ({ id }) => id,
    title: ({ name }) => name,
    state: STATE,
    details: DETAILS,
    tables: TABLES,
    links: ({ id }) => [
      ['Floods', `${CONSOLE_PATHS.floods}?server=${encodeURIComponent(id)}`],
      ['Audit log', `${CONSOLE_PATHS.audit}?resource=${encodeURIComponent(id)}`],
      ['Staff log', `${CONSOLE_PATHS.log}?target=${encodeURIComponent(id)}`],
    ],
    acts: [...SUPPORT_ACTS, ...BLACKHOLE_ACTS, ...LOCK_ACTS],
  },
};
