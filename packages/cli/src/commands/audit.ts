import type { AuditEvent } from '@skerry/sdk';
import type { Command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { pastTime, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { describeCommand } from '../resources.ts';

const COLUMNS: readonly Column<AuditEvent>[] = [
  ...times<AuditEvent>('created_at'),
  ...fields<AuditEvent>('action', 'result', 'resource'),
  ...hidden(fields<AuditEvent>('id', 'actor_token', 'actor_session', 'request_id', 'ip_country')),
];

const list = listCommand({
  name: 'audit list',
  about: 'List changes of the last 90 days',
  operations: ['audit_events.list'],
  options: {
    action: text('action', 'Filter by action, such as server.create'),
    resource: text('id', 'Filter by resource'),
    from: pastTime('Start time, inclusive'),
    to: pastTime('End time, exclusive'),
  },
  columns: COLUMNS,
  example: 'skerry audit list --action token.create --from 7d',
  list: (skerry, query) => skerry.auditEvents.list(query),
});

const describe = describeCommand(
  {
    word: 'audit',
    argument: 'event',
    about: 'ID of the event; see `skerry audit list -o columns=id,action`',
    find: (skerry, id) => skerry.auditEvents.get(id),
    calls: ['audit_events.get'],
  },
  {
    about: 'Show an audit event',
    columns: COLUMNS,
    example: 'skerry audit describe audit_aaaqk3m7qzb5x2l6v4t7n8wyja',
  },
);

export const AUDIT_COMMANDS: readonly Command[] = [list, describe];
