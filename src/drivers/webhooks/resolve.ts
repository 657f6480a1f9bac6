/** All addresses of a name. */
import { lookup, Resolver } from 'node:dns/promises';

export type Resolve = (name: string) => Promise<readonly string[]>;

const RESOLVER = { timeout: 2_500, tries: 2 };
/** There are none of this family: no failure. */
const NO_RECORD_CODES = new Set(['ENODATA', 'ENOTFOUND']);

let resolver: Resolver | undefined;

/**
 * Asks the name servers, both families at once. The operating system's own look-up would also know names of this machine, and
 * takes a thread of the few that files and passwords need for as long as a name server is silent.
 */
export async function resolvePublic(name: string): Promise<readonly string[]> {
  resolver ??= new Resolver(RESOLVER);
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (addresses.length > 0) return addresses;
  const failures = found.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  throw (
    failures.find((error) => !NO_RECORD_CODES.has((error as NodeJS.ErrnoException).code ?? '')) ?? failures[0]
  );
}

/** Names of this machine, too: for tests, where webhooks may lead to it. */
export async function resolveLocal(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
