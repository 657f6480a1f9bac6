/**
 * Recovery after a restore. A database from a backup does not know which addresses it gave out since. Each
 * machine keeps the highest numbers in a file outside the database (store/service/mark-file.ts), written
 * before an address is shown. A database that is behind a machine's file is in recovery, for all processes:
 * no job runs, and every change is refused, until `skerryd recover` has raised its numbers. A new database
 * has another incarnation, and so another file. A database that `skerryd restore` filled is in recovery even
 * without a file, until the same command ends it.
 */
import { logFault } from '../../kernel/faults/fault-log.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import { isAbove, isCovered } from '../../store/service/mark-file.ts';
import { endRestoration, findRestoration, isInRecovery } from '../../store/service/restoration.ts';
import { incrementRulesVersion } from '../../store/service/rules.ts';
import {
  type BehindRow,
  deleteReachedMarks,
  listAddressNumbers,
  listBehind,
  raiseToMarks,
  saveMark,
} from '../../store/topups/marks.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { isPoolCoin } from './addresses/pool.ts';
import { skipAddresses } from './chains/repair.ts';

type Deps = Pick<Service, 'db' | 'log' | 'marks'>;

/**
 * Compares the file of this machine with the database. Where the database is behind, stores the marks in it,
 * so that every process learns of them. Where it is ahead, raises the file: any machine may be last. Until
 * a restored database is recovered, the file stays as it is: it would look like marks that survived the loss.
 */
export async function compareMarks({ db, log, marks }: Deps): Promise<void> {
  const seen = await marks.read();
  const numbers = new Map((await listAddressNumbers(db)).map((row) => [row.coin, row]));
  const ahead = [...seen].filter(([coin, mark]) => isAbove(mark, numbers.get(coin)));
  if (ahead.length > 0) {
    const raised = await db.transaction(async (tx) => {
      const saved: CoinCode[] = [];
      for (const [coin, mark] of ahead) if (await saveMark(tx, coin, mark)) saved.push(coin);
      if (saved.length > 0) await incrementRulesVersion(tx);
      return saved;
    });
    if (raised.length > 0) log.error({ coins: raised }, 'the database is behind its address marks');
  }
  if (await findRestoration(db)) return;
  try {
    for (const [coin, row] of numbers) await marks.raise(coin, row);
  } catch (error) {
    // Each new address raises the file again, or is not given out.
    log.error({ err: error }, 'the address marks cannot be written');
  }
  // A file that stays long loses nothing.
  await marks
    .compact()
    .catch((err: unknown) => logFault(log, 'warn', 'long address marks are kept', { err }));
}

/** Whether the service is in recovery. */
export async function isRecovering({ db }: { readonly db: Sql }): Promise<boolean> {
  return await isInRecovery(db);
}

/** Lists the coins whose numbers are behind. */
export async function listRecovering({ db }: { readonly db: Sql }): Promise<BehindRow[]> {
  return await listBehind(db);
}

export interface RecoveredCoin extends BehindRow {
  /** Addresses of the pool that were taken out of use. */
  readonly taken: number;
  /** Addresses that the pool lacks: they were imported after the backup. The coin stays in recovery. */
  readonly missing: bigint;
}

/** Raises the numbers of every coin that is behind, and ends the recovery unless a pool lacks addresses. */
export async function recoverNumbers(
  service: Deps & Pick<Service, 'clock' | 'wake'>,
): Promise<RecoveredCoin[]> {
  await compareMarks(service);
  const recovered = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const coins: RecoveredCoin[] = [];
    for (const row of await listBehind(tx)) {
      const raised = { ...row, ...(await raiseToMarks(tx, row, now)) };
      const note = `index ${row.next_index} to ${row.marked_index}, ${raised.taken} pool addresses skipped`;
      await recordAudit(
        tx,
        { actor: systemActor(now), action: 'chain.recover', resource: row.coin, note },
        now,
      );
      coins.push(raised);
    }
    await deleteReachedMarks(tx);
    await incrementRulesVersion(tx);
    return coins;
  });
  service.wake();
  return recovered;
}

export interface EndedRestoration {
  readonly from: Date;
  /** The coins whose next addresses were skipped, and how many. */
  readonly skipped: ReadonlyMap<CoinCode, number>;
}

/**
 * Ends the recovery of a restored database; null if it is not one, or is still behind its marks. Without any
 * marks, then or now, `skip` says how many addresses of each coin may have been given out since the backup.
 */
export async function endRecovery(
  service: Pick<Service, 'db' | 'clock' | 'chains' | 'marks' | 'wake'>,
  { skip }: { readonly skip: number | undefined },
): Promise<EndedRestoration | null> {
  const { db } = service;
  const restoration = await findRestoration(db);
  if (!restoration || (await listBehind(db)).length > 0) return null;
  const numbers = await listAddressNumbers(db);
  const hasMarks = restoration.restored_with_marks || isCovered(numbers, await service.marks.read());
  if (!hasMarks && skip === undefined) {
    throw new OperatorError(
      'there are no address marks of this database that are as new as the backup: put them back, or run ' +
        'skerryd recover --skip <count>, with more addresses than any coin can have given out since then',
    );
  }
  const skipped = new Map<CoinCode, number>();
  if (skip) {
    // The first address of a coin may be newer than the backup, too.
    for (const coin of new Set([...numbers.map((row) => row.coin), ...service.chains.keys()]))
      skipped.set(coin, await skipNext(service, coin, skip));
  }
  await db.transaction((tx) => endRestoration(tx));
  service.wake();
  return { from: restoration.restored_from, skipped };
}

/** A pool without a free address gives out none again. */
async function skipNext(
  service: Pick<Service, 'db' | 'clock' | 'chains'>,
  coin: CoinCode,
  count: number,
): Promise<number> {
  try {
    const result = await skipAddresses(service, systemActor(service.clock.now()), { coin, count });
    return 'addresses' in result ? result.addresses : count;
  } catch (error) {
    if (isPoolCoin(coin) && error instanceof OperatorError && count <= LIMITS.addressSkipMax) return 0;
    throw error;
  }
}
