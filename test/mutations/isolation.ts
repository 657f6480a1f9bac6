/** Faults in what a customer, a token, or a session may reach. */
import type { Mutation } from './mutation.ts';

export const ISOLATION: readonly Mutation[] = [
  {
    name: 'a volume of another customer is found',
    file: 'src/store/volumes/volumes.ts',
    find: 'where id = $1 and customer_id = $2 and deleted_at is null`,',
    replace: 'where id = $1 and $2::uuid is not null and deleted_at is null`,',
    caughtBy: {
      file: 'test/http/v1/contract/foreign-ids.test.ts',
      name: 'answers a foreign id exactly like an unknown one',
    },
    budgetS: 120,
    figure: 'foreign_ids',
    level: 'full',
  },
  {
    name: 'an SSH key of another customer may be installed',
    file: 'src/store/servers/orders.ts',
    find: 'where customer_id = $customerId and id = any($sshKeys',
    replace: 'where id = any($sshKeys',
    caughtBy: {
      file: 'test/http/v1/servers.test.ts',
      name: 'an order with an unknown or insufficient reference is rejected with the field',
    },
    runsWholeFile: true,
    budgetS: 40,
    figure: 'foreign_ids',
  },
  {
    name: 'any scope covers every operation',
    file: 'src/http/v1/admit.ts',
    find: '|| scopeCovers(caller.scope, route.scope)) return;',
    replace: '|| caller.scope !== null) return;',
    caughtBy: {
      file: 'test/http/v1/contract/every-route.test.ts',
      name: 'every route admits exactly the scopes that cover its own',
    },
    budgetS: 40,
    figure: 'scopes',
  },
  {
    name: 'an expired token is accepted',
    file: 'src/domain/tokens/identify-bearer.ts',
    find: 'if (row.id === null || (row.expires_at !== null && row.expires_at <= now)) {',
    replace: 'if (row.id === null) {',
    caughtBy: {
      file: 'test/http/v1/contract/every-route.test.ts',
      name: 'every route answers 401 to a missing, malformed, unknown, expired, or revoked',
    },
    budgetS: 40,
    figure: 'scopes',
  },
  {
    name: 'a revoked token is accepted',
    file: 'src/store/customers/tokens.ts',
    find: 'deleted as (delete from api_tokens t using doomed d',
    replace: 'deleted as (update api_tokens t set name = t.name from doomed d',
    caughtBy: {
      file: 'test/http/v1/tokens.test.ts',
      name: 'a token stops working the moment it is revoked, even with itself',
    },
    budgetS: 40,
    figure: 'scopes',
  },
  {
    name: 'the old session goes on after a sign-in',
    file: 'src/domain/sessions/open.ts',
    find: '  if (visit.actor.sessionId !== null) await deleteSession(tx, visit.actor.sessionId);\n',
    replace: '',
    caughtBy: {
      file: 'test/http/session/auth.test.ts',
      name: 'signing in and signing out renew the cookie, and the old cookie is worthless',
    },
    budgetS: 40,
    figure: 'session_id',
  },
  {
    name: 'a sign-in to an unknown account skips the work',
    file: 'src/domain/customers/sign-in.ts',
    find: 'const matches = await service.passwords.verify(',
    replace: 'const matches = customer && await service.passwords.verify(',
    caughtBy: {
      file: 'test/domain/customers/customers.test.ts',
      name: 'an unknown address takes the same work as an incorrect password',
    },
    budgetS: 40,
    figure: 'sign_in_time',
  },
];
