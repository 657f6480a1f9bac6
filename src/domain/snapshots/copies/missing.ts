/** Compares the copies that the database relies on with what the store lists. */
import { formatId } from '../../../kernel/ids.ts';
import {
  listStoredCopies,
  readStoreClock,
  requestMissingCopies,
} from '../../../store/servers/snapshot-copies.ts';
import type { Service } from '../../context.ts';

/** Rows that one statement reads. */
const PAGE_SIZE = 500;
const SHOWN_MAX = 20;

type Deps = Pick<Service, 'db' | 'log'>;

/** The time before which a copy must have been stored to be in a list that begins now. */
export async function beginComparison({ db }: Pick<Service, 'db'>): Promise<Date> {
  return await readStoreClock(db);
}

/** Copies again what the store lost and a host has. The log names what is lost. */
export async function replaceMissing(
  { db, log }: Deps,
  listed: (id: string) => boolean,
  since: Date,
): Promise<void> {
  const lost: string[] = [];
  let replaced = 0;
  for (let afterId: string | null = null; ; ) {
    const ids: string[] = await listStoredCopies(db, { since, afterId, limit: PAGE_SIZE });
    const missing = ids.filter((id) => !listed(id));
    if (missing.length > 0) {
      const requested = new Set(await db.transaction((tx) => requestMissingCopies(tx, missing)));
      replaced += requested.size;
      lost.push(...missing.filter((id) => !requested.has(id)));
    }
    afterId = ids.at(-1) ?? null;
    if (ids.length < PAGE_SIZE) break;
  }
  if (replaced > 0) log.warn({ copies: replaced }, 'the file store lacks copies of snapshots: copying again');
  if (lost.length === 0) return;
  const snapshots = lost.slice(0, SHOWN_MAX).map((id) => formatId('snapshot', id));
  log.error({ copies: lost.length, snapshots }, 'the file store lacks snapshots that no host has');
}
