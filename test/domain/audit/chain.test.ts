import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FIRST_AUDIT_ID, linkAuditRows, trimAuditChain } from '../../../src/domain/audit/chain.ts';
import { checkHeads, recordDailyHead } from '../../../src/domain/audit/heads.ts';
import { recordAudit, systemActor } from '../../../src/domain/record.ts';
import { purgeExpired } from '../../../src/domain/upkeep/retention.ts';
import { AUDIT_INVARIANTS } from '../../../src/domain/verify/audit-chain.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { KeyRing } from '../../../src/kernel/secrets.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { AUDIT_ROW_HASH, countUnlinked, readChainHead } from '../../../src/store/audit-chain.ts';
import { auditChainJob } from '../../../src/workers/audit-chain.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';
import { startWorld } from '../../support/world.ts';

let world: TestService;
let folder: string;
let heads: string;
before(async () => {
  world = await startTestService();
  folder = scratchFolder();
  await mkdir(folder);
  heads = join(folder, 'audit-heads.log');
});
after(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const service = () => ({
  ...world.service,
  settings: { ...world.service.settings, auditHeadsFile: heads },
});

async function write(count: number): Promise<void> {
  const now = world.clock.now();
  for (let n = 0; n < count; n++) {
    const entry = { actor: systemActor(now), action: 'server.stop', resource: `srv_${n}` } as const;
    await recordAudit(world.db, entry, now);
  }
}

async function linkAll(): Promise<number> {
  let linked = 0;
  for await (const n of linkAuditRows(world.service, FIRST_AUDIT_ID)) linked += n;
  return linked;
}

/** Returns the broken invariants of the chain with their examples. */
async function faults(): Promise<string[]> {
  const findings = (await verify(world.service)).filter(
    ({ invariant, broken }) => AUDIT_INVARIANTS.includes(invariant) && broken > 0n,
  );
  return findings.map(({ invariant, examples }) => `${invariant.name}: ${examples[0]?.split(': ')[0]}`);
}

const headNo = async () => Number((await readChainHead(world.db)).no);

describe('the audit chain', () => {
  it('rows are linked once, however often and by however many processes', async () => {
    await write(1_200);
    const counts = await Promise.all([linkAll(), linkAll(), linkAll()]);
    const rest = await linkAll();
    assert.equal(
      counts.reduce((sum, n) => sum + n, rest),
      1_200,
    );
    assert.deepEqual([await headNo(), await countUnlinked(world.db)], [1_200, 0n]);
    assert.deepEqual(await faults(), []);
  });

  it('a row that becomes visible after newer ones were linked is linked next', async () => {
    const late = new Date(world.clock.now().getTime() - 10_000);
    const entry = { actor: systemActor(late), action: 'server.start', resource: 'srv_late' } as const;
    const job = auditChainJob(world.service, { spacingMs: 0 });
    assert.equal(await job.run(), 0);
    await world.db.transaction(async (tx) => {
      await recordAudit(tx, entry, late);
      await write(1);
      assert.equal(await job.run(), 1);
    });
    assert.equal(await job.run(), 1);
    assert.deepEqual([await headNo(), await faults()], [1_202, []]);
  });

  it('verify names the first link that is broken', async () => {
    const undo = `update audit_links set row_hash = $1 where no = 700 returning row_hash`;
    const [link] = await world.db.rows<{ row_hash: Buffer }>(
      'select row_hash from audit_links where no = 700',
    );
    await world.db.run(`update audit_links set row_hash = sha256('x') where no in (700, 900)`);
    assert.equal((await faults())[0], 'audit links form a chain: link 700');
    await world.db.rows(undo, [link?.row_hash]);
    assert.equal((await faults())[0], 'audit links form a chain: link 900');
    await world.db.run(
      `update audit_links l set row_hash = ${AUDIT_ROW_HASH} from audit_events e where e.id = l.event_id`,
    );
    assert.deepEqual(await faults(), []);
  });

  it('every column of an audit row is part of its hash', async () => {
    const columns = await world.db.rows<{ name: string }>(
      `select column_name as name from information_schema.columns
        where table_schema = 'public' and table_name = 'audit_events' and column_name <> 'id'`,
    );
    const changed: Record<string, string> = {
      ...{ customer_id: 'gen_random_uuid()', actor_token: 'gen_random_uuid()' },
      ...{ actor_session: 'gen_random_uuid()', created_at: `created_at + interval '1 us'` },
      result: `'denied'`,
    };
    for (const { name } of columns) {
      const undo = new Error('undo');
      const change = `update audit_events set ${name} = ${changed[name] ?? `'x'`}
                       where id = (select event_id from audit_links where no = 5)`;
      const differs = `select from audit_events e join audit_links l on l.event_id = e.id
                        where l.no = 5 and l.row_hash <> ${AUDIT_ROW_HASH}`;
      const work = world.db.transaction(async (tx) => {
        await tx.run(change);
        assert.equal((await tx.rows(differs)).length, 1, name);
        throw undo;
      });
      await assert.rejects(work, undo);
    }
  });

  it('a migrated log without links is linked at the start of the service', async () => {
    await world.db.run('delete from audit_links');
    assert.equal(await auditChainJob(world.service).run(), 1_202);
    assert.deepEqual([await headNo(), await faults()], [1_202, []]);
  });

  it('an anchor replaces links that the retention deleted, and the rest stays provable', async () => {
    world.clock.advanceS((91 * DAY_MS) / 1_000);
    await write(3);
    assert.equal(await linkAll(), 3);
    const job = async () => {
      let deleted = 0;
      for await (const n of purgeExpired(world.service, 'audit')) deleted += n;
      for await (const n of trimAuditChain(world.service)) deleted += n;
      return deleted;
    };
    assert.equal(await job(), 2 * 1_202);
    assert.equal(await job(), 0);
    const anchor = await world.db.row('select no from audit_anchor');
    assert.deepEqual([anchor, await headNo(), await faults()], [{ no: 1_202n }, 1_205, []]);
    await world.db.run('update audit_anchor set hash = sha256(hash)');
    assert.equal((await faults())[0], 'audit links form a chain: link 1203');
    await world.db.run(`delete from audit_links`);
    await world.db.run(`update audit_anchor set no = 0, hash = sha256('')`);
    assert.equal(await linkAll(), 3);
  });
});

describe('daily heads', () => {
  it('a day has one line, which fits the chain', async () => {
    assert.deepEqual([await recordDailyHead(service()), await recordDailyHead(service())], [true, false]);
    world.clock.advanceS(DAY_MS / 1_000);
    await write(2);
    await linkAll();
    assert.deepEqual([await recordDailyHead(service()), await recordDailyHead(service())], [true, false]);
    const { checked, broken, unknownKeys } = await checkHeads(service());
    assert.deepEqual([checked, broken, unknownKeys], [2n, 0n, 0n]);
  });

  it('a log that was rewritten with a chain that fits it does not fit the recorded heads', async () => {
    const copy = join(folder, 'copy.log');
    await copyFile(heads, copy);
    await world.db.run(`update audit_events set action = 'server.rescue'`);
    await world.db.run(`delete from audit_links`);
    await world.db.run(`update audit_anchor set no = 0, hash = sha256('')`);
    await linkAll();
    assert.deepEqual(await faults(), []);
    const { broken, faults: found } = await checkHeads(service(), copy);
    assert.deepEqual(
      [broken, found],
      [2n, ['line 1: link 3 has another hash', 'line 2: link 5 has another hash']],
    );
  });

  it('a log that lost its newest rows does not fit the recorded heads', async () => {
    await world.db.run(`delete from audit_links where no > 3`);
    const { faults: found } = await checkHeads(service());
    assert.equal(found[1], 'line 2: link 5 is missing');
    await linkAll();
  });

  it('links that were deleted too early are reported, and those of expired rows are not', async () => {
    const { no, hash } = await readChainHead(world.db);
    await world.db.run('delete from audit_links');
    await world.db.run('update audit_anchor set no = $1, hash = $2', [no, hash]);
    const early = 'line 1: link 3 was deleted before its retention ended';
    assert.equal((await checkHeads(service())).faults[0], early);
    world.clock.advanceS((92 * DAY_MS) / 1_000);
    const { broken, faults: found } = await checkHeads(service());
    // The second line names the anchor itself, whose hash is another one since the log was rewritten.
    assert.deepEqual([broken, found], [1n, ['line 2: link 5 has another hash']]);
  });

  it('a changed or invented line is not authentic, and one of a removed key is counted', async () => {
    const [first = ''] = (await readFile(heads, 'utf8')).split('\n');
    const line = JSON.parse(first) as Record<string, string>;
    const forged = [
      { ...line, hash: createHash('sha256').digest('hex') },
      { ...line, at: '2020-01-01T00:00:00Z' },
      { ...line, link: '999' },
      { ...line, row_at: '2020-01-01T00:00:00Z' },
      { ...line, mac: 'x' },
    ].map((each) => JSON.stringify(each));
    const path = join(folder, 'forged.log');
    await writeFile(path, [...forged, 'not JSON', 'null', ''].join('\n'));
    const { checked, broken, faults: found } = await checkHeads(service(), path);
    assert.deepEqual([checked, broken], [7n, 7n]);
    assert.deepEqual(
      new Set(found.map((each) => each.replace(/\d+/, 'N'))),
      new Set(['line N: is not authentic']),
    );
    const keys = new KeyRing(`other:${Buffer.alloc(32, 1).toString('base64')}`);
    assert.equal((await checkHeads({ ...service(), keys })).unknownKeys, 2n);
  });
});

it('a deleted account leaves the audit chain provable', async () => {
  const full = await startWorld();
  try {
    const customer = await full.customer();
    const removed = await customer.post('/account-api.php', {
      action: 'delete_account',
      current_password: PASSWORD,
    });
    assert.equal(removed.body.completed, true, removed.text);
    await full.settle();
    for await (const _ of linkAuditRows(full.opened.service, FIRST_AUDIT_ID));
    const findings = await verify(full.opened.service);
    const chain = findings.filter(({ invariant }) => AUDIT_INVARIANTS.includes(invariant));
    assert.deepEqual(
      chain.map(({ broken }) => broken),
      [0n, 0n, 0n],
    );
    assert.ok(
      chain.every(({ checked }) => checked >= 2n),
      'the sign-up and the deletion',
    );
    assert.equal(await countUnlinked(full.opened.db), 0n);
  } finally {
    await full.close();
  }
});
