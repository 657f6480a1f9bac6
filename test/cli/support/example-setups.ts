/**
 * Setups of examples, in addition to the account that all examples share (example-account.ts). A command
 * without a row runs as shown and exits with 0.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPLOAD } from '../../http/v1/contract/estate.ts';
import { MULTIPART } from '../../http/v1/upload-world.ts';
import type { JsonBody } from '../../support/v1-client.ts';
import { type ExampleAccount, expectOk } from './example-account.ts';

export interface ExampleSetup {
  /** The stored contexts, the first one current; `work` by default. */
  readonly contexts?: readonly string[];
  /** Operations that the command calls in addition to those in its row. */
  readonly extraOperations?: readonly string[];
  /** Creates resources that are not in every account. */
  readonly before?: (account: ExampleAccount) => Promise<void> | void;
  /** For a command that does not end: press Ctrl-C when it has printed this. */
  readonly interruptAfter?: RegExp;
  /** An event elsewhere after the command has printed this, such as a payment. */
  readonly meanwhile?: { readonly when: RegExp; readonly then: (account: ExampleAccount) => Promise<void> };
}

export const EXAMPLE_SETUPS: Readonly<Record<string, ExampleSetup>> = {
  'server start': { before: (account) => runAndSettle(account, 'servers', 'web-1', 'stop') },
  'volume detach': {
    before: (account) => {
      return runAndSettle(account, 'volumes', 'data', 'attach', { server: account.named['web-1'] });
    },
  },
  'firewall detach': {
    before: async ({ api, named }) => {
      await expectOk(api.patch(`/firewall/groups/${named.web}`, { applied_to: [named['web-1']] }));
    },
  },
  'image delete': { before: async (account) => void (await upload(account)) },
  'server insert-iso': { before: async (account) => void (await upload(account)) },
  'server eject-iso': {
    before: async (account) => {
      const { api, named, world } = account;
      const { id: image } = await upload(account);
      await expectOk(api.put(`/servers/${named['web-1']}/iso`, { image }));
      await world.settle();
    },
  },
  'webhook end-rotation': {
    before: async ({ create, unnamed }) => {
      await create(`/webhooks/${unnamed.whk}/rotate-secret`);
    },
  },
  apply: {
    before: ({ folder }) => writeFileSync(join(folder, 'skerry.yaml'), 'project: shop\nservers: []\n'),
  },
  // Verifies the token with these calls.
  login: { extraOperations: ['regions.list', 'balance.get'] },
  events: { interruptAfter: /\n/ },
  'context delete': { contexts: ['work', 'client'] },
};

/** Commands whose example is not run, with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {};

async function upload({ api }: ExampleAccount): Promise<JsonBody> {
  return await expectOk(api.raw('POST', '/images', UPLOAD, { headers: MULTIPART }));
}

async function runAndSettle(
  { create, named, world }: ExampleAccount,
  path: string,
  name: string,
  verb: string,
  body?: object,
): Promise<void> {
  await create(`/${path}/${named[name]}/${verb}`, body);
  await world.settle();
}
