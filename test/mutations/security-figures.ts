/** The figures of security. */
import type { Figure } from './figure.ts';

const ROUTES = 'test/http/v1/contract/every-route.test.ts';

export const SECURITY = {
  foreign_ids: {
    title: 'Ids of other customers',
    what: 'Every place for an id, in the path and the body of each route, has an id of another customer.',
    holds: 'The response to a missing one: 404 in a path, 422 in a body.',
    tests: [
      {
        file: 'test/http/v1/contract/foreign-ids.test.ts',
        name: 'answers a foreign id exactly like an unknown',
      },
      { file: 'test/http/v1/contract/foreign-ids.test.ts', name: 'every operation lists its places for ids' },
    ],
    whole: 'full',
    below: '`npm test` tries one route in six.',
  },
  scopes: {
    title: 'Tokens and scopes',
    what: 'Every route with no token, each scope, and an expired, revoked, malformed, and unknown token.',
    holds: 'Only a scope that covers the route is admitted.',
    tests: [
      { file: ROUTES, name: 'every route admits exactly the scopes that cover its own' },
      { file: ROUTES, name: 'every route answers 401 to a missing, malformed, unknown, expired, or revoked' },
    ],
    whole: 'full',
    below: '`npm test` tries one route in six.',
  },
  read_only: {
    title: 'Unknown and read-only keys',
    what: 'Unknown keys, read-only keys, and `__proto__` in the body of every route.',
    holds: '400 with the name of the key.',
    tests: [
      { file: ROUTES, name: 'every route rejects unknown and read-only keys of its body, and __proto__' },
    ],
    whole: 'full',
    below: '`npm test` tries one route in six.',
  },
  session_id: {
    title: 'Session ids',
    what: 'A visitor signs in and out.',
    holds: 'Each time the session has a new id, and the old one opens nothing.',
    tests: [{ file: 'test/http/session/auth.test.ts', name: 'signing in and signing out renew the cookie' }],
    whole: 'sample',
  },
  sign_in_time: {
    title: 'Time of a sign-in',
    what: 'A sign-in with a known and with an unknown address, each with a wrong password.',
    holds: 'Both derive one key from the password, which is nearly all of the time.',
    tests: [
      {
        file: 'test/domain/customers/customers.test.ts',
        name: 'an unknown address takes the same work as an',
      },
    ],
    whole: 'sample',
  },
  webhook_urls: {
    title: 'Webhook URLs',
    what:
      'More than 60 hostile webhook URLs: decimal, octal, hexadecimal, mapped, and translated addresses, ' +
      'user information, redirects, and a name that changes between check and connection.',
    holds: 'None is accepted, or none is connected to.',
    tests: [
      { file: 'test/domain/webhooks/url.test.ts', name: 'special addresses are rejected in every spelling' },
      {
        file: 'test/domain/webhooks/url.test.ts',
        name: 'user information in a URL is rejected, even if empty',
      },
      {
        file: 'test/drivers/webhooks/https.test.ts',
        name: 'the sender connects only to public addresses, in',
      },
      {
        file: 'test/drivers/webhooks/https.test.ts',
        name: 'the sender connects to the checked address even',
      },
    ],
    whole: 'sample',
  },
  response_bombs: {
    title: 'Responses without end',
    what: 'A receiver of webhooks answers without end, or byte by byte.',
    holds: 'The connection is closed after 64 KiB, and after 10 seconds at the latest.',
    tests: [
      {
        file: 'test/drivers/webhooks/https.test.ts',
        name: 'the sender reads up to 64 KiB of a response, and',
      },
      { file: 'test/drivers/webhooks/https.test.ts', name: 'the sender cuts a response that drips' },
    ],
    whole: 'sample',
  },
  uploads: {
    title: 'Uploads',
    what: 'Uploads of more than 4 GiB, with hostile names, and aborted halfway.',
    holds: 'Refused as early as possible, and no file is left.',
    tests: [
      {
        file: 'test/domain/images/upload.test.ts',
        name: 'an upload of more than 4 GiB is refused as early as',
      },
      { file: 'test/http/v1/images-upload.test.ts', name: 'an uploaded image is stored unchanged and' },
      {
        file: 'test/http/v1/images-upload.test.ts',
        name: 'an upload whose client disconnects is rejected and',
      },
      { file: 'test/process/upload-crash.test.ts', name: 'keeps a file only for a committed image' },
    ],
    whole: 'sample',
  },
  rdns: {
    title: 'Names of reverse DNS',
    what: 'Line breaks, spaces, and invalid labels in the names of reverse DNS.',
    holds: '400 with the field. Nothing reaches the DNS server.',
    tests: [{ file: 'test/http/v1/servers.test.ts', name: 'host names must follow RFC 1123, and read-only' }],
    whole: 'sample',
  },
  xss: {
    title: 'Hostile text on pages',
    what: '40 hostile texts in every text field of every form, and in every URL.',
    holds: 'Escaped or refused. In a browser, nothing runs and nothing is loaded from another site.',
    tests: [
      { file: 'test/panel/hostile.test.ts', name: 'hostile text in any form is escaped or rejected on its' },
      { file: 'test/panel/hostile.test.ts', name: 'hostile text in a URL is escaped' },
      { file: 'test/panel/hostile.test.ts', name: 'hostile text runs nothing and loads nothing from' },
    ],
    whole: 'soak',
    below: 'Full runs try a quarter of the texts, which rotate.',
  },
  canaries: {
    title: 'Secrets at rest and in logs',
    what: 'A service that was used in every way: its database and its logs are searched for each secret.',
    holds: 'No IP address, password, code, token, cookie, or secret is readable, in any encoding.',
    tests: [
      { file: 'test/process/canary.test.ts', name: 'stores no secret in readable form' },
      { file: 'test/process/canary.test.ts', name: 'writes no secret to its logs' },
      { file: 'test/domain/sealed.test.ts', name: 'every sealed column of the database is in the table' },
    ],
    whole: 'full',
  },
} as const satisfies Readonly<Record<string, Figure>>;
