import type { ApiToken, CreatedApiToken } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { requireSingle } from '../find.ts';
import { listCommand, omitUndefined, requireChanges } from '../lists.ts';
import { arg, futureTime, requiredText, text } from '../options.ts';
import { type Column, fields, formatTime, hidden, times } from '../output/format.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';
import { confirm, YES_OPTION } from '../terminal/terminal.ts';
import { LIMIT_COLUMNS, LIMIT_OPTIONS, limitsField } from './token-limits.ts';

const TOKEN_COLUMNS: readonly Column<ApiToken>[] = [
  ...fields<ApiToken>('id', 'name', 'scope'),
  ...times<ApiToken>('last_used_at', 'expires_at'),
  ...hidden(fields<ApiToken>('created_by_token')),
  ...hidden(times<ApiToken>('created_at')),
  ...LIMIT_COLUMNS,
];

const CREATED_TOKEN_COLUMNS: readonly Column<CreatedApiToken>[] = [
  ...TOKEN_COLUMNS.filter(({ name }) => name !== 'last_used_at'),
  { name: 'token', value: ({ token }) => token },
];

const SCOPES = ['read', 'write', 'billing'] as const;

const list = listCommand({
  name: 'token list',
  about: 'List API tokens',
  operations: ['tokens.list'],
  options: {
    name: text('name', 'Filter by name'),
    scope: text('scope', 'Filter by scope', { choices: SCOPES }),
  },
  columns: TOKEN_COLUMNS,
  example: 'skerry token list --scope read',
  list: (skerry, query) => skerry.tokens.list(query),
});

const create = command({
  name: 'token create',
  about: 'Create an API token, which is shown only once',
  help:
    'The scope cannot exceed that of the token you use. For a script:\n' +
    '  skerry token create --name ci --scope write -o columns=token --no-header',
  operations: ['tokens.create'],
  options: {
    name: requiredText('name', 'Name of the token'),
    scope: requiredText('scope', 'Scope; each includes the previous ones', { choices: SCOPES }),
    expiresAt: futureTime('Expiration, no later than that of the token you use; omit for none'),
    ...LIMIT_OPTIONS,
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: CREATED_TOKEN_COLUMNS,
  example: 'skerry token create --name deploy --scope write --expires-at 90d',
  run: async (context, { name, scope, expiresAt, idempotencyKey: key, ...limits }) => {
    const { skerry, output, terminal } = context;
    const body = {
      name,
      scope: scope as (typeof SCOPES)[number],
      ...omitUndefined({ expires_at: expiresAt }),
      ...limitsField(limits),
    };
    const lookupCommand = ['skerry', 'token', 'list', '--name', name];
    const made = await createOnce(context, { key, subject: `token ${name}`, lookupCommand }, (once) =>
      skerry.tokens.create(body, once),
    );
    output.show(made, CREATED_TOKEN_COLUMNS);
    if (expiresEarlier(made, expiresAt)) {
      terminal.warn(
        `skerry: the token expires at ${formatTime(made.expires_at)} UTC, with the token that you use`,
      );
    }
    terminal.warn('skerry: the token is shown only once; store it now');
  },
});

/** A token expires no later than its creator. The service shows times in whole seconds. */
function expiresEarlier({ expires_at }: ApiToken, requested: string | undefined): boolean {
  if (expires_at === null) return false;
  return requested === undefined || Date.parse(expires_at) <= Date.parse(requested) - 1_000;
}

const IN_USE = {
  yes: 'skerry: you are using this token right now; revoking it ends your own access',
  perhaps: 'skerry: this token was used within the last minute; you may be using it right now',
  no: null,
} as const;

const TOKEN_ARG = arg('Name or ID', { completionKind: 'token' });

function pickToken(all: readonly ApiToken[], text: string): ApiToken {
  const byId = all.filter(({ id }) => id === text);
  return requireSingle(byId.length > 0 ? byId : all.filter(({ name }) => name === text), 'token', text);
}

const describe = command({
  name: 'token describe',
  aliases: ['get', 'show'],
  about: 'Show an API token with its limits',
  operations: ['tokens.get', 'tokens.list'],
  args: { token: TOKEN_ARG },
  options: {},
  columns: TOKEN_COLUMNS,
  example: 'skerry token describe ci',
  run: async ({ skerry, output }, { token: text }) => {
    const { id } = pickToken(await skerry.tokens.list().all(), text);
    output.show(await skerry.tokens.get(id), TOKEN_COLUMNS);
  },
});

const update = command({
  name: 'token update',
  about: 'Rename an API token or narrow its limits',
  help: 'Limits can only be narrowed. They also apply to the tokens that this token created.',
  operations: ['tokens.update', 'tokens.list'],
  args: { token: TOKEN_ARG },
  options: { name: text('name', 'New name'), ...LIMIT_OPTIONS },
  columns: TOKEN_COLUMNS,
  example: 'skerry token update ci --limit-spend 50 --limit-spend-period month --limit-servers 5',
  run: async ({ skerry, output }, { token: text, name, ...limits }) => {
    requireChanges({ name, ...limits });
    const { id } = pickToken(await skerry.tokens.list().all(), text);
    const patch = { ...omitUndefined({ name }), ...limitsField(limits) };
    output.show(await skerry.tokens.update(id, patch), TOKEN_COLUMNS);
  },
});

const remove = command({
  name: 'token delete',
  aliases: ['revoke', 'rm'],
  about: 'Revoke an API token immediately',
  operations: ['tokens.delete', 'tokens.list'],
  args: { token: TOKEN_ARG },
  options: { yes: YES_OPTION },
  example: 'skerry token delete ci --yes',
  run: async ({ skerry, terminal }, { token: text, yes }) => {
    const all = await skerry.tokens.list().all();
    const token = pickToken(all, text);
    const warning = IN_USE[checkInUse(token, all)];
    if (warning) terminal.warn(warning);
    await confirm(terminal, yes, `revoke token ${token.name} (${token.id}); requests with it will fail`);
    await skerry.tokens.delete(token.id);
    terminal.note(`Token ${token.name} revoked.`);
  },
});

export const TOKEN_COMMANDS: readonly Command[] = [list, describe, create, update, remove];

/** The maximum age of `last_used_at` for a token in use (SPEC "API token"). */
const LAST_USED_REFRESH_MS = 60_000;

/**
 * Whether this is the token in use: the API shows only when each token was last used. Listing the tokens used
 * ours, so it can only be one of those used shortly before the latest one. Times are compared with each
 * other, because this machine's clock may be wrong.
 */
export function checkInUse(token: ApiToken, all: readonly ApiToken[]): 'yes' | 'perhaps' | 'no' {
  const usedMs = (one: ApiToken) => (one.last_used_at === null ? 0 : Date.parse(one.last_used_at));
  const newestMs = Math.max(0, ...all.map(usedMs));
  const recent = all.filter((one) => usedMs(one) > 0 && usedMs(one) >= newestMs - LAST_USED_REFRESH_MS);
  if (!recent.some(({ id }) => id === token.id)) return 'no';
  return recent.length === 1 ? 'yes' : 'perhaps';
}
