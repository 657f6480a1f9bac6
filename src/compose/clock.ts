/** The clock of this process: that of the database, with the offset that another process may move. */
import { OffsetClock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Sql } from '../kernel/sql.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { readClock } from '../store/service/service.ts';

const COMPARE_EVERY_MS = 10 * SECOND_MS;

/** Never moves the offset back: another process may have moved it meanwhile. */
export async function syncClock({
  db,
  clock,
}: {
  readonly db: Sql;
  readonly clock: OffsetClock;
}): Promise<void> {
  const sentMs = performance.now();
  const { time, offsetMs } = await readClock(db);
  clock.compare(time, { sentMs, receivedMs: performance.now() });
  clock.offsetMs = Math.max(clock.offsetMs, offsetMs);
}

/** Compares the clock now and regularly, and logs when this machine's becomes wrong or right. */
export async function followDatabaseClock(
  db: Sql,
  log: Logger,
): Promise<{ readonly clock: OffsetClock; close(): void }> {
  const clock = new OffsetClock();
  let isWrong = false;
  const report = () => {
    const aheadMs = clock.wrongByMs;
    if ((aheadMs !== null) === isWrong) return;
    isWrong = aheadMs !== null;
    if (isWrong)
      log.warn({ ahead_ms: aheadMs }, 'this machine has the wrong time; using that of the database');
    else log.info('this machine has the right time again');
  };
  await syncClock({ db, clock });
  report();
  const timer = setInterval(() => {
    syncClock({ db, clock }).then(report, () => undefined);
  }, COMPARE_EVERY_MS);
  timer.unref();
  return { clock, close: () => clearInterval(timer) };
}
