import type { Balance } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { type Column, time, usd } from '../../output/columns.ts';

const BALANCE_COLUMNS: readonly Column<Balance>[] = [
  { name: 'usd', of: (balance) => usd(balance.usd) },
  { name: 'as_of', of: (balance) => time(balance.as_of) },
  { name: 'active_servers', of: (balance) => balance.active_servers },
  { name: 'daily_cost_usd', of: (balance) => usd(balance.daily_cost_usd) },
  { name: 'runway_until', of: (balance) => balance.runway_until },
  { name: 'low_balance_at', of: (balance) => time(balance.low_balance_at) },
];

const balance = command({
  name: 'balance',
  about: 'Show the balance and how far it reaches',
  help: `Servers are paid from the balance in advance, a cycle at a time. runway_until is the earliest end of a cycle among
those that run; daily_cost_usd is for comparison, nothing is charged daily. Needs a token of scope billing.`,
  does: ['balance.get'],
  columns: BALANCE_COLUMNS,
  example: 'skerry balance',
  run: async ({ skerry, output }) => {
    output.show(await skerry.balance.get(), BALANCE_COLUMNS);
  },
});

export const BALANCE_COMMANDS: readonly Command[] = [balance];
