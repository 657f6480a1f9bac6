import type { ApiToken, CreatedApiToken } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const TOKEN_COLUMNS: readonly Column<ApiToken>[] = [
  { name: 'id', of: (token) => token.id },
  { name: 'name', of: (token) => token.name },
  { name: 'scope', of: (token) => token.scope },
  { name: 'last_used_at', of: (token) => time(token.last_used_at) },
  { name: 'expires_at', of: (token) => time(token.expires_at), hidden: true },
  { name: 'created_at', of: (token) => time(token.created_at), hidden: true },
];

export const CREATED_TOKEN_COLUMNS: readonly Column<CreatedApiToken>[] = [
  ...TOKEN_COLUMNS.filter(({ name }) => name !== 'last_used_at'),
  { name: 'token', of: ({ token }) => token },
];
