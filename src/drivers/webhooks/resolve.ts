/** Resolvers that return all addresses of a name. */
import { lookup, Resolver } from 'node:dns/promises';

export type Resolve = (name: string) => Promise<readonly string[]>;

const RESOLVER = { timeout: 2_500, tries: 2 };
/** The name has no addresses of this family: not a failure. */
const NO_RECORD_CODES = new Set(['ENODATA', 'ENOTFOUND']);

let resolver: Resolver | undefined;

/**
 * Asks the name servers for both families at once. The operating system's lookup would also know names of
 * this machine, and blocks a thread of the small pool that files and password hashing share while a name
 * server is silent.
 */
export async function resolvePublic(name: string): Promise<readonly string[]> {
  resolver ??= new Resolver(RESOLVER);
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (addresses.length > 0) return addresses;
  const failures = found.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
  throw (
    failures.find((error) => !NO_RECORD_CODES.has((error as NodeJS.ErrnoException).code ?? '')) ?? failures[0]
  );
}

/** Also resolves names of this machine: for tests, where webhooks may go to loopback. */
export async function resolveLocal(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
