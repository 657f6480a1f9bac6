import { type CustomerFacts, customerView, ledgerPath, ledgerView } from '../../../panel/staff/customer.ts';
import { customerPath } from '../../../panel/staff/customers.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { StaffServer } from '../../../panel/staff/servers.ts';
import type { StaffTopup } from '../../../panel/staff/topups.ts';
import type { LedgerEntry } from '../../../spec/schemas/balance.ts';
import type { ConsoleContext, ConsolePage } from '../page.ts';
import { actForms, type RoomAct, shownActs } from '../room.ts';
import { type ListAnswer, readFiltered } from './lists.ts';

const PATH = `${CONSOLE_PATHS.customers}/{id}`;
const EXCERPT_ROWS = '20';

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
];

async function renderCustomer(context: ConsoleContext) {
  const { params, forms, read } = context;
  const customer = await read<CustomerFacts>('customers.get', params);
  const filter = { customer: customer.id, limit: EXCERPT_ROWS };
  const [servers, topups, ledger] = await Promise.all([
    read<ListAnswer<StaffServer>>('servers.list', {}, filter),
    read<ListAnswer<StaffTopup>>('topups.list', {}, filter),
    read<ListAnswer<LedgerEntry>>('customers.ledger', params, { limit: EXCERPT_ROWS }),
  ]);
  const listPath = (path: string) => `${path}?${new URLSearchParams({ customer: customer.id })}`;
  return customerView({
    ...{ forms, customer },
    servers: { items: servers.data, path: listPath(CONSOLE_PATHS.servers) },
    topups: { items: topups.data, path: listPath(CONSOLE_PATHS.topups) },
    ledger: { items: ledger.data, path: ledgerPath(customer.id) },
    acts: shownActs(ACTS, customer, context),
  });
}

export const CUSTOMER_ITEM_PAGES: readonly ConsolePage[] = [
  {
    path: PATH,
    access: 'staff',
    render: renderCustomer,
    forms: actForms(ACTS, (_answer, { id = '' }) => ({ to: customerPath(id) })),
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
