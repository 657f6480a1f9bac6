/**
 * Archives the write-ahead log: stores what is in the spool, encrypted, and a new base once a day or when the
 * chain of segments has a gap. One process at a time does it. Each step may run twice: a segment that was
 * stored is stored again under the same name.
 */
import { OperatorError } from '../../../kernel/operator-error.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { WalArchive } from '../../../ports/archives.ts';
import { readClusterId } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { runExclusively } from '../exclusive.ts';
import { type BaseRun, isBaseDue, storeBase } from './base.ts';
import { deleteOld } from './expire.ts';
import { BASE_RETRY_MS, TIDY_EVERY_MS, type WalPlan } from './plan.ts';
import { BaseProof } from './prove.ts';
import { storeSegments, whileStoring } from './segments.ts';

type Deps = Pick<Service, 'db' | 'log'>;

const LEASE = { name: 'archive the log', everyS: 0 } as const;
/** A stop takes at most ten seconds. */
const LAST_ROUND_MS = 3_000;

const TOO_LATE =
  'the last changes were not archived in time: they are in the data folder until the next start does it';

/** Returns a function that does one round. It remembers what failed, and waits with the next attempt. */
export function openArchiving(service: Deps, plan: WalPlan): (signal: AbortSignal) => Promise<void> {
  const proof = new BaseProof();
  const mayTryBase = everyMs(BASE_RETRY_MS);
  const mayTidy = everyMs(TIDY_EVERY_MS);
  let archive: WalArchive | null = null;
  return async (signal) =>
    await runExclusively(service, LEASE, async () => {
      const spool = await plan.openSpool();
      if (spool === null) return;
      archive ??= plan.open(await readClusterId(service.db), signal);
      const run = { spool, archive, plan, signal };
      await storeSegments(service, run);
      if ((await isBaseDue(run, proof.isWaiting)) && mayTryBase.next()) {
        const base = await storeBase(service, run);
        mayTryBase.reset();
        if (plan.scratchFolder !== null) proof.begin(base);
      }
      await proof.run(service, run);
      if (mayTidy.next()) await whileStoring(service, run, () => tidy(run, plan));
    });
}

async function tidy({ spool, archive: current, signal }: BaseRun, plan: WalPlan): Promise<void> {
  const proof = plan.scratchFolder === null ? null : await spool.readProof();
  const proved = proof?.isProved ? proof.since : null;
  await deleteOld(await plan.listArchives(), { current, days: plan.days, proved, signal });
}

/** Lets through one call in a while. */
function everyMs(waitMs: number) {
  let notBefore = Number.NEGATIVE_INFINITY;
  return {
    next: () => {
      if (performance.now() < notBefore) return false;
      notBefore = performance.now() + waitMs;
      return true;
    },
    reset: () => {
      notBefore = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Returns a function that stores what PostgreSQL archives while it stops. */
export async function openLastRound({ db, log }: Deps, plan: WalPlan): Promise<() => Promise<void>> {
  const cluster = await readClusterId(db);
  return async () => {
    const spool = await plan.openSpool();
    if (spool === null) return;
    const signal = AbortSignal.timeout(LAST_ROUND_MS);
    const run = { spool, archive: plan.open(cluster, signal), plan, signal };
    await withTimeout(storeSegments({ log }, run), LAST_ROUND_MS, () => new OperatorError(TOO_LATE));
  };
}
