/** What tests of a live service share: where its database and nodes are, as its settings say it. */
import type { NodeAddress } from '../../src/drivers/chain/node-http.ts';
import type { createScratch } from '../support/database.ts';

export type Scratch = Awaited<ReturnType<typeof createScratch>>;

export function databaseUrl({ connection }: Scratch): string {
  const { host, port, user, database, password } = connection;
  const url = new URL(`postgresql://x@x/${database}`);
  for (const [name, value] of Object.entries({ host, port: String(port), user, password })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** With user and password in it. */
export function nodeUrl({ url, authorization }: NodeAddress): string {
  const login = Buffer.from((authorization ?? '').replace('Basic ', ''), 'base64').toString();
  return url.replace('://', `://${login}@`);
}
