import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import {
  type StaffTopup,
  type StaffTopupWithPayments,
  topupPath,
  topupsView,
  topupView,
} from '../../../panel/staff/topups.ts';
import { COIN_CODES } from '../../../spec/coins.ts';
import { TOPUP_STATUSES } from '../../../spec/states.ts';
import { field } from '../../form.ts';
import type { ConsolePage } from '../page.ts';
import { readFiltered } from './lists.ts';

export const TOPUP_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.topups,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = {
        customer: field(query, 'customer').trim(),
        status: field(query, 'status'),
        coin: field(query, 'coin'),
      };
      const { data, next } = await readFiltered<StaffTopup>(
        { query, read },
        'topups.list',
        filter,
        CONSOLE_PATHS.topups,
      );
      return topupsView({ filter, statuses: TOPUP_STATUSES, coins: COIN_CODES, topups: data, next });
    },
  },
  {
    path: `${CONSOLE_PATHS.topups}/{id}`,
    access: 'staff',
    render: async ({ params, forms, read, may }) =>
      topupView({
        forms,
        topup: await read<StaffTopupWithPayments>('topups.get', params),
        mayRelease: may('topups.release'),
      }),
    forms: {
      release: {
        operation: 'topups.release',
        done: (_answer, { id = '' }) => ({ to: topupPath(id), notice: 'released' }),
      },
    },
  },
];
