/** Helpers for tests of a live service: its database and nodes in the form that its settings expect. */
import type { NodeEndpoint } from '../../src/drivers/chain/node-http.ts';
import type { createScratchDatabase } from '../support/database.ts';

export type ScratchConnection = Awaited<ReturnType<typeof createScratchDatabase>>;

export function databaseUrl({ connection }: Pick<ScratchConnection, 'connection'>): string {
  const { host, port, user, database, password } = connection;
  const url = new URL(`postgresql://x@x/${database}`);
  for (const [name, value] of Object.entries({ host, port: String(port), user, password })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** Returns the URL including user and password. */
export function nodeUrl({ url, authorization }: NodeEndpoint): string {
  const login = Buffer.from((authorization ?? '').replace('Basic ', ''), 'base64').toString();
  return url.replace('://', `://${login}@`);
}
