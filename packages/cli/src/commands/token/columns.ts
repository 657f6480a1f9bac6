import type { ApiToken, CreatedApiToken } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const TOKEN_COLUMNS: readonly Column<ApiToken>[] = [
  { name: 'id', value: (token) => token.id },
  { name: 'name', value: (token) => token.name },
  { name: 'scope', value: (token) => token.scope },
  { name: 'last_used_at', value: (token) => formatTime(token.last_used_at) },
  { name: 'expires_at', value: (token) => formatTime(token.expires_at), hidden: true },
  { name: 'created_at', value: (token) => formatTime(token.created_at), hidden: true },
];

export const CREATED_TOKEN_COLUMNS: readonly Column<CreatedApiToken>[] = [
  ...TOKEN_COLUMNS.filter(({ name }) => name !== 'last_used_at'),
  { name: 'token', value: ({ token }) => token },
];
