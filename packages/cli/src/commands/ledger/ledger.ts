import type { LedgerEntry } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { text } from '../../options.ts';
import { type Column, formatTime, formatUsd } from '../../output/columns.ts';

const TYPES = ['charge', 'topup', 'bonus', 'refund', 'adjustment', 'reversal'] as const;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  { name: 'created_at', value: (entry) => formatTime(entry.created_at) },
  { name: 'type', value: (entry) => entry.type },
  { name: 'amount_usd', value: (entry) => formatUsd(entry.amount_usd) },
  { name: 'balance_after_usd', value: (entry) => formatUsd(entry.balance_after_usd) },
  { name: 'description', value: (entry) => entry.description },
  { name: 'id', value: (entry) => entry.id, hidden: true },
  { name: 'resource', value: (entry) => entry.resource, hidden: true },
];

const ledger = command({
  name: 'ledger',
  about: 'List charges, top-ups, and refunds; requires a token with scope billing',
  operations: ['ledger.list'],
  options: { type: text('type', 'Filter by type', { choices: TYPES }), ...LIST_OPTIONS },
  columns: COLUMNS,
  example: 'skerry ledger --type charge --limit 20',
  run: async (context, { type, sort, limit }) => {
    const query = omitUndefined({ filter: omitUndefined({ type }), sort }) as object;
    await showList(context, context.skerry.ledger.list(query), limit, COLUMNS);
  },
});

export const LEDGER_COMMANDS: readonly Command[] = [ledger];
