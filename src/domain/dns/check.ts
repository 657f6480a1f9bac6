/** Whether reverse DNS is served: what an operator looks at when a name does not appear. */
import { DnsError } from '../../ports/dns.ts';
import { countUnpublishedRdns } from '../../store/published-rdns.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../status.ts';
import { nameFindings } from './name-findings.ts';
import { type BlockZone, listBlockZones } from './zones.ts';

const SUBJECT = 'reverse DNS';
const ZONES_SHOWN = 10;

/** Asks the server of names, and looks at which blocks of the pool have no zone, and which names are not served. */
export async function checkReverseDns(service: Pick<Service, 'db' | 'dns'>): Promise<Finding[]> {
  if (service.dns === null) {
    const message = 'names are kept, and served by nobody: SKERRY_DNS_URL is not set';
    return [{ level: 'note', subject: SUBJECT, message }];
  }
  try {
    const zones = await listBlockZones(service);
    return [
      { level: 'ok', subject: SUBJECT, message: 'PowerDNS answers, and takes the key' },
      ...missingZones(zones),
      ...(await unpublishedNames(service)),
      ...(await nameFindings(service)),
    ];
  } catch (error) {
    if (!(error instanceof DnsError)) throw error;
    return [{ level: 'fail', subject: SUBJECT, message: error.message }];
  }
}

function missingZones(zones: readonly BlockZone[]): Finding[] {
  const missing = zones.filter(({ coveredBy }) => coveredBy === null);
  if (missing.length === 0) {
    return zones.length === 0
      ? []
      : [{ level: 'ok', subject: SUBJECT, message: 'every block of the pool has its zones' }];
  }
  const shown = missing.slice(0, ZONES_SHOWN).map(({ block, region, zone, isShared }): Finding => {
    const message = isShared
      ? `${block} in ${region} has no zone: it is one that ${zone} hands out, see docs/operators/networking.md`
      : `${block} in ${region} has no zone ${zone}: skerryd dns zones --create makes it`;
    return { level: 'warn', subject: SUBJECT, message };
  });
  const more = missing.length - shown.length;
  return more === 0
    ? shown
    : [
        ...shown,
        { level: 'warn', subject: SUBJECT, message: `${more} zones more are missing: skerryd dns zones` },
      ];
}

async function unpublishedNames({ db }: Pick<Service, 'db'>): Promise<Finding[]> {
  const n = await countUnpublishedRdns(db);
  if (n === 0n) return [];
  const message = `names of ${n} servers are not published, or not yet: skerryd dns publish does it`;
  return [{ level: 'note', subject: SUBJECT, message }];
}
