/** The reverse DNS zones that the address pool needs. */
import { OperatorError } from '../../kernel/operator-error.ts';
import { type RequiredZone, ReverseZones, requiredZones } from '../../kernel/reverse-zones.ts';
import type { ReverseDns } from '../../ports/dns.ts';
import { listBlocks } from '../../store/inventory/addresses.ts';
import { listServersWithRdns } from '../../store/inventory/published-rdns.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

export interface BlockZone extends RequiredZone {
  readonly block: string;
  readonly region: string;
}

/** Returns the zones that each block needs, and which existing zone covers them. */
export async function listBlockZones(service: Pick<Service, 'db' | 'dns'>): Promise<BlockZone[]> {
  const zones = new ReverseZones(await requireDns(service).zones());
  const blocks = await listBlocks(service.db);
  return blocks.flatMap(({ block, region_id: region }) =>
    requiredZones(block, zones).map((needed) => ({ ...needed, block, region })),
  );
}

/**
 * Creates the missing zones, except zones that cover more than one block of the pool: their holder must
 * delegate a part of them. Publishes names that waited for a zone. Returns the created zones.
 */
export async function createMissingZones(
  service: Pick<Service, 'db' | 'dns' | 'clock'>,
  nameservers: readonly string[],
): Promise<string[]> {
  const servers = nameservers.map(parseNameserver);
  if (servers.length === 0) throw new OperatorError('name at least one name server for the zones');
  const dns = requireDns(service);
  const missing = (await listBlockZones(service)).filter(
    ({ coveredBy, isShared }) => coveredBy === null && !isShared,
  );
  const created: string[] = [];
  try {
    for (const zone of new Set(missing.map((each) => each.zone))) {
      if (await dns.createZone(zone, servers)) created.push(zone);
    }
  } finally {
    if (created.length > 0) await enqueuePublishing(service, 'dns.create_zones', 'faulty');
  }
  return created;
}

/** Publishes all names again, for example to a new DNS server. Returns the number of servers with names. */
export async function publishAllNames(service: Pick<Service, 'db' | 'dns' | 'clock'>): Promise<number> {
  requireDns(service);
  return await enqueuePublishing(service, 'dns.publish', 'all');
}

async function enqueuePublishing(
  service: Pick<Service, 'db' | 'clock'>,
  action: 'dns.create_zones' | 'dns.publish',
  which: 'all' | 'faulty',
): Promise<number> {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const subjects = await listServersWithRdns(tx, which);
    await enqueueTasks(tx, { kind: 'rdns', subjects, now });
    await recordAudit(tx, { actor: systemActor(now), action, resource: null }, now);
    return subjects.length;
  });
}

function requireDns({ dns }: Pick<Service, 'dns'>): ReverseDns {
  if (dns !== null) return dns;
  throw new OperatorError('SKERRY_DNS_URL is not set: reverse names are stored but not published');
}

/** Parses `ns1.example.org`, with or without a trailing dot. */
function parseNameserver(text: string): string {
  const name = text.toLowerCase().replace(/\.$/, '');
  if (name.length <= 253 && /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(name)) {
    return `${name}.`;
  }
  throw new OperatorError('a name server must be a full host name, such as ns1.example.org');
}
