/** Checks reverse DNS for the operator, for example when a name does not appear. */
import { DnsError } from '../../ports/dns.ts';
import { countUnpublishedRdns } from '../../store/inventory/published-rdns.ts';
import type { Service } from '../context.ts';
import type { Finding } from '../health/status.ts';
import { nameFindings } from './ensure.ts';
import { type BlockZone, listBlockZones } from './zones.ts';

const SUBJECT = 'reverse DNS';
const ZONES_SHOWN = 10;

/** Queries the DNS server and reports blocks without a zone and names that are not published. */
export async function checkReverseDns(service: Pick<Service, 'db' | 'dns'>): Promise<Finding[]> {
  if (service.dns === null) {
    const message = 'reverse names are stored but not published: SKERRY_DNS_URL is not set';
    return [{ level: 'note', subject: SUBJECT, message }];
  }
  try {
    const zones = await listBlockZones(service);
    return [
      { level: 'ok', subject: SUBJECT, message: 'PowerDNS responds and accepts the key' },
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
      : [{ level: 'ok', subject: SUBJECT, message: 'all address blocks have their zones' }];
  }
  const shown = missing.slice(0, ZONES_SHOWN).map(({ block, region, zone, isShared }): Finding => {
    const message = isShared
      ? `${block} in ${region} has no zone: the holder of ${zone} must delegate it; see the networking docs`
      : `${block} in ${region} has no zone ${zone}: run skerryd dns zones --create`;
    return { level: 'warn', subject: SUBJECT, message };
  });
  const more = missing.length - shown.length;
  return more === 0
    ? shown
    : [
        ...shown,
        { level: 'warn', subject: SUBJECT, message: `${more} more zones are missing: run skerryd dns zones` },
      ];
}

async function unpublishedNames({ db }: Pick<Service, 'db'>): Promise<Finding[]> {
  const n = await countUnpublishedRdns(db);
  if (n === 0n) return [];
  const message = `the names of ${n} servers are not published yet: run skerryd dns publish to publish them`;
  return [{ level: 'note', subject: SUBJECT, message }];
}
