import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { type AuditItem, auditView, type StaffLogItem, staffLogView } from '../../../panel/staff/records.ts';
import { field } from '../../form.ts';
import type { ConsolePage } from '../page.ts';
import { readFiltered } from './lists.ts';

export const RECORD_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.audit,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = {
        customer: field(query, 'customer').trim(),
        action: field(query, 'action').trim(),
        resource: field(query, 'resource').trim(),
      };
      const { data, next } = await readFiltered<AuditItem>(
        { query, read },
        'audit.list',
        filter,
        CONSOLE_PATHS.audit,
      );
      return auditView({ filter, events: data, next });
    },
  },
  {
    path: CONSOLE_PATHS.log,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = { target: field(query, 'target').trim(), operation: field(query, 'operation').trim() };
      const all = { ...filter, staff: field(query, 'staff') };
      const { data, next } = await readFiltered<StaffLogItem>(
        { query, read },
        'staff_log.list',
        all,
        CONSOLE_PATHS.log,
      );
      return staffLogView({ filter, entries: data, next });
    },
  },
];
