import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Move } from '../../../../src/ports/moves.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import type { SimulatedWorld } from '../simulator/simulator-world.ts';
import { type ComposedWorld, composedWorld } from './composed-world.ts';

describe('moves through the composed driver', () => {
  let world: ComposedWorld;
  before(async () => {
    world = await composedWorld(['a', 'b']);
    for (const member of world.members) await world.addHost(member, `host-${member.name}`);
    await world.addHost(null, 'here');
  });
  after(() => world.close());

  const moves = () => world.driver.moves ?? assert.fail('the composed driver cannot move machines');
  const worldOf = (name: string): SimulatedWorld =>
    world.members.find((member) => member.name === name)?.world ?? world.local;
  const transfer = (id: string, from: string, to: string): Move => ({
    ...{ id: `move-${id}`, machineId: id, from, to },
    key: new Uint8Array(32),
  });
  const movesOf = async (name: string, id: string) =>
    (await worldOf(name).control.moves()).filter(({ machineId }) => machineId === id);

  it('each call goes to the backend of the host that it is for', async () => {
    const move = transfer('routed', 'host-a', 'host-b');
    const spec = machineSpec({ id: 'routed', host: 'host-b' });
    const endpoint = await moves().receive(move, { spec, volumes: [] });
    assert.deepEqual([(await movesOf('a', 'routed')).length, (await movesOf('b', 'routed')).length], [0, 1]);
    // The source does not have this machine, and only the source knows that.
    await failsAs('refused', moves().send(move, endpoint));
    await moves().keep(move);
    await moves().forget(move, 'from');
    assert.equal((await movesOf('b', 'routed'))[0]?.target, 'waiting');
    await moves().forget(move, 'to');
    assert.equal((await movesOf('b', 'routed'))[0]?.target, 'gone');
  });

  it('the calls of a volume go to the backend of the host that they are for', async () => {
    const { machineId: _, ...ids } = transfer('lone', 'host-a', 'host-b');
    const move = { ...ids, disk: { kind: 'volume', id: 'lone' } } as const;
    const endpoint = await moves().receiveDisk(move, { sizeGb: 1, snapshot: null });
    const seen = async (name: string) =>
      (await worldOf(name).control.diskMoves()).map(({ target }) => target);
    assert.deepEqual([await seen('a'), await seen('b')], [[], ['waiting']]);
    // The source does not have this volume, and only the source knows that.
    await failsAs('refused', moves().send(move, endpoint));
    await moves().keep(move);
    await moves().forget(move, 'to');
    assert.deepEqual([await seen('a'), await seen('b')], [[], ['gone']]);
  });

  it('a move between two hosts of one backend completes', async () => {
    await world.addHost(null, 'there');
    const spec = machineSpec({ id: 'local', host: 'here' });
    await world.driver.ensure(spec);
    await world.eventually(async () => (await worldOf('local').state('local')) === 'running');
    const move = transfer('local', 'here', 'there');
    const endpoint = await moves().receive(move, { spec: { ...spec, host: 'there' }, volumes: [] });
    await world.eventually(async () => (await moves().send(move, endpoint)).state === 'sent');
    await moves().takeOver(move);
    await moves().forget(move, 'from');
    const [seen] = await world.driver.observe(['local']);
    assert.deepEqual([seen?.host, seen?.state], ['there', 'running']);
  });

  it('a backend that is no longer in use is not called', async () => {
    const move = transfer('revoked', 'host-a', 'host-b');
    await world.local.db.run(`update backends set state = 'revoked' where name = 'a'`);
    await world.eventually(async () => {
      const kept = await moves()
        .keep(move)
        .then(
          () => true,
          () => false,
        );
      return !kept;
    });
    await failsAs('transient', moves().keep(move));
  });
});
