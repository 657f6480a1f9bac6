/** The `skerryd doctor` check of a host's routes, and the systemd unit that fixes them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, it } from 'node:test';
import { checkBlackholes } from '../../../../../src/drivers/compute/qemu/examine/system.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { NetFixture } from '../support/net-fixture.ts';
import { NET_SKIP } from '../support/net-world.ts';

const UNIT = readFileSync(
  new URL('../../../../../deploy/skerry-blackhole@.service', import.meta.url),
  'utf8',
);
const UNUSED = ['192.0.2.66', '2001:db8:0:ff00::'];

let net: NetFixture;
let host: QemuHost;
before(async () => {
  if (NET_SKIP) return;
  net = await NetFixture.open();
  const options = { dir: '/nowhere', hosts: ['one'], accelerator: 'tcg', netns: net.router } as const;
  host = new QemuHost({ ...options, log: createLogger('silent') });
});
after(() => net?.close());

const ip = (...words: readonly string[]) => net.runInRouter('ip', words);
const found = async () => {
  const promised = { ramMb: 0, diskGb: 0, unusedAddresses: UNUSED };
  return (await checkBlackholes(host, promised)).map(
    ({ level, subject, message }) => `${level} ${subject} ${message}`,
  );
};
/** Runs the unit's start or stop command for this block. */
const unit = async (key: 'ExecStart' | 'ExecStop', block: string) => {
  const line = new RegExp(`^${key}=/bin/ip (.*)$`, 'm').exec(UNIT)?.[1] ?? assert.fail(key);
  await ip(...line.replaceAll('%I', block).split(' '));
};

it('doctor fails for unassigned addresses that use the default route, until the blackhole unit runs', {
  skip: NET_SKIP,
}, async () => {
  assert.deepEqual(await found(), []);
  await ip('route', 'add', 'default', 'via', '172.31.255.2');
  await ip('route', 'add', 'default', 'via', 'fd00:5ce7::2');
  assert.match((await found()).join(), /^fail routes 2 of the inventory's 2 blocks use the default route /);
  for (const _ of ['first', 'again']) await unit('ExecStart', '192.0.2.64/26');
  assert.match((await found()).join(), /^fail routes 1 of /);
  await unit('ExecStart', '2001:db8:0:ff00::/60');
  assert.deepEqual(await found(), []);
  for (const block of ['192.0.2.64/26', '2001:db8:0:ff00::/60']) await unit('ExecStop', block);
  assert.match((await found()).join(), /^fail routes 2 of /);
});
