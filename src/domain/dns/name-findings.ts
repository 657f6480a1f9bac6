/** Reports names that cannot be published, for `status`. */
import { countRdnsFaults, type RdnsFault } from '../../store/published-rdns.ts';
import type { Service } from '../context.ts';

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
