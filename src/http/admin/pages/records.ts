import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import {
  type AuditItem,
  auditView,
  overviewView,
  type StaffLogItem,
  type StatusFinding,
  staffLogView,
} from '../../../panel/staff/records.ts';
import { field } from '../../form.ts';
import type { ConsolePage } from '../page.ts';
import type { ListAnswer } from './lists.ts';

export const RECORD_PAGES: readonly ConsolePage[] = [
  {
    path: CONSOLE_PATHS.overview,
    access: 'staff',
    render: async ({ read }) => {
      const { findings } = await read<{ findings: StatusFinding[] }>('status.get');
      return overviewView(findings);
    },
  },
  {
    path: CONSOLE_PATHS.audit,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = {
        customer: field(query, 'customer').trim(),
        action: field(query, 'action').trim(),
        resource: field(query, 'resource').trim(),
      };
      const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
      const { data, has_more: hasMore } = await read<ListAnswer<AuditItem>>('audit.list', {}, given);
      return auditView({ filter, events: data, hasMore });
    },
  },
  {
    path: CONSOLE_PATHS.log,
    access: 'staff',
    render: async ({ query, read }) => {
      const filter = { target: field(query, 'target').trim(), operation: field(query, 'operation').trim() };
      const before = field(query, 'before');
      const all = { ...filter, staff: field(query, 'staff') };
      const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
      const list = await read<ListAnswer<StaffLogItem>>(
        'staff_log.list',
        {},
        {
          ...given,
          ...(before && { before }),
        },
      );
      const last = list.has_more ? list.data.at(-1) : undefined;
      const next = last && `${CONSOLE_PATHS.log}?${new URLSearchParams({ ...given, before: last.id })}`;
      return staffLogView({ filter, entries: list.data, next: next ?? null });
    },
  },
];
