/**
 * The hash chain over the audit log. A row is linked after its commit: its hash, together with the hash of
 * the link before it, is the hash of its own link. So a changed row breaks the chain, unless every link after
 * it is changed too. Daily heads outside the database, which only the service can sign, reveal even that
 * (heads.ts).
 */
import { createHash } from 'node:crypto';
import { firstIdAt, idTimestamp } from '../../kernel/ids.ts';
import { DAY_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  type AuditLink,
  deleteExpiredLinks,
  insertLinks,
  readChainHead,
  readNewestAuditId,
  readUnlinked,
  tryLockChain,
} from '../../store/audit-chain.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

const BATCH = 500;
/** Longer than a transaction that writes an audit row takes from its start to its commit. */
const LATE_COMMIT_MS = 30 * SECOND_MS;
export const FIRST_AUDIT_ID = firstIdAt(new Date(0));

/**
 * Links the rows with an id above `after` that have no link. Yields how many each batch linked; 0, and stops,
 * while another process does it.
 */
export async function* linkAuditRows({ db }: Pick<Deps, 'db'>, after: string): AsyncGenerator<number> {
  for (let from = after; ; ) {
    const links = await db.transaction(async (tx): Promise<AuditLink[]> => {
      if (!(await tryLockChain(tx))) return [];
      const head = await readChainHead(tx);
      const next = await readUnlinked(tx, from, BATCH);
      let { no, hash } = head;
      const added = next.map(({ id, row_hash }) => {
        no += 1n;
        hash = createHash('sha256').update(hash).update(row_hash).digest();
        return { no, id, row_hash, hash };
      });
      if (added.length > 0) await insertLinks(tx, added);
      return added;
    });
    yield links.length;
    const last = links.at(-1);
    if (last === undefined || links.length < BATCH) return;
    from = last.id;
  }
}

/** Returns the id above which rows may still become visible. */
export async function readRecentBound({ db }: Pick<Deps, 'db'>): Promise<string> {
  const newest = await readNewestAuditId(db);
  if (newest === undefined) return FIRST_AUDIT_ID;
  return firstIdAt(new Date(idTimestamp(newest).getTime() - LATE_COMMIT_MS));
}

/**
 * Deletes links whose rows the retention deleted, oldest first. The hash of the last one stays as the anchor
 * of the rest. Yields how many each batch deleted.
 */
export async function* trimAuditChain({ db, clock }: Deps): AsyncGenerator<number> {
  for (;;) {
    const before = firstIdAt(new Date(clock.now().getTime() - LIMITS.auditRetentionDays * DAY_MS));
    const deleted = await db.transaction(async (tx) =>
      (await tryLockChain(tx)) ? await deleteExpiredLinks(tx, before, BATCH) : 0,
    );
    yield deleted;
    if (deleted < BATCH) return;
  }
}
