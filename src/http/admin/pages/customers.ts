import {
  type CustomerFacts,
  type CustomerItem,
  customerPath,
  customersView,
  customerView,
} from '../../../panel/staff/customers.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import type { ConsoleNotice } from '../../../panel/staff/notices.ts';
import type { StaffOperation } from '../../../spec/staff.ts';
import { field } from '../../form.ts';
import type { ConsolePage, OperationForm } from '../page.ts';
import type { ListAnswer } from './lists.ts';

function actOn(operation: StaffOperation, notice: ConsoleNotice): OperationForm {
  return { operation, done: (_answer, { id = '' }) => ({ to: customerPath(id), notice }) };
}

export const CUSTOMER_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.customers,
    access: 'staff',
    render: async ({ query, read }) => {
      const search = field(query, 'search');
      const before = field(query, 'before');
      const filter = { ...(search && { search }), ...(before && { before }) };
      const list = await read<ListAnswer<CustomerItem>>('customers.list', {}, filter);
      const last = list.has_more ? list.data.at(-1) : undefined;
      const next = last && new URLSearchParams({ ...(search && { search }), before: last.id });
      return customersView({
        search,
        customers: list.data,
        next: next ? `${CONSOLE_PATHS.customers}?${next}` : null,
      });
    },
  },
  {
    path: `${CONSOLE_PATHS.customers}/{id}`,
    access: 'staff',
    render: async ({ params, forms, read, may }) =>
      customerView({
        forms,
        customer: await read<CustomerFacts>('customers.get', params),
        may: {
          freeze: may('customers.freeze'),
          credit: may('customers.credit'),
          disableTotp: may('customers.disable_totp'),
        },
      }),
    forms: {
      freeze: actOn('customers.freeze', 'frozen'),
      unfreeze: actOn('customers.unfreeze', 'unfrozen'),
      disable_totp: actOn('customers.disable_totp', 'totp_off'),
      credit: {
        ...actOn('customers.credit', 'credited'),
        body: (form) => ({ amount_usd: field(form, 'amount_usd'), description: field(form, 'description') }),
      },
    },
  },
];
