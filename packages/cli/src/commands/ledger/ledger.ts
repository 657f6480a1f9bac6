import type { LedgerEntry } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { given, LISTS, showList } from '../../lists.ts';
import { text } from '../../options.ts';
import { type Column, time, usd } from '../../output/columns.ts';

const TYPES = ['charge', 'topup', 'bonus', 'refund', 'adjustment', 'reversal'] as const;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  { name: 'created_at', of: (entry) => time(entry.created_at) },
  { name: 'type', of: (entry) => entry.type },
  { name: 'amount_usd', of: (entry) => usd(entry.amount_usd) },
  { name: 'balance_after_usd', of: (entry) => usd(entry.balance_after_usd) },
  { name: 'description', of: (entry) => entry.description },
  { name: 'id', of: (entry) => entry.id, hidden: true },
  { name: 'resource', of: (entry) => entry.resource, hidden: true },
];

const ledger = command({
  name: 'ledger',
  about: 'List charges, top-ups and what was given back; needs a token of scope billing',
  does: ['ledger.list'],
  options: { type: text('type', 'Only of this type.', { choices: TYPES }), ...LISTS },
  columns: COLUMNS,
  example: 'skerry ledger --type charge --limit 20',
  run: async (context, { type, sort, limit }) => {
    const query = given({ filter: given({ type }), sort }) as object;
    await showList(context, context.skerry.ledger.list(query), limit, COLUMNS);
  },
});

export const LEDGER_COMMANDS: readonly Command[] = [ledger];
