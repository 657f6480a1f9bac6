/**
 * Archives the write-ahead log: stores what is in the spool, encrypted, and a new base once a day or when the
 * chain of segments has a gap. One process at a time does it. Each step may run twice: a segment that was
 * stored is stored again under the same name.
 */
import { OperatorError } from '../../../kernel/operator-error.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { readClusterId } from '../../../store/service/service.ts';
import type { Service } from '../../context.ts';
import { runExclusively } from '../exclusive.ts';
import { removeLeftovers } from '../scratch.ts';
import { type BaseRun, isBaseDue, storeBase } from './base.ts';
import { deleteOld } from './expire.ts';
import { BASE_RETRY_MS, type WalPlan } from './plan.ts';
import { storeSegments, whileStoring } from './segments.ts';

type Deps = Pick<Service, 'db' | 'log'>;

const LEASE = { name: 'archive the log', everyS: 0 } as const;
/** A stop takes at most ten seconds. */
const LAST_ROUND_MS = 3_000;

const TOO_LATE =
  'the last changes were not archived in time: they are in the data folder until the next start does it';

/** Returns a function that does one round. It remembers that a base failed, and waits with the next one. */
export function openArchiving(service: Deps, plan: WalPlan): (signal: AbortSignal) => Promise<void> {
  let notBefore = Number.NEGATIVE_INFINITY;
  let isClean = plan.scratchFolder === null;
  const archiveBase = async (run: BaseRun) => {
    if (performance.now() < notBefore || !(await isBaseDue(run))) return;
    notBefore = performance.now() + BASE_RETRY_MS;
    await storeBase(service, run);
    await whileStoring(service, run, async () =>
      deleteOld(await plan.listArchives(), { current: run.archive, days: plan.days }),
    );
    notBefore = Number.NEGATIVE_INFINITY;
  };
  return async (signal) =>
    await runExclusively(service, LEASE, async () => {
      const spool = await plan.openSpool();
      if (spool === null) return;
      const run = { spool, archive: plan.open(await readClusterId(service.db)), plan, signal };
      await storeSegments(service, run);
      if (!isClean && plan.scratchFolder !== null)
        isClean = await removeLeftovers(plan.scratchFolder, 'base');
      await archiveBase(run);
    });
}

/** Returns a function that stores what PostgreSQL archives while it stops. */
export async function openLastRound({ db, log }: Deps, plan: WalPlan): Promise<() => Promise<void>> {
  const archive = plan.open(await readClusterId(db));
  return async () => {
    const spool = await plan.openSpool();
    if (spool === null) return;
    const run = { spool, archive, plan, signal: AbortSignal.timeout(LAST_ROUND_MS) };
    await withTimeout(storeSegments({ log }, run), LAST_ROUND_MS, () => new OperatorError(TOO_LATE));
  };
}
