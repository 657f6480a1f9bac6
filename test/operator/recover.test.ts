/** `skerryd recover`, with a pool of addresses that the backup knows only in part. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { compareMarks } from '../../src/domain/topups/recovery.ts';
import { runOperator } from '../../src/operator/run.ts';
import { MarkFile } from '../../src/store/service/mark-file.ts';
import { addToPool, createAddressPool } from '../../src/store/topups/addresses.ts';
import { countGiven, isBehindMarks } from '../../src/store/topups/marks.ts';
import { TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
let folder: string;
before(async () => {
  world = await TopupWorld.start();
  folder = await mkdtemp(join(tmpdir(), 'skerry-recover-'));
  await world.db.run(`insert into service (mode, key_check) values ('live', 'none')`);
});
after(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

async function run(...argv: readonly string[]) {
  const lines: string[] = [];
  const service = { ...world.service, marks: new MarkFile(join(folder, 'marks.log')) };
  const resources = {
    settings: () => [],
    database: async () => world.db,
    service: async () => ({
      service,
      register: async () => undefined,
      carryOut: async () => undefined,
      coins: null,
    }),
  };
  const print = (line: string) => void lines.push(line);
  const code = await runOperator(argv, resources, undefined, { out: print, err: print, ask: null });
  return { code, text: lines.join('\n') };
}

const importAddresses = (...addresses: string[]) => addToPool(world.db, 'SOL', addresses, world.clock.now());
const give = async (id: string) => {
  const taken = await createAddressPool(world.db, 'SOL', world.clock).allocate(id);
  const marks = new MarkFile(join(folder, 'marks.log'));
  await marks.raise('SOL', await countGiven(world.db, 'SOL', { pooled: true }));
  return taken?.address;
};

test('recover takes the pool addresses given out since the backup, and asks for those it lacks', async () => {
  const { db } = world;
  assert.match((await run('recover')).text, /nothing to recover/);
  await db.run(`insert into coins (code, next_index) values ('SOL', 0)`);
  await importAddresses('sol-1', 'sol-2', 'sol-3');
  const ids = Array.from({ length: 5 }, () => crypto.randomUUID());
  assert.equal(await give(ids[0] ?? ''), 'sol-1');
  // The backup.
  await give(ids[1] ?? '');
  await give(ids[2] ?? '');
  await importAddresses('sol-4', 'sol-5');
  assert.equal(await give(ids[3] ?? ''), 'sol-4');
  await db.run(`delete from address_pool where address in ('sol-4', 'sol-5')`);
  await db.run(`update address_pool set topup_id = null, taken_at = null where address <> 'sol-1'`);
  await db.run(`update coins set given = 1, pool_place = 1 where code = 'SOL'`);

  const partly = await run('recover');
  assert.equal(partly.code, 1);
  assert.match(partly.text, /^SOL +0 +0 +3 +2$/m);
  assert.match(partly.text, /the pool of SOL lacks 1 address imported after the backup/);
  assert.equal(await isBehindMarks(db), true);
  await importAddresses('sol-4', 'sol-5');
  const rest = await run('recover');
  assert.equal(rest.code, 0, rest.text);
  assert.match(rest.text, /the recovery is complete/);
  assert.equal(await isBehindMarks(db), false);
  assert.equal(await give(ids[4] ?? ''), 'sol-5');
  const notes = await db.rows<{ note: string }>(
    `select note from audit_events where action = 'chain.recover' order by created_at, id`,
  );
  assert.equal(notes.length, 2);
});

test('recover raises the index to the mark, and chain skip beyond the mark ends a recovery too', async () => {
  const marks = new MarkFile(join(folder, 'marks.log'));
  await world.createInvoice(50, 'ETH');
  await marks.raise('ETH', { next_index: 40n, given: 45n, pool_place: 0n });
  const { code, text } = await run('recover');
  assert.deepEqual([code, /^ETH +1 +40 +44 +0$/m.test(text)], [0, true], text);
  assert.match(text, /skerryd chain addresses ETH --from 1 --count 39/);
  assert.equal((await world.createInvoice(50, 'ETH')).deposit_address, 'ETH-address-40');

  await marks.raise('ETH', { next_index: 100n, given: 100n, pool_place: 0n });
  await compareMarks({ ...world.service, marks });
  assert.equal(await isBehindMarks(world.db), true);
  assert.equal((await run('chain', 'skip', 'ETH', '100')).code, 0);
  assert.equal(await isBehindMarks(world.db), false);
});

test('a long file of marks is replaced when it is compared with the database', async () => {
  const path = join(folder, 'long.log');
  await writeFile(path, '\nXMR 1 0 0\n'.repeat(10_000));
  await compareMarks({ ...world.service, marks: new MarkFile(path) });
  assert.ok((await stat(path)).size < 1_000);
});
