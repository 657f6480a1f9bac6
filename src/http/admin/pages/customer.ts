import {
  type CustomerFacts,
  type CustomerLimit,
  type CustomerServer,
  type CustomerTopup,
  customerView,
  ledgerPath,
  ledgerView,
  limitsPath,
  limitsView,
  type StaffNote,
} from '../../../panel/staff/customer.ts';
import { accountView, type ViewedAccount } from '../../../panel/staff/customer-view.ts';
import { customerPath } from '../../../panel/staff/customers.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { PANEL_FIELDS } from '../../../spec/paths.ts';
import type { LedgerEntry } from '../../../spec/schemas/balance.ts';
import { field } from '../../form.ts';
import type { ConsoleContext, ConsolePage } from '../page.ts';
import { actForms, type RoomAct, shownActs } from '../room-acts.ts';
import { type ListAnswer, readFiltered } from './lists.ts';

const PATH = `${CONSOLE_PATHS.customers}/{id}`;
const EXCERPT_ROWS = '20';

/** The pages of a customer show what the act returned, once. */
const VIEW_ACTS: readonly RoomAct<CustomerFacts>[] = [
  {
    operation: 'customers.view',
    title: 'View the account',
    button: 'View account',
    text:
      'Shows the resources as the customer’s own API shows them, without secrets. You cannot change ' +
      'anything. The customer’s audit log tells that we looked.',
    shows: (answer) => ({ view: JSON.stringify(answer) }),
  },
];

const LIMIT_ACTS: readonly RoomAct<readonly CustomerLimit[]>[] = [
  {
    operation: 'customers.set_limits',
    title: 'Change the limits',
    button: 'Save limits',
    text: 'If a field is empty, the limit of the service applies. A limit below the usage deletes nothing.',
    values: (limits) => Object.fromEntries(limits.map(({ name, own }) => [name, own])),
  },
];

const ACTS: readonly RoomAct<CustomerFacts>[] = [
  {
    operation: 'customers.credit',
    title: 'Credit the balance',
    button: 'Credit',
    notice: 'credited',
  },
  {
    operation: 'customers.debit',
    title: 'Debit the balance',
    button: 'Debit',
    isDangerous: true,
    text: 'Takes at most the balance: a debit never makes it negative.',
    notice: 'debited',
  },
  {
    operation: 'customers.add_note',
    title: 'Add a note',
    button: 'Add note',
  },
  {
    operation: 'customers.set_tags',
    title: 'Tags',
    button: 'Save tags',
    values: ({ tags }) => ({ tags: tags.join(' ') }),
  },
  {
    operation: 'customers.freeze',
    title: 'Freeze the account',
    button: 'Freeze account',
    isDangerous: true,
    text: 'A frozen customer can view everything and change nothing. Servers keep running.',
    when: (row) => row.frozen_at === null,
    notice: 'frozen',
  },
  {
    operation: 'customers.unfreeze',
    title: 'Lift the freeze',
    button: 'Lift freeze',
    when: (row) => row.frozen_at !== null,
    notice: 'unfrozen',
  },
  {
    operation: 'customers.disable_totp',
    title: 'Turn off one-time codes',
    button: 'Turn off',
    isDangerous: true,
    text: 'For a customer who lost both their phone and their recovery code. We notify them by email.',
    when: (row) => row.totp_since !== null,
    notice: 'totp_off',
  },
  {
    operation: 'customers.export',
    title: 'Export the data',
    button: 'Download export',
    text:
      'One JSON document with everything stored about the customer, without secrets. Reload this page to ' +
      'download it again.',
    fileName: () => 'customer.json',
  },
  {
    operation: 'customers.delete',
    title: 'Delete the account',
    button: 'Delete account',
    isDangerous: true,
    text:
      'Deletes the account, its resources, and its personal data for good. The balance is forfeited. To ' +
      'preserve an account, freeze it.',
    when: (row) => row.deleting_at === null,
    to: () => CONSOLE_PATHS.customers,
    notice: 'deletion_started',
  },
];

async function renderCustomer(context: ConsoleContext) {
  const { params, forms, read } = context;
  const customer = await read<CustomerFacts>('customers.get', params);
  const filter = { customer: customer.id, limit: EXCERPT_ROWS };
  const [servers, topups, ledger, notes] = await Promise.all([
    read<ListAnswer<CustomerServer>>('servers.list', {}, filter),
    read<ListAnswer<CustomerTopup>>('topups.list', {}, filter),
    read<ListAnswer<LedgerEntry>>('customers.ledger', params, { limit: EXCERPT_ROWS }),
    read<ListAnswer<StaffNote>>('customers.notes', params),
  ]);
  const listPath = (path: string) => `${path}?${new URLSearchParams({ customer: customer.id })}`;
  return customerView({
    ...{ forms, customer },
    servers: { items: servers.data, path: listPath(CONSOLE_PATHS.servers) },
    topups: { items: topups.data, path: listPath(CONSOLE_PATHS.topups) },
    ledger: { items: ledger.data, path: ledgerPath(customer.id) },
    notes: notes.data,
    mayDeleteNotes: context.may('customers.delete_note'),
    acts: shownActs(ACTS, customer, context),
  });
}

export const CUSTOMER_ITEM_PAGES: readonly ConsolePage[] = [
  {
    path: PATH,
    access: 'staff',
    render: renderCustomer,
    forms: {
      ...actForms(ACTS, (_answer, { id = '' }) => ({ to: customerPath(id) })),
      'customers.delete_note': {
        operation: 'customers.delete_note',
        body: (form) => ({ note: field(form, PANEL_FIELDS.key) }),
        done: (_answer, { id = '' }) => ({ to: customerPath(id), notice: 'saved' }),
      },
    },
  },
  {
    path: `${PATH}/view`,
    access: 'staff',
    render: async (context) => {
      const { params, forms, read, shown } = context;
      const customer = await read<CustomerFacts>('customers.get', params);
      const viewed = shown?.view === undefined ? null : (JSON.parse(shown.view) as ViewedAccount);
      return accountView({ forms, customer, viewed, acts: shownActs(VIEW_ACTS, customer, context) });
    },
    forms: actForms(VIEW_ACTS, (_answer, { id = '' }) => ({ to: customerPath(id) })),
  },
  {
    path: `${PATH}/limits`,
    access: 'staff',
    render: async (context) => {
      const { params, forms, read } = context;
      const customer = await read<CustomerFacts>('customers.get', params);
      const { data } = await read<ListAnswer<CustomerLimit>>('customers.limits', params);
      return limitsView({ forms, customer, limits: data, acts: shownActs(LIMIT_ACTS, data, context) });
    },
    forms: actForms(LIMIT_ACTS, (_answer, { id = '' }) => ({ to: limitsPath(id) })),
  },
  {
    path: `${PATH}/ledger`,
    access: 'staff',
    render: async ({ params, query, read }) => {
      const customer = await read<CustomerFacts>('customers.get', params);
      const { data, next } = await readFiltered<LedgerEntry>(
        { query, read: (operation, _params, page) => read(operation, params, page) },
        'customers.ledger',
        {},
        ledgerPath(customer.id),
      );
      return ledgerView({ customer, entries: data, next });
    },
  },
];
