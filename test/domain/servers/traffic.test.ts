import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Service } from '../../../src/domain/context.ts';
import { setOutboundMail } from '../../../src/domain/servers/operator/controls.ts';
import { findServerForOperator } from '../../../src/domain/servers/operator/find.ts';
import { applyTraffic } from '../../../src/domain/servers/traffic.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { OperatorError } from '../../../src/kernel/operator-error.ts';
import { ComputeError, type Traffic } from '../../../src/ports/compute.ts';
import { RegionWorld } from './region-world.ts';

describe('server traffic', () => {
  let region: RegionWorld;
  let service: Service;
  let id: string;
  let shown: string;
  /** Driver calls, oldest first. */
  let calls: [id: string, traffic: Traffic][];
  let fault: ComputeError | null;
  before(async () => {
    region = await RegionWorld.open();
    await region.reset();
    const { service: real } = region.world;
    const traffic = async (of: string, wanted: Traffic) => {
      if (fault) throw fault;
      calls.push([of, wanted]);
    };
    service = { ...real, compute: Object.create(real.compute, { traffic: { value: traffic } }) };
    ({ id, shown } = await region.running());
  });
  after(() => region.world.close());
  beforeEach(() => {
    calls = [];
    fault = null;
  });

  const set = (assignment: string) =>
    region.world.db.run(`update servers set ${assignment} where id = $1`, [id]);
  const waiting = async () =>
    (await region.world.db.rows(`select from tasks where kind = 'traffic' and subject = $1`, [id])).length;
  const audited = async () =>
    (
      await region.world.db.rows<{ action: string }>(
        `select action from audit_events where resource = $1 and action like '%_mail'
          order by created_at, id`,
        [shown],
      )
    ).map(({ action }) => action);

  it('outbound mail is blocked at first, and each change is audited once and applied', async () => {
    assert.equal((await findServerForOperator(service, shown)).mail_allowed, false);
    for (const allowed of [true, false]) {
      await region.world.db.run('delete from tasks');
      region.world.clock.advanceS(1);
      assert.equal(await setOutboundMail(service, shown, allowed), true);
      assert.equal(await waiting(), 1);
      assert.equal(await setOutboundMail(service, shown, allowed), false);
      assert.equal(await applyTraffic(service, id), 'done');
      assert.deepEqual(calls.pop(), [id, { bitsPerS: null, mail: allowed, blackholed: [] }]);
    }
    assert.deepEqual(await audited(), ['server.allow_mail', 'server.block_mail']);
  });

  it('traffic is limited while the server is over its transfer allowance', async () => {
    await set('throttled = true, mail_allowed = true');
    await applyTraffic(service, id);
    const bitsPerS = service.settings.throttleMbps * 1_000_000;
    assert.deepEqual(calls, [[id, { bitsPerS, mail: true, blackholed: [] }]]);
    await set('throttled = false, mail_allowed = false');
  });

  it('traffic settings wait for the first run and are retried when the driver fails', async () => {
    fault = new ComputeError('transient', 'the host does not answer');
    await assert.rejects(applyTraffic(service, id), fault);
    fault = null;
    const { first_run_at: firstRun } = await region.server(id);
    await set('first_run_at = null');
    assert.deepEqual(await applyTraffic(service, id), { againMs: 1_000 });
    await region.world.db.run('update servers set first_run_at = $2 where id = $1', [id, firstRun]);
    assert.deepEqual(calls, []);
  });

  it('traffic settings of a server that is being destroyed or removed cannot be changed', async () => {
    const gone = newId(service.clock.now());
    await assert.rejects(setOutboundMail(service, formatId('server', gone), true), OperatorError);
    await set(`status = 'destroying'`);
    await assert.rejects(setOutboundMail(service, shown, true), OperatorError);
    for (const each of [id, gone]) assert.equal(await applyTraffic(service, each), 'done');
    assert.deepEqual(calls, []);
  });
});
