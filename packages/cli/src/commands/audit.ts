import type { AuditEvent } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { arg, pastTime, text } from '../options.ts';
import { type Column, formatTime } from '../output/format.ts';

const COLUMNS: readonly Column<AuditEvent>[] = [
  { name: 'created_at', value: (event) => formatTime(event.created_at) },
  { name: 'action', value: (event) => event.action },
  { name: 'result', value: (event) => event.result },
  { name: 'resource', value: (event) => event.resource },
  { name: 'id', value: (event) => event.id, hidden: true },
  { name: 'actor_token', value: (event) => event.actor_token, hidden: true },
  { name: 'actor_session', value: (event) => event.actor_session, hidden: true },
  { name: 'request_id', value: (event) => event.request_id, hidden: true },
  { name: 'ip_country', value: (event) => event.ip_country, hidden: true },
];

const list = listCommand({
  name: 'audit list',
  aliases: ['ls'],
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

const describe = command({
  name: 'audit describe',
  aliases: ['get', 'show'],
  about: 'Show an audit event',
  operations: ['audit_events.get'],
  args: { event: arg('ID of the event; see `skerry audit list -o columns=id,action`') },
  columns: COLUMNS,
  example: 'skerry audit describe audit_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async ({ skerry, output }, { event }) => {
    output.show(await skerry.auditEvents.get(event), COLUMNS);
  },
});

export const AUDIT_COMMANDS: readonly Command[] = [list, describe];
