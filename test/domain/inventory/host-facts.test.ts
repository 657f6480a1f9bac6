import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Service } from '../../../src/domain/context.ts';
import { readStatus } from '../../../src/domain/health/status.ts';
import { refreshHostFacts } from '../../../src/domain/inventory/host-facts.ts';
import { composeCompute } from '../../../src/drivers/compute/composed/driver.ts';
import type { BackendDriver } from '../../../src/drivers/compute/composed/link.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { createLogger } from '../../../src/kernel/logger.ts';
import { readVersion } from '../../../src/kernel/settings/version.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { HostFinding } from '../../../src/ports/compute.ts';
import type { HostFacts } from '../../../src/ports/host-facts.ts';
import { createBackendDirectory, insertBackend } from '../../../src/store/inventory/backends.ts';
import { listSeenHosts, type SeenHostRow } from '../../../src/store/inventory/host-facts.ts';
import { insertHost } from '../../../src/store/inventory/hosts.ts';
import { insertServiceRow } from '../../../src/store/service/service.ts';
import { hostFactsJob } from '../../../src/workers/jobs.ts';
import { runCommand } from '../../operator/operator-fixture.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const SIZE = { cpu: 4, ram_mb: 4_096, disk_gb: 100 };

/** The answer of a backend; `hangs` never gives any. */
type Script = Partial<Omit<HostFacts, 'time'>> & {
  readonly skewMs?: number;
  readonly outage?: 'refuses' | 'hangs';
  readonly reports?: false;
  readonly findings?: readonly HostFinding[];
};

describe('facts of hosts', () => {
  let world: TestService;
  let service: Service;
  let close: () => void;
  const scripts = new Map<string, Script>();

  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans(['par']);
    await insertServiceRow(world.db, { mode: 'sandbox', key_check: 'x' });
    for (const name of ['par-1', 'par-2']) await addBackend(name);
    const compute = composeCompute({
      local: world.service.compute,
      directory: createBackendDirectory(world.db),
      open: ({ name }) => scripted(name, () => scripts.get(name) ?? {}),
      log: createLogger('silent'),
    });
    close = compute.close;
    service = { ...world.service, compute, fleet: { ...world.service.fleet, ...compute.questions } };
  });
  after(async () => {
    close();
    await world.close();
  });
  beforeEach(async () => {
    scripts.clear();
    await world.db.run('delete from host_facts');
  });

  async function addBackend(name: string): Promise<void> {
    const now = new Date();
    const until = new Date(now.getTime() + DAY_MS);
    await insertBackend(world.db, {
      ...({ name, kind: 'host', address: '192.0.2.7:7443', region_id: 'par', state: 'active' } as const),
      ...{ identity: randomUUID(), fingerprint: 'ab'.repeat(32), created_at: now },
      ...{ certificate_from: now, certificate_until: until, renew_at: until },
    });
    await insertHost(world.db, {
      ...{ id: newId(now), name, region_id: 'par', backend: name, tags: [], created_at: now },
      ...{ ...SIZE, reserve_ram_mb: 0, reserve_disk_gb: 0 },
    });
  }

  async function seen(name: string): Promise<SeenHostRow> {
    return (await listSeenHosts(world.db, name))[0] ?? assert.fail(`no host ${name}`);
  }

  /** The alarms of `status` about hosts. */
  async function alarms(): Promise<string[]> {
    const all = await readStatus(service);
    return all.flatMap(({ subject, level, message }) => (subject === 'hosts' ? [`${level} ${message}`] : []));
  }

  async function operate(...argv: string[]) {
    return await runCommand(
      { service, register: async () => undefined, carryOut: async () => undefined, coins: null },
      argv,
    );
  }

  it('a worker keeps the latest facts of every host, and no more', async () => {
    const job = hostFactsJob({ ...service, compute: { ...service.compute, hosts: [] } });
    scripts.set('par-1', { load: 0.42, skewMs: -300 });
    await job.run();
    await refreshHostFacts(service);
    const row = await seen('par-1');
    assert.deepEqual([row.load, row.version, row.protocol, row.away_since], [0.42, readVersion(), 2, null]);
    assert.ok(Math.abs((row.skew_ms ?? 0) + 300) < 200, String(row.skew_ms));
    const rows = await world.db.rows<{ n: bigint }>('select count(*) as n from host_facts');
    assert.equal(rows[0]?.n, BigInt((await listSeenHosts(world.db)).length));
    assert.deepEqual(await alarms(), []);
  });

  it('a backend that hangs delays no facts of others, and is an alarm after a minute', async () => {
    await refreshHostFacts(service);
    const before = await seen('par-2');
    scripts.set('par-2', { outage: 'hangs' });
    scripts.set('par-1', { load: 0.9 });
    await refreshHostFacts(service);
    assert.equal((await seen('par-1')).load, 0.9);
    const startedAt = performance.now();
    await refreshHostFacts(service);
    assert.ok(performance.now() - startedAt < 2_000, 'an absent backend is waited for again');
    const away = await seen('par-2');
    assert.ok(away.away_since !== null);
    assert.deepEqual([away.seen_at, away.load], [before.seen_at, before.load]);
    assert.deepEqual(await alarms(), []);
    await world.db.run(`update host_facts set away_since = away_since - interval '61 seconds'`);
    const [alarm, ...others] = await alarms();
    assert.deepEqual(others, []);
    assert.match(alarm ?? '', /^fail par-2: does not answer since .* UTC \(last seen: /);
    assert.match((await operate('hosts', 'list')).out, /\npar-2 +par +away /);
    scripts.clear();
    while ((await seen('par-2')).away_since !== null) await refreshHostFacts(service);
    assert.deepEqual(await alarms(), []);
  });

  it('a host speaks for itself only', async () => {
    scripts.set('par-1', { host: 'par-2', load: 0.99 });
    await refreshHostFacts(service);
    assert.equal((await seen('par-2')).load, 0.25);
    assert.ok((await seen('par-1')).away_since !== null);
  });

  for (const [what, script, expected] of [
    ['a clock that is 3 seconds ahead', { skewMs: 3_000 }, /^warn par-1: clock 3\.0 s ahead: synchronize/],
    ['another version', { version: '0.0.9' }, /^warn par-1: Skerry 0\.0\.9, protocol 2, but the service is/],
    ['a disk that is nearly full', { diskFreeGb: 9 }, /^warn par-1: 9\.0 of 100\.0 GiB of disk free: /],
    ['a full disk', { diskFreeGb: 1.5 }, /^fail par-1: 1\.5 of 100\.0 GiB of disk free: nothing can be/],
    ['less memory than is sold', { ramMb: 2_048 }, /^fail par-1: the inventory promises 4096 MiB, but it/],
    [
      'an older host',
      { reports: false },
      /^warn par-1: its version does not report .*: update Skerry on it$/,
    ],
  ] as const satisfies readonly (readonly [string, Script, RegExp])[]) {
    it(`status and doctor tell of ${what}`, async () => {
      scripts.set('par-1', script);
      await refreshHostFacts(service);
      const [alarm, ...others] = await alarms();
      assert.match(alarm ?? '', expected);
      assert.deepEqual(others, []);
      const { code, out } = await operate('hosts', 'doctor', 'par-1', '--quick');
      assert.equal(code, 1);
      const found = alarm?.replace(/^\w+ par-1: /, '') ?? '';
      assert.ok(out.includes(found), out);
      assert.doesNotMatch(out, /192\.0\.2/);
    });
  }

  it('doctor asks hosts for their own checks, and passes when all is well', async () => {
    const findings = [{ level: 'ok', subject: 'kernel', message: 'new enough' }] as const;
    scripts.set('par-1', { findings });
    const good = await operate('hosts', 'doctor', 'par-1');
    assert.deepEqual([good.code, good.err], [0, '']);
    assert.match(good.out, /OK +par-1 +answers in/);
    assert.match(good.out, /OK +par-1 +certificate until/);
    assert.match(good.out, /OK +par-1 +kernel: new enough/);
    scripts.set('par-2', { findings: [{ level: 'fail', subject: 'kvm', message: 'missing' }] });
    const bad = await operate('hosts', 'doctor');
    assert.equal(bad.code, 1);
    assert.match(bad.out, /^FAIL +par-2 +kvm: missing\n/);
    assert.match((await operate('hosts', 'doctor', 'par-9')).err, /host par-9 not found/);
  });

  it('list and show print the state, load, version, clock, and certificate of a host', async () => {
    scripts.set('par-1', { load: 0.5, version: '0.0.9' });
    scripts.set('par-2', { reports: false });
    await operate('hosts', 'drain', 'par-2');
    await refreshHostFacts(service);
    const { out } = await operate('hosts', 'list');
    assert.match(out, /\npar-1 +par +ok +0\.50 +4 .*another machine, version 0\.0\.9$/m);
    assert.match(out, /\npar-2 +par +drained +4 .*another machine, earlier version$/m);
    const shown = (await operate('hosts', 'show', 'par-1')).out;
    for (const line of [/^state +ok$/m, /^version +0\.0\.9$/m, /^clock +/m, /^certificate +until /m]) {
      assert.match(shown, line);
    }
    assert.match(shown, /^disk +50\.0 of 100\.0 GiB free$/m);
    assert.match((await operate('hosts', 'show', 'par-2')).out, /^load per core +unknown: update Skerry on/m);
    await operate('hosts', 'undrain', 'par-2');
  });
});

function scripted(name: string, script: () => Script): BackendDriver {
  const answer = async <T>(result: () => T): Promise<T> => {
    const { outage } = script();
    if (outage === 'refuses') throw new Error('refused');
    if (outage === 'hangs') return await new Promise<never>(() => undefined);
    return result();
  };
  const readFacts = () => {
    const { skewMs = 0, outage, reports, findings, ...facts } = script();
    if (reports === false) return null;
    return [
      {
        ...{ host: name, version: readVersion(), time: new Date(Date.now() + skewMs), uptimeS: 7_200 },
        ...{ cores: 4, load: 0.25, ramMb: 8_192, ramAvailableMb: 4_096, diskGb: 100, diskFreeGb: 50 },
        ...facts,
      },
    ];
  };
  return {
    name: 'scripted',
    protocol: () => answer(() => 2),
    readFacts: () => answer(readFacts),
    observe: () => answer(() => []),
    examine: async function* () {
      yield* script().findings ?? [];
    },
    close: () => undefined,
  } as Partial<BackendDriver> as BackendDriver;
}
