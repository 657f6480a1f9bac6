import type { Balance, LedgerEntry } from '@skerry/sdk';
import { command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { text } from '../options.ts';
import { amounts, type Column, fields, formatTime, formatUsd, hidden, times } from '../output/format.ts';

const BALANCE_COLUMNS: readonly Column<Balance>[] = [
  { name: 'usd', value: (balance) => formatUsd(balance.usd) },
  { name: 'as_of', label: 'As of (UTC)', value: (balance) => formatTime(balance.as_of) },
  { name: 'active_servers', label: 'Running servers', value: (balance) => balance.active_servers },
  { name: 'daily_cost_usd', value: (balance) => formatUsd(balance.daily_cost_usd) },
  { name: 'runway_until', label: 'Paid until', value: (balance) => balance.runway_until },
  {
    name: 'low_balance_at',
    label: 'Low-balance notice on',
    value: (balance) => formatTime(balance.low_balance_at),
  },
];

export const balance = command({
  name: 'balance',
  about: 'Show the balance and how long it lasts',
  help: `Servers are paid in advance from the balance, one billing cycle at a time. "Paid until"
(runway_until) is the earliest end of a cycle among running servers. The daily cost is for comparison;
nothing is charged daily. Requires a token with scope billing.`,
  operations: ['balance.get'],
  columns: BALANCE_COLUMNS,
  example: 'skerry balance',
  run: async ({ skerry, output }) => {
    output.show(await skerry.balance.get(), BALANCE_COLUMNS);
  },
});

const TYPES = ['charge', 'topup', 'bonus', 'refund', 'adjustment', 'reversal'] as const;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  ...times<LedgerEntry>('created_at'),
  ...fields<LedgerEntry>('type'),
  ...amounts<LedgerEntry>('amount_usd', 'balance_after_usd'),
  ...fields<LedgerEntry>('description'),
  ...hidden(fields<LedgerEntry>('id', 'resource')),
];

export const ledger = listCommand({
  name: 'ledger',
  about: 'List charges, top-ups, and refunds; requires a token with scope billing',
  operations: ['ledger.list'],
  options: { type: text('type', 'Filter by type', { choices: TYPES }) },
  columns: COLUMNS,
  example: 'skerry ledger --type charge --limit 20',
  list: (skerry, query) => skerry.ledger.list(query),
});
