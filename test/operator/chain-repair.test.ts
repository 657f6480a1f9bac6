/** `skerryd chain skip`, `chain reread`, and the `status` findings that call for them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../src/domain/context.ts';
import { coinFindings } from '../../src/domain/topups/chains/coin-findings.ts';
import { runOperator } from '../../src/operator/run.ts';
import { addToPool, createAddressPool } from '../../src/store/topups/addresses.ts';
import { TopupWorld } from '../support/topup-world.ts';

describe('repairing missed payments', () => {
  let world: TopupWorld;
  let live: Service;
  before(async () => {
    world = await TopupWorld.start();
    await world.db.run(`insert into service (mode, key_check) values ('live', 'none')`);
    live = { ...world.service, settings: { ...world.service.settings, mode: 'live' } };
  });
  after(() => world.close());

  async function run(argv: readonly string[]) {
    const out: string[] = [];
    const err: string[] = [];
    const resources = {
      settings: () => [],
      database: async () => world.db,
      service: async () => ({
        service: live,
        register: async () => undefined,
        carryOut: async () => undefined,
        coins: null,
      }),
    };
    const terminal = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void err.push(line),
      ask: null,
    };
    const code = await runOperator(argv, resources, undefined, terminal);
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  it('skip retires the next addresses permanently, also in a pool, and prints the next index', async () => {
    const before = await world.createInvoice(50, 'ETH');
    // The index was returned after the failure, but may have been issued since the backup.
    world.eth.failures.allocate = 1;
    await assert.rejects(world.createInvoice(50, 'ETH'));
    assert.match((await run(['chain', 'skip', 'ETH', '500'])).out, /^the next ETH address has index 502$/);
    const next = await world.createInvoice(50, 'ETH');
    assert.deepEqual([before.deposit_address, next.deposit_address], ['ETH-address-0', 'ETH-address-502']);

    const pool = createAddressPool(world.db, 'SOL', world.clock);
    await addToPool(world.db, 'SOL', ['sol-1', 'sol-2', 'sol-3'], world.clock.now());
    const code = `insert into coins (code, next_index) values ('SOL', 0)`;
    assert.match((await run(['chain', 'skip', 'SOL', '2'])).err, /SOL is not accepted/);
    await world.db.run(code);
    assert.match((await run(['chain', 'skip', 'SOL', '2'])).out, /^2 SOL addresses skipped$/);
    assert.equal((await pool.allocate(before.id))?.address, 'sol-3');
    assert.match((await run(['chain', 'skip', 'SOL', '2'])).err, /no SOL address is left/);
    const notes = await world.db.rows<{ note: string }>(
      `select note from audit_events where action = 'chain.skip'`,
    );
    assert.deepEqual(notes.map(({ note }) => note).sort(), ['2 addresses', '500, to index 502']);
  });

  it('skip rejects coins that are not enabled and counts out of range', async () => {
    assert.match((await run(['chain', 'skip', 'ETH', '100001'])).err, /at most 100000/);
    assert.match((await run(['chain', 'skip', 'LTC', '10'])).err, /LTC is not accepted/);
    for (const wrong of ['0', '-1', 'all'])
      assert.equal((await run(['chain', 'skip', 'ETH', wrong])).code, 2);
    await world.db.run(`update coins set next_index = 999999990 where code = 'ETH'`);
    assert.match((await run(['chain', 'skip', 'ETH', '11'])).err, /fewer indexes left/);
    assert.equal((await run(['chain', 'skip', 'ETH', '10'])).code, 0);
  });

  it('reread finds missed payments, credits nothing twice, and can be repeated', async () => {
    world.eth.terse = true;
    const [seen, missed] = [await world.createInvoice(50, 'ETH'), await world.createInvoice(50, 'ETH')];
    const from = world.eth.height;
    world.eth.pay(seen.deposit_address, seen.deposit_units);
    world.eth.hiddenKeys.add(world.eth.pay(missed.deposit_address, missed.deposit_units));
    world.eth.mine(90);
    await world.runUntilIdle();
    world.eth.hiddenKeys.clear();
    world.eth.mine();
    await world.runUntilIdle();
    assert.deepEqual([await world.balance(seen), await world.balance(missed)], [5_000n, 0n]);
    for (let i = 0; i < 2; i++) {
      const { out } = await run(['chain', 'reread', 'ETH', '--from', `${from}`]);
      assert.equal(out, `ETH will be read again from block ${from}, starting with the next poll`);
      await world.runUntilIdle();
      assert.deepEqual([await world.balance(seen), await world.balance(missed)], [5_000n, 5_000n]);
    }
  });

  it('reread wins over a worker that is reading at the same time', async () => {
    world.eth.mine();
    world.eth.duringPoll = async () => {
      world.eth.duringPoll = async () => undefined;
      assert.equal((await run(['chain', 'reread', 'ETH', '--from', '1001'])).code, 0);
    };
    await world.runUntilIdle();
    assert.equal(world.eth.polls.at(-1), `1000:${'0'.repeat(64)}`);
  });

  it('reread rejects a future block and coins that are not read by block', async () => {
    assert.match(
      (await run(['chain', 'reread', 'ETH', '--from', '100000'])).err,
      /is read up to block \d+: choose/,
    );
    assert.match((await run(['chain', 'reread', 'LTC', '--from', '1'])).err, /no LTC address/);
    assert.match((await run(['chain', 'reread', 'SOL', '--from', '1'])).err, /not read by block/);
    assert.equal((await run(['chain', 'reread', 'ETH'])).code, 2);
    assert.equal((await run(['chain', 'reread', 'ETH', '--from', '-1'])).code, 2);
  });

  it('status reports many unpaid top-ups in a day and payments older than their top-ups', async () => {
    const says = async () => (await coinFindings(live)).map((each) => each.message).join('\n');
    assert.doesNotMatch(await says(), /unpaid|older than/);
    const [made, paid] = [await world.createInvoice(50, 'ETH'), await world.createInvoice(50)];
    world.btc.pay(paid.deposit_address, paid.deposit_units);
    world.btc.mine();
    await world.runUntilIdle();
    await world.db.run(
      `insert into topups select (jsonb_populate_record(t, jsonb_build_object(
         'id', gen_random_uuid(), 'public_no', 1000000000 + n,
         'order_ref', 'ord_' || n, 'deposit_address', 'other-' || n))).*
         from topups t, generate_series(1, 600) n where t.id = $1`,
      [made.id],
    );
    assert.match(await says(), /ETH: \d{3} top-ups of the last 24 hours are unpaid.* topups list --coin ETH/);
    await world.db.run(`delete from topups where order_ref ~ '^ord_[0-9]+$'`);
    assert.doesNotMatch(await says(), /unpaid/);
    const update = `update deposits d set included_at = p.created_at - $1 * interval '1 minute'
       from topups p where p.id = d.topup_id and d.coin = 'BTC'`;
    await world.db.run(update, [170]);
    assert.doesNotMatch(await says(), /older than/);
    await world.db.run(update, [190]);
    assert.match(await says(), /^BTC: 1 payments are older than their top-ups\. If a database was restored/m);
    await world.db.run(update, [0]);
  });
});
