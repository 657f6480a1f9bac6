/**
 * The compute contract through the composed driver, with three hosts in network namespaces of their own, one
 * of which is cut off again and again. Another process runs it in the namespace of the control plane.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { run } from '../../../../src/drivers/compute/qemu/command.ts';
import { seededRuns } from '../../../support/seed.ts';
import { NET_SKIP } from '../qemu/support/net-world.ts';
import { HOST_ADDRESSES, namespaceOf } from './namespaces.ts';

const CONTRACT = fileURLToPath(new URL('./namespaces-contract.ts', import.meta.url));
const CUT_MS = fc.integer({ min: 50, max: 1_500 });
const CUTS_MAX = 1_000;
/** The contract has more tests: fewer mean that it did not run. */
const TESTS_MIN = 30;

describe('three hosts in network namespaces', { skip: NET_SKIP }, () => {
  const control = namespaceOf('control');
  before(async () => {
    for (const name of ['control', ...Object.keys(HOST_ADDRESSES)]) {
      await run('ip', ['netns', 'add', namespaceOf(name)]);
      await inNamespace(namespaceOf(name), 'ip', 'link', 'set', 'lo', 'up');
    }
    await inNamespace(control, 'ip', 'link', 'add', 'lan', 'type', 'bridge');
    await inNamespace(control, 'ip', 'addr', 'add', '198.51.100.1/24', 'dev', 'lan');
    await inNamespace(control, 'ip', 'link', 'set', 'lan', 'up');
    for (const [name, address] of Object.entries(HOST_ADDRESSES)) await connect(name, address);
  });
  after(async () => {
    for (const name of ['control', ...Object.keys(HOST_ADDRESSES)])
      await run('ip', ['netns', 'del', namespaceOf(name)]).catch(() => undefined);
  });

  it('the contract holds while one of them is cut off at random', async (t) => {
    const cuts = seededRuns(t, CUTS_MAX);
    const args = [`--net=/run/netns/${control}`, process.execPath, '--disable-warning=ExperimentalWarning'];
    // The inner tests report to us, not to the runner of this file.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const contract = spawn('nsenter', [...args, '--test-reporter=tap', CONTRACT], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    contract.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ended = once(contract, 'close');
    const made = await cutWhileRunning(contract, fc.sample(CUT_MS, cuts));
    const [code] = await ended;
    assert.equal(code, 0, `seed ${cuts.seed}\n${output}`);
    const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1]);
    assert.ok(passed >= TESTS_MIN, `${passed} tests ran`);
    assert.ok(made >= 3, `${made} cuts`);
  });
});

/** Takes the link of host `c` down and up by turns. Returns how often. */
async function cutWhileRunning(contract: ChildProcess, durationsMs: readonly number[]): Promise<number> {
  for (const [turn, durationMs] of durationsMs.entries()) {
    if (contract.exitCode !== null || contract.signalCode !== null) return turn;
    const state = turn % 2 === 0 ? 'down' : 'up';
    await inNamespace(namespaceOf('control'), 'ip', 'link', 'set', 'to-c', state);
    await pause(durationMs);
  }
  return durationsMs.length;
}

async function connect(name: string, address: string): Promise<void> {
  const control = namespaceOf('control');
  const peer = ['type', 'veth', 'peer', 'name', 'uplink', 'netns', namespaceOf(name)];
  await inNamespace(control, 'ip', 'link', 'add', 'name', `to-${name}`, ...peer);
  await inNamespace(control, 'ip', 'link', 'set', `to-${name}`, 'master', 'lan', 'up');
  await inNamespace(namespaceOf(name), 'ip', 'addr', 'add', `${address}/24`, 'dev', 'uplink');
  await inNamespace(namespaceOf(name), 'ip', 'link', 'set', 'uplink', 'up');
}

async function inNamespace(namespace: string, ...command: readonly string[]): Promise<void> {
  await run('nsenter', [`--net=/run/netns/${namespace}`, ...command]);
}
