import { type CustomerItem, customerPath, customersView } from '../../../panel/staff/customers.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { field } from '../../form.ts';
import type { ConsoleContext, ConsolePage, ConsoleResult } from '../page.ts';
import { CUSTOMER_ITEM_PAGES } from './customer.ts';
import { type ListAnswer, readFiltered } from './lists.ts';

/** Leads to the only match, or to the customers whose address begins with the text. */
async function findCustomer(read: ConsoleContext['read'], search: string): Promise<ConsoleResult> {
  if (search === '') return { to: CONSOLE_PATHS.customers };
  const { data } = await read<ListAnswer<CustomerItem>>('customers.list', {}, { search, limit: '2' });
  const [found, another] = data;
  if (found && !another) return { to: customerPath(found.id) };
  if (!found) return { to: CONSOLE_PATHS.customers, notice: 'not_found' };
  return { to: `${CONSOLE_PATHS.customers}?${new URLSearchParams({ search })}` };
}

export const CUSTOMER_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.customers,
    access: 'staff',
    render: async ({ forms, query, read }) => {
      const search = field(query, 'search');
      const tag = field(query, 'tag').trim();
      const { data, next } = await readFiltered<CustomerItem>(
        { query, read },
        'customers.list',
        { search, tag },
        CONSOLE_PATHS.customers,
      );
      return customersView({ forms, search, tag, customers: data, next });
    },
    forms: {
      find: {
        // Not in a URL: what is searched for may be an IP address.
        run: async (call, form) => await findCustomer(call.read, field(form, 'search').trim()),
      },
    },
  },
  ...CUSTOMER_ITEM_PAGES,
];
