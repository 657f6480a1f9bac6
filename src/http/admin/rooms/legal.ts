/** Legal orders, and the acts that carry one out. */
import type { LegalOrder, LegalOrderItem } from '../../../domain/staff/legal/read.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type Shown, tableOf } from '../../../panel/staff/room.ts';
import { LEGAL_KIND_NAMES } from '../../../spec/staff/legal.ts';
import { type Room, roomItemPath } from '../room.ts';
import type { RoomAct } from '../room-acts.ts';

const PLACE = { path: CONSOLE_PATHS.legalOrders };

const STATE: Shown<LegalOrderItem> = {
  name: 'State',
  value: ({ state, overdue }) => (overdue ? 'overdue' : state),
  as: 'state',
  tones: { open: 'busy', overdue: 'bad', complied: 'good', partly: 'good', refused: 'off' },
};

const KIND: Shown<LegalOrderItem> = { name: 'Kind', value: ({ kind }) => LEGAL_KIND_NAMES[kind] };

const GAG: Shown<LegalOrderItem> = {
  name: 'Gag',
  value: ({ gagged }) => (gagged ? 'do not tell the customer' : null),
  as: 'state',
  tones: { 'do not tell the customer': 'bad' },
};

const CUSTOMER: Shown<LegalOrderItem> = {
  name: 'Customer',
  value: (row) => row.customer_email ?? row.customer,
  link: ({ customer, customer_email: email }) =>
    customer === null || email === null ? null : `${CONSOLE_PATHS.customers}/${customer}`,
};

const isOpen = ({ state }: LegalOrder): boolean => state === 'open';

/** The staff log finds the acts of an order by its id in the reason. */
const reason = ({ id }: LegalOrder): string => `Legal order ${id}`;

const OF_SERVER = {
  target: { label: 'Server', value: ({ server }: LegalOrder) => server ?? '' },
  reason,
} as const;

const OF_CUSTOMER = {
  target: { label: 'Customer', value: ({ customer }: LegalOrder) => customer ?? '' },
  reason,
} as const;

const RECORD_ACTS: readonly RoomAct<LegalOrder>[] = [
  {
    operation: 'legal_orders.close',
    title: 'Record the result',
    button: 'Close order',
    text: 'A closed record no longer changes. Documents can still be attached.',
    when: isOpen,
  },
  {
    operation: 'legal_orders.change',
    title: 'Edit the record',
    button: 'Save record',
    when: isOpen,
    values: ({ kind, authority, reference, note, received_at: received, due_at: due, gag_until: gag }) => ({
      ...{ kind, authority, reference, note, received, due: due ?? '', gag_until: gag ?? '' },
    }),
  },
  {
    operation: 'legal_orders.set_subject',
    title: 'Change the subject',
    button: 'Save subject',
    text: 'Name one of a customer, a server, and an address. It replaces the subject.',
    when: isOpen,
  },
];

const SERVER_ACTS: readonly RoomAct<LegalOrder>[] = [
  {
    operation: 'servers.hold',
    title: 'Place a legal hold',
    button: 'Place hold',
    text: 'The server keeps running, and its disk is kept. The customer sees the hold and its text.',
    ...OF_SERVER,
    when: (order) => isOpen(order) && order.server !== null,
  },
  {
    operation: 'servers.freeze',
    title: 'Freeze the server',
    button: 'Freeze server',
    isDangerous: true,
    text: 'It is powered off and read-only. The customer sees the message.',
    ...OF_SERVER,
    when: (order) => isOpen(order) && order.server !== null,
  },
  {
    operation: 'servers.release_hold',
    title: 'Lift the legal hold',
    button: 'Lift hold',
    ...OF_SERVER,
    when: (order) => order.server !== null,
  },
];

const CUSTOMER_ACTS: readonly RoomAct<LegalOrder>[] = [
  {
    operation: 'customers.freeze',
    title: 'Freeze the account',
    button: 'Freeze account',
    isDangerous: true,
    text: 'The account becomes read-only, and the customer sees that. Its servers keep running.',
    ...OF_CUSTOMER,
    when: (order) => isOpen(order) && order.customer_email !== null,
  },
  {
    operation: 'customers.export',
    title: 'Export the data of the customer',
    button: 'Export data',
    text: 'Everything that we store about the account, as JSON. Hand out only what the order covers.',
    ...OF_CUSTOMER,
    fileName: ({ id = '' }) => `${id}.json`,
    when: (order) => order.customer_email !== null,
  },
];

export const LEGAL_ORDERS_ROOM: Room<LegalOrder> = {
  section: 'legalOrders',
  ...PLACE,
  title: 'Legal orders',
  many: 'legal orders',
  intro: 'Requests and orders of authorities, with their documents. Only owners see this page.',
  list: 'legal_orders.list',
  filters: [
    ['state', 'State'],
    ['kind', 'Kind'],
    ['customer', 'Customer'],
  ],
  columns: [
    { name: 'Reference', value: (row) => row.reference, link: ({ id }) => roomItemPath(PLACE, id) },
    STATE,
    KIND,
    { name: 'Authority', value: ({ authority }) => authority },
    CUSTOMER,
    { name: 'Received', value: (row) => row.received_at, as: 'time' },
    { name: 'Due', value: (row) => row.due_at, as: 'time' },
    GAG,
  ],
  creates: [{ operation: 'legal_orders.create', title: 'Record an order', button: 'Record order' }],
  item: {
    get: 'legal_orders.get',
    id: ({ id }) => id,
    title: ({ reference }) => reference,
    state: STATE,
    details: [
      { name: 'Order', value: ({ id }) => id, as: 'code' },
      KIND,
      { name: 'Authority', value: ({ authority }) => authority },
      GAG,
      { name: 'Gag until', value: (row) => row.gag_until, as: 'time' },
      CUSTOMER,
      {
        name: 'Server',
        value: (row) => row.server_name ?? row.server,
        link: ({ server, server_name: name }) =>
          name === null ? null : `${CONSOLE_PATHS.servers}/${server}`,
      },
      { name: 'IP address', value: ({ address }) => address, as: 'code' },
      { name: 'Address used', value: (row) => row.address_at, as: 'time' },
      { name: 'Received', value: (row) => row.received_at, as: 'time' },
      { name: 'Due', value: (row) => row.due_at, as: 'time' },
      { name: 'Closed', value: (row) => row.closed_at, as: 'time' },
      { name: 'Data handed out', value: (row) => (row.closed_at === null ? null : row.data_handed_out) },
      { name: 'Note', value: ({ note }) => note },
    ],
    tables: [
      tableOf<LegalOrder, LegalOrder['documents'][number]>({
        title: 'Documents',
        rows: ({ documents }) => documents,
        empty: 'There are no documents.',
        columns: [
          {
            name: 'Name',
            value: ({ name }) => name,
            link: ({ order, id }) => `${roomItemPath(PLACE, order)}/documents/${id}`,
          },
          { name: 'Type', value: ({ type }) => type },
          { name: 'Bytes', value: (row) => row.size_bytes, as: 'number' },
          { name: 'Attached', value: (row) => row.created_at, as: 'time' },
        ],
      }),
      tableOf<LegalOrder, LegalOrder['acts'][number]>({
        title: 'Acts',
        rows: ({ acts }) => acts,
        empty: 'No act has the id of this order in its reason.',
        columns: [
          { name: 'Time', value: (row) => row.created_at, as: 'time' },
          { name: 'Operation', value: ({ operation }) => operation },
          { name: 'Target', value: ({ target }) => target, as: 'short' },
          { name: 'Person', value: ({ staff }) => staff ?? 'a command' },
          { name: 'Result', value: ({ result }) => result },
        ],
      }),
    ],
    links: ({ id }) => [
      ['Attach a document', `${roomItemPath(PLACE, id)}/attach`],
      ['Look up an address', CONSOLE_PATHS.addresses],
    ],
    acts: [...RECORD_ACTS, ...SERVER_ACTS, ...CUSTOMER_ACTS],
  },
};
