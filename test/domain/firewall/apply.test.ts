import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { applyFilter } from '../../../src/domain/firewall/apply.ts';
import { createGroup, updateGroup } from '../../../src/domain/firewall/groups.ts';
import { addRule } from '../../../src/domain/firewall/rules.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { ComputeError } from '../../../src/ports/compute.ts';
import type { Filter } from '../../../src/ports/network.ts';
import type { FirewallRuleBody } from '../../../src/spec/schemas/firewall.ts';
import { evaluateFilter } from '../../drivers/compute/evaluate-filter.ts';
import { ALLOW_WEB, FirewallWorld } from './firewall-world.ts';

describe('the filter in front of a server', () => {
  let ground: FirewallWorld;
  let service: Service;
  let actor: CustomerActor;
  /** The driver's calls, oldest first. */
  let calls: [id: string, filter: Filter | null][];
  let fault: ComputeError | null;
  before(async () => {
    ground = await FirewallWorld.open();
    const { capabilities } = ground.world.service.compute;
    const filter = async (id: string, wanted: Filter | null) => {
      if (fault) throw fault;
      calls.push([id, wanted]);
    };
    service = { ...ground.world.service, compute: { capabilities, filter } as unknown as Service['compute'] };
  });
  after(() => ground.world.close());
  beforeEach(async () => {
    actor = await ground.customer();
    calls = [];
    fault = null;
  });

  const group = (rules: FirewallRuleBody[], default_action: 'drop' | 'accept' = 'accept') =>
    createGroup(service, actor, { name: 'a', default_action, rules });

  it('the filter contains the groups in the order of attachment', async () => {
    const id = await ground.serverRow(actor);
    const applied_to = [formatId('server', id)];
    const older = await group([{ ...ALLOW_WEB, port: '22' }], 'drop');
    const newer = await group([{ ...ALLOW_WEB, direction: 'out', port: '53', proto: 'udp' }]);
    await updateGroup(service, actor, newer.id, { applied_to });
    await updateGroup(service, actor, older.id, { applied_to });
    await addRule(service, actor, newer.id, { ...ALLOW_WEB, port: '8000-8999', action: 'reject' });
    assert.equal(await applyFilter(service, id), 'done');
    const rule = { direction: 'in', proto: 'tcp', remote: '0.0.0.0/0', action: 'accept' };
    const filter = {
      rules: [
        { ...rule, direction: 'out', proto: 'udp', ports: [[53, 53]] },
        { ...rule, ports: [[8_000, 8_999]], action: 'reject' },
        { ...rule, ports: [[22, 22]] },
      ],
      defaultIn: 'drop',
      defaultOut: 'drop',
    };
    assert.deepEqual(calls, [[id, filter]]);
  });

  it('the filter is removed with the last group', async () => {
    const id = await ground.serverRow(actor, 'stopped');
    assert.equal(await applyFilter(service, id), 'done');
    assert.deepEqual(calls, [[id, null]]);
  });

  it('the filter is applied during the install and again after it', async () => {
    const id = await ground.serverRow(actor, 'provisioning');
    assert.deepEqual(await applyFilter(service, id), { againMs: 1_000 });
    assert.equal(calls.length, 0);
    await ground.world.db.run(`update servers set status = 'installing' where id = $1`, [id]);
    fault = new ComputeError('refused', 'no such machine');
    assert.deepEqual(await applyFilter(service, id), { againMs: 1_000 });
    fault = null;
    assert.deepEqual(await applyFilter(service, id), { againMs: 1_000 });
    assert.equal(calls.length, 1);
    await ground.world.db.run(`update servers set status = 'running', first_run_at = now() where id = $1`, [
      id,
    ]);
    assert.equal(await applyFilter(service, id), 'done');
    assert.equal(calls.length, 2);
  });

  it('a machine is filtered from its first moment, and changes follow', async () => {
    const { fixtures, simulator, runUntilIdle } = ground.world;
    await ground.takeFilterTasks();
    await fixtures.addHosts([1]);
    await fixtures.addAddresses(1);
    const buyer = await fixtures.addCustomer(10_000n);
    const { service: real } = ground.world;
    const { server } = await deploy(real, buyer, fixtures.buildOrder());
    const made = await createGroup(real, buyer, {
      name: 'web',
      default_action: 'drop',
      rules: [ALLOW_WEB],
      applied_to: [formatId('server', server.id)],
    });
    await runUntilIdle();
    const meets = async (port: number) =>
      evaluateFilter(await simulator.readFilter(server.id), {
        direction: 'in',
        proto: 'tcp',
        port,
        remote: '192.0.2.1',
      });
    assert.deepEqual([await meets(443), await meets(22)], ['accept', 'drop']);
    await addRule(real, buyer, made.id, { ...ALLOW_WEB, port: '22', action: 'reject' });
    await runUntilIdle();
    assert.equal(await meets(22), 'reject');
    await updateGroup(real, buyer, made.id, { applied_to: [] });
    await runUntilIdle();
    assert.equal(await simulator.readFilter(server.id), null);
  });

  it('a filter is retried when the driver fails, and skipped for deleted servers', async () => {
    const id = await ground.serverRow(actor);
    fault = new ComputeError('transient', 'the host does not respond');
    await assert.rejects(applyFilter(service, id), fault);
    fault = null;
    await ground.world.db.run(`update servers set status = 'destroying' where id = $1`, [id]);
    assert.equal(await applyFilter(service, id), 'done');
    await ground.world.db.run('delete from servers where id = $1', [id]);
    assert.equal(await applyFilter(service, id), 'done');
    assert.deepEqual(calls, []);
  });
});
