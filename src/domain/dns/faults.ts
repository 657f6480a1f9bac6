/** Names that cannot be published, for `status`. */
import { countNameFaults, type NameFault } from '../../store/published-rdns.ts';
import type { Service } from '../context.ts';

const WORDS: Readonly<Record<NameFault, string>> = {
  no_zone: 'have no zone: skerryd dns zones says which is missing',
  refused: 'are not taken by their zone: the log of PowerDNS says why',
};

export async function nameFaults({
  db,
}: Pick<Service, 'db'>): Promise<{ level: 'look'; what: string; says: string }[]> {
  const counts = await countNameFaults(db);
  return counts.map(({ fault, n }) => ({
    level: 'look',
    what: 'reverse DNS',
    says: `${n} names ${WORDS[fault]}`,
  }));
}
