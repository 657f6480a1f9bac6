/** The commands of the backup page that end a machine that belongs to no server. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../src/drivers/compute/qemu/command.ts';
import { hasLink } from '../../../../src/drivers/compute/qemu/net/link.ts';
import { codeBlocks, readGuide } from '../../../docs/docs-content.ts';
import { machineSpec } from '../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from './support/qemu-world.ts';

const FOLDER = '/var/lib/skerry/qemu';
const BLOCKS = codeBlocks(readGuide('operators/backup')).map(({ text }) => text);

/** Returns the code block with this command, without the commands of the service itself. */
function guideCommands(command: string): string {
  const block = BLOCKS.find((text) => text.includes(command)) ?? assert.fail(`no block has ${command}`);
  return block.replaceAll(/^(ID=|skerryd ).*\n/gm, '');
}

describe('manual removal of a machine', REAL_MACHINES, () => {
  let world: QemuWorld;
  before(async () => {
    world = await qemuWorld();
  });
  after(() => world?.close());

  it('a manually removed machine loses its process and network, stays away, and keeps its disk', async () => {
    const id = '0199d3a5-0000-7a40-9f3b-5d2e8c7b1a60';
    const { dir } = world.host.options;
    const shell = (text: string) =>
      world.net.runInRouter('bash', ['--norc', '-euc', `ID=${id}\n${text.replaceAll(FOLDER, dir)}`]);
    const spec = machineSpec({ id, host: world.hosts[0], ...world.machine, diskGb: 1 });
    await world.driver.ensure(spec);
    const said = await shell(guideCommands('machine.json'));
    assert.ok(said.includes(`"${spec.ipv4.address}"`) && said.includes(`"${spec.ipv6.prefix}"`), said);
    await shell(guideCommands('pkill'));
    await world.eventually(async () => !(await isOn(id)));
    assert.deepEqual([await world.driver.list(), await world.driver.superviseMachines()], [[], []]);
    assert.equal(await hasLink(world.host, world.host.tap(id)), false);
    assert.ok(existsSync(join(dir, `ended-${id}`, 'disk-1.qcow2')));
    // Its addresses can be assigned to another machine.
    const { ipv4, ipv6 } = spec;
    await world.driver.ensure({ ...spec, id: 'another', ipv4, ipv6 });
  });

  async function isOn(id: string): Promise<boolean> {
    const found = await run('pgrep', ['-f', `^qemu-system-x86_64 .*/machines/${id}/`]).catch(() => '');
    return found !== '';
  }
});
