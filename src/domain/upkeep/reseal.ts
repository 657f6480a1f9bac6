/**
 * Seals values again with the newest key, bound to their place: lasting secrets after a rotation, so that the
 * old key can be removed, and every value of version 0.1, which was bound only to its purpose. Any number of
 * processes may run it at once: a value that changed since it was read is not replaced.
 */
import { SEALED_COLUMNS, type SealedColumn } from '../../spec/sealed.ts';
import { listSealedOtherwise, replaceSealed, type SealedRow } from '../../store/service/sealed.ts';
import type { Service } from '../context.ts';

type Deps = Pick<Service, 'db' | 'keys' | 'log'>;

const BATCH = 200;
/** No row has this id. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Goes through all values but the key check, which each start seals. Yields the number sealed per batch. */
export async function* resealSecrets(service: Deps): AsyncGenerator<number> {
  for (const at of SEALED_COLUMNS.filter(({ row }) => row !== null)) {
    const limit = at.batch ?? BATCH;
    for (let after = FIRST_ID; ; ) {
      const page = { prefix: service.keys.sealedPrefix, after, limit };
      const rows = await listSealedOtherwise(service.db, at, page);
      let done = 0;
      for (const row of rows) if (await reseal(service, at, row)) done += 1;
      yield done;
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) break;
      after = last.id;
    }
  }
}

async function reseal({ db, keys, log }: Deps, at: SealedColumn, row: SealedRow): Promise<boolean> {
  // Without its key it stays as it is: `skerryd status` reports it.
  if (!keys.has(row.sealed.split('.', 1)[0] ?? '')) return false;
  try {
    const next = keys.seal(at, row.id, keys.open(at, row.id, row.sealed));
    return await replaceSealed(db, at, { ...row, next });
  } catch (error) {
    log.error({ err: error, table: at.table, row: row.id }, 'a sealed value does not open');
    return false;
  }
}
