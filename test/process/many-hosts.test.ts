/**
 * Runs the walk to the third host of the second region, as the docs have it, on this machine: each machine of
 * the walk is a folder and a network namespace, with its own processes. Replaced are only paths, addresses,
 * ports, and sizes, and the programs that would change this machine.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codeBlocks, readGuide } from '../docs/docs-content.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { CAN_WALK, WalkWorld } from './walk-world.ts';

const GUIDE = readGuide('operators/hosts');

/** The blocks of one step, in order. */
function step(number: number, language = 'sh'): string[] {
  const [, section = ''] = GUIDE.split(new RegExp(`^### ${number}\\. .*$`, 'm'));
  const blocks = codeBlocks(section.split(/^##+ /m)[0] ?? '').filter((block) => block.language === language);
  return blocks.map(({ text }) => text);
}

it('the walk leads from empty machines to the third host of the second region', {
  skip: FULL_ONLY.skip || CAN_WALK.skip,
}, async (t) => {
  const world = new WalkWorld();
  t.after(() => world.close());
  const [install = ''] = step(1);
  const service = await world.addMachine('par-1', install);
  await service.save('/etc/skerry/catalogue.yaml', step(2, 'yaml')[0] ?? '');
  await service.run(step(2)[0] ?? '');
  const [invite = '', join = '', enable = ''] = step(3);
  assert.match(join, /^skerryd host join zrh-1 --control-plane [0-9a-f]{64} --code [0-9a-f]+$/m);
  const invites = `${invite}\n${step(4).join('\n')}`.match(/^skerryd hosts invite .*$/gm) ?? [];
  assert.equal(invites.length, 3);
  for (const command of invites) {
    const name = /invite (\S+)/.exec(command)?.[1] ?? '';
    const host = await world.addMachine(name, install);
    await service.invite(command, host);
    await host.run(enable);
  }
  const [list = '', show = '', doctor = '', status = ''] = (step(5)[0] ?? '').trim().split('\n');
  for (const name of ['par-1', 'zrh-1', 'zrh-2', 'zrh-3']) {
    await service.eventually(list, new RegExp(`^${name} +${name.slice(0, 3)} +ok `, 'm'));
  }
  assert.match((await service.run(show)).stdout, /^certificate +until /m);
  const found = (await service.run(doctor, { mayFind: true })).stdout;
  for (const name of ['zrh-1', 'zrh-2', 'zrh-3']) {
    for (const fact of ['answers in', 'certificate until', 'Skerry ', 'clock ']) {
      assert.match(found, new RegExp(`^OK +${name} +${fact}`, 'm'), found);
    }
  }
  const { stdout } = await service.run(status, { mayFind: true });
  assert.doesNotMatch(stdout, /does not answer|certificate/);
});
