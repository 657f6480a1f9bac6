/** Faults in what a service survives: a wrong clock, missing resources, lost work, a restore. */
import type { Mutation } from './mutation.ts';

export const RECOVERY: readonly Mutation[] = [
  {
    name: 'the clock of a machine counts when it differs from the database',
    file: 'src/kernel/clock.ts',
    find: '> TOLERANCE_MS ? Math.round(databaseMs) : wallMs;',
    replace: '> TOLERANCE_MS ? wallMs : wallMs;',
    caughtBy: { file: 'test/compose/clock.test.ts', name: 'a clock that is set while the service runs' },
    budgetS: 30,
    figure: 'clock',
  },
  {
    name: 'a live service charges after a leap of the time',
    file: 'src/domain/billing/leap.ts',
    find: 'return ranUntil !== null && now.getTime() - ranUntil.getTime() > LEAP_MS;',
    replace: 'return false;',
    caughtBy: {
      file: 'test/domain/billing/leap.test.ts',
      name: 'charges nothing and deletes nothing until staff turn renewals on',
    },
    budgetS: 40,
    figure: 'clock',
  },
  {
    name: 'a bucket stays empty after the clock was set back',
    file: 'src/domain/tokens/buckets.ts',
    find: 'const isPossible = storedUs <= nowUs + 2 * rule.capacity * costUs;',
    replace: 'const isPossible = true;',
    caughtBy: {
      file: 'test/domain/tokens/buckets.test.ts',
      name: 'a bucket is full again after the clock of the machine was set back',
    },
    budgetS: 30,
    figure: 'clock',
  },
  {
    name: 'a part that could not be loaded is not loaded again',
    file: 'src/kernel/faults/load-once.ts',
    find: '      loading = null;\n',
    replace: '',
    caughtBy: {
      file: 'test/kernel/faults/resources.test.ts',
      name: 'a root password cannot be hashed without file descriptors',
    },
    budgetS: 30,
    figure: 'faults',
  },
  {
    name: 'a mail whose delivery is unknown is sent again',
    file: 'src/domain/mail/send.ts',
    find: "if (mail.status === 'sending') return await recorded(closeMail(service, mail, 'unknown'));",
    replace: '',
    caughtBy: {
      file: 'test/workers/mail.test.ts',
      name: 'a mail that was handed over without a response is never sent again',
    },
    budgetS: 40,
    figure: 'steps',
  },
  {
    name: 'a backup of a clock that was ahead counts as the newest',
    file: 'src/domain/upkeep/backups/plan.ts',
    find: 'return new Date(now.getTime() + HOUR_MS);',
    replace: 'return new Date(now.getTime() + 9_000 * HOUR_MS);',
    caughtBy: {
      file: 'test/operator/backups/schedule.test.ts',
      name: 'a backup of a clock that was ahead does not count as the newest',
    },
    runsWholeFile: true,
    budgetS: 90,
    figure: 'clock',
  },
  {
    name: 'the log goes to a folder that has lost its bases',
    file: 'src/domain/upkeep/wal/segments.ts',
    find: 'if (newest?.archive !== name || (await bases.list()).length > 0) return;',
    replace: 'if (newest?.archive !== name || (await bases.list()).length >= 0) return;',
    caughtBy: {
      file: 'test/domain/wal-archive.test.ts',
      name: 'stores nothing in a folder that has lost its bases',
    },
    budgetS: 40,
    figure: 'restarts',
  },
  {
    name: 'a restored service takes numbers of calls to hosts again',
    file: 'src/domain/upkeep/backups/restore.ts',
    find: '  await skipBackendCalls(tx);\n',
    replace: '',
    caughtBy: {
      file: 'test/operator/backups/backup.test.ts',
      name: 'a restored database has every row of every table of the backup',
    },
    budgetS: 90,
    figure: 'steps',
  },
  {
    name: 'a base that could not be restored counts as verified',
    file: 'src/domain/upkeep/wal/prove.ts',
    find: '  if (failure === null) {\n    await spool.saveProof',
    replace: '  if (failure !== undefined) {\n    await spool.saveProof',
    caughtBy: {
      file: 'test/domain/wal-proof.test.ts',
      name: 'that is damaged or lacks its log fails at the third attempt, and the status says so',
    },
    level: 'full',
    runsWholeFile: true,
    budgetS: 90,
    figure: 'restarts',
  },
];
