import type { Account, Limit } from '@skerry/sdk';
import { command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { text } from '../options.ts';
import { type Column, fields, formatTime, times } from '../output/format.ts';

const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  ...fields<Account>('id', 'status', 'email'),
  ...times<Account>('created_at'),
  { name: 'token_id', value: ({ token }) => token.id },
  { name: 'token_name', value: ({ token }) => token.name },
  { name: 'token_scope', value: ({ token }) => token.scope },
  {
    name: 'token_expires_at',
    label: 'Token expires at (UTC)',
    value: ({ token }) => formatTime(token.expires_at),
  },
];

export const account = command({
  name: 'account',
  about: 'Show the account and the token that you use',
  help: 'Shows the email address only to a token with scope billing.',
  operations: ['account.get'],
  columns: ACCOUNT_COLUMNS,
  example: 'skerry account',
  run: async ({ skerry, output }) => {
    output.show(await skerry.account.get(), ACCOUNT_COLUMNS);
  },
});

export const limits = listCommand({
  name: 'limits',
  about: 'List the limits of the account, and how much of each is used',
  operations: ['limits.list'],
  options: { sort: text('field', 'Sort by name; -name reverses the order') },
  columns: fields<Limit>('name', 'used', 'limit', 'per'),
  example: 'skerry limits',
  filter: () => ({}),
  list: (skerry, query) => skerry.limits.list(query),
});
