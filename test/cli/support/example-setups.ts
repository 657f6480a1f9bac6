/**
 * What an example needs beside the account that all examples run in (example-account.ts): one row for each command, by its name.
 * A command without a row runs as it is shown and leaves with 0.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UPLOAD } from '../../http/v1/contract/estate.ts';
import { MULTIPART } from '../../http/v1/upload-world.ts';
import { type ExampleAccount, expectOk } from './example-account.ts';

export interface ExampleSetup {
  /** The contexts that are there, the first in use; `work` where it says nothing. */
  readonly contexts?: readonly string[];
  /** Operations that it calls and is not for, so that its row does not name them. */
  readonly extraOperations?: readonly string[];
  /** Makes what is not in every account. */
  readonly before?: (account: ExampleAccount) => Promise<void> | void;
  /** It does not end by itself: Ctrl-C comes when it has printed this. */
  readonly interruptAfter?: RegExp;
  /** What happens elsewhere once it has printed this: somebody pays, say. */
  readonly meanwhile?: { readonly when: RegExp; readonly then: (account: ExampleAccount) => Promise<void> };
}

export const EXAMPLE_SETUPS: Readonly<Record<string, ExampleSetup>> = {
  'server start': { before: (account) => runAndSettle(account, 'servers', 'web-1', 'stop') },
  'volume detach': {
    before: (account) =>
      runAndSettle(account, 'volumes', 'data', 'attach', { server: account.named['web-1'] }),
  },
  'firewall detach': {
    before: async ({ api, named }) => {
      await expectOk(api.patch(`/firewall/groups/${named.web}`, { applied_to: [named['web-1']] }));
    },
  },
  'image delete': {
    before: async ({ api }) => {
      await expectOk(api.raw('POST', '/images', UPLOAD, { headers: MULTIPART }));
    },
  },
  apply: {
    before: ({ folder }) => writeFileSync(join(folder, 'skerry.yaml'), 'project: shop\nservers: []\n'),
  },
  // It tries what the token may do.
  login: { extraOperations: ['regions.list', 'balance.get'] },
  events: { interruptAfter: /\n/ },
  'context delete': { contexts: ['work', 'client'] },
};

/** Commands that are not run as they are shown, each with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {};

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
