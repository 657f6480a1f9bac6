/**
 * Task `rdns`: makes the zones contain exactly the names of a server's addresses. Names that cannot be
 * published are findings of `status`.
 */
import { formatId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { DnsError, type ReverseDns } from '../../ports/dns.ts';
import {
  countRdnsFaults,
  type DesiredName,
  planRdns,
  type RdnsFault,
  type RdnsResult,
  recordRdnsResults,
  releaseUnservedAddresses,
} from '../../store/inventory/published-rdns.ts';
import { enqueueTasks, type TaskResult } from '../../store/tasks.ts';
import type { Service } from '../context.ts';

/** The retry interval for names without a zone or rejected by their zone, which the operator must fix. */
const FAULTY_RETRY_MS = 10 * MINUTE_MS;

/**
 * Also runs for a deleted server, to withdraw its names. If the DNS server does not respond, the task is
 * retried soon.
 */
export async function ensureRdns(service: Service, serverId: string): Promise<TaskResult> {
  const { db, dns, log } = service;
  if (dns === null) {
    await db.transaction((tx) => releaseUnservedAddresses(tx, serverId));
    return 'done';
  }
  const names = await db.transaction((tx) => planRdns(tx, serverId));
  const results: RdnsResult[] = [];
  for (const name of names) results.push({ ...name, fault: await publish(dns, name) });
  await db.transaction(async (tx) => {
    const subjects = await recordRdnsResults(tx, serverId, results);
    await enqueueTasks(tx, { kind: 'rdns', subjects, now: service.clock.now() });
  });
  const faults = results.flatMap(({ fault }) => fault ?? []);
  if (faults.length === 0) return 'done';
  const server = formatId('server', serverId);
  log.error(
    { server, names: faults.length, faults: [...new Set(faults)] },
    'publishing reverse names failed',
  );
  return { againMs: FAULTY_RETRY_MS };
}

/** Returns a fault of this name only. A fault that affects all names is thrown. */
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

const DESCRIPTIONS: Readonly<Record<RdnsFault, string>> = {
  no_zone: 'have no zone: run skerryd dns zones to see which is missing',
  refused: 'are rejected by their zone: see the log of PowerDNS',
};

export async function nameFindings({
  db,
}: Pick<Service, 'db'>): Promise<{ level: 'warn'; subject: string; message: string }[]> {
  const counts = await countRdnsFaults(db);
  return counts.map(({ fault, n }) => ({
    level: 'warn',
    subject: 'reverse DNS',
    message: `${n} names ${DESCRIPTIONS[fault]}`,
  }));
}
