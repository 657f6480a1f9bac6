/** Whether reverse DNS is served: what an operator looks at when a name does not appear. */
import { DnsError } from '../../ports/dns.ts';
import { countUnpublished } from '../../store/published-rdns.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';
import { nameFaults } from './faults.ts';
import { type BlockZone, listBlockZones } from './zones.ts';

const WHAT = 'reverse DNS';
const ZONES_SHOWN = 10;

/** Asks the server of names, and looks at which blocks of the pool have no zone, and which names are not served. */
export async function checkReverseDns(service: Pick<Service, 'db' | 'dns'>): Promise<Finding[]> {
  if (service.dns === null) {
    const says = 'names are kept, and served by nobody: SKERRY_DNS_URL is not set';
    return [{ level: 'note', what: WHAT, says }];
  }
  try {
    const zones = await listBlockZones(service);
    return [
      { level: 'ok', what: WHAT, says: 'PowerDNS answers, and takes the key' },
      ...lacking(zones),
      ...(await unpublished(service)),
      ...(await nameFaults(service)),
    ];
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    return [{ level: 'look', what: WHAT, says: error.message }];
  }
}

function lacking(zones: readonly BlockZone[]): Finding[] {
  const missing = zones.filter(({ heldBy }) => heldBy === null);
  if (missing.length === 0) {
    return zones.length === 0
      ? []
      : [{ level: 'ok', what: WHAT, says: 'every block of the pool has its zones' }];
  }
  const shown = missing.slice(0, ZONES_SHOWN).map(({ block, region, zone, isShared }): Finding => {
    const says = isShared
      ? `${block} in ${region} has no zone: it is one that ${zone} hands out, see the operator guide`
      : `${block} in ${region} has no zone ${zone}: skerryd dns zones --create makes it`;
    return { level: 'look', what: WHAT, says };
  });
  const more = missing.length - shown.length;
  return more === 0
    ? shown
    : [...shown, { level: 'look', what: WHAT, says: `${more} zones more are missing: skerryd dns zones` }];
}

async function unpublished({ db }: Pick<Service, 'db'>): Promise<Finding[]> {
  const n = await countUnpublished(db);
  if (n === 0n) return [];
  const says = `names of ${n} servers are not published, or not yet: skerryd dns publish does it`;
  return [{ level: 'note', what: WHAT, says }];
}
