/** The task `rdns`: the zones hold the names that a server's addresses have, and no others. */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { DnsError, type ReverseDns } from '../../ports/dns.ts';
import {
  type DesiredName,
  planRdns,
  type RdnsResult,
  recordRdnsResults,
  releaseUnservedAddresses,
} from '../../store/published-rdns.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { Service } from '../context.ts';

/** How often a name is tried again for which there is no zone, or that its zone does not take: that is the operator's to mend. */
const FAULTY_RETRY_MS = 10 * MINUTE_MS;

/** Also for a server that is gone: then all its names are withdrawn. A server of names that does not answer is asked again soon. */
export async function ensureRdns(
  service: Service,
  serverId: string,
): Promise<'done' | { readonly againMs: number }> {
  const { db, dns, log } = service;
  if (dns === null) {
    await db.transaction((tx) => releaseUnservedAddresses(tx, serverId));
    return 'done';
  }
  const wanted = await db.transaction((tx) => planRdns(tx, serverId));
  crashPoint('rdns.planned');
  const outcomes: RdnsResult[] = [];
  for (const name of wanted) outcomes.push({ ...name, fault: await publish(dns, name) });
  crashPoint('rdns.published');
  await db.transaction(async (tx) => {
    const subjects = await recordRdnsResults(tx, serverId, outcomes);
    await enqueueTasks(tx, { kind: 'rdns', subjects, now: service.clock.now() });
  });
  crashPoint('rdns.recorded');
  const faults = outcomes.flatMap(({ fault }) => fault ?? []);
  if (faults.length === 0) return 'done';
  const server = formatId('server', serverId);
  log.error({ server, names: faults.length, faults: [...new Set(faults)] }, 'reverse names are not served');
  return { againMs: FAULTY_RETRY_MS };
}

/** What stands in this name's own way. What stands in the way of all is thrown. */
async function publish(dns: ReverseDns, { address, host }: DesiredName): Promise<RdnsResult['fault']> {
  try {
    await dns.set(address, host);
    return null;
  } catch (error) {
    if (error instanceof DnsError && (error.fault === 'no_zone' || error.fault === 'refused'))
      return error.fault;
    throw error;
  }
}
