/** Operator commands for dedicated machines that no driver controls. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LIST_PLACES } from '../../src/kernel/faults/crash.ts';
import { parsePlaces } from '../support/crash-places.ts';
import { type ManualWorld, startManualWorld } from '../support/manual-world.ts';
import { FULL_ONLY } from '../support/runs.ts';
import type { SessionClient } from '../support/session-client.ts';

const SKERRYD = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

let world: ManualWorld;
let ann: SessionClient;
before(async () => {
  world = await startManualWorld();
  ann = await world.customer();
  await world.runOk(['machines', 'add', 'm1', 'm2', '--region', 'par', '--plan', 'r1']);
  await world.runOk(['machines', 'add', 'z1', '--region', 'zrh', '--plan', 'r2']);
  await world.runOk(['ips', 'add', '--region', 'par', '--block', '192.0.2.0/29']);
  await world.runOk(['ips', 'add', '--region', 'par', '--block', '2001:db8:7::/62']);
});
after(() => world.close());

function sell(machine: string, ...more: string[]): string[] {
  return ['dedicated', 'fulfil', machine, '--customer', ann.email, '--image', 'debian-13', ...more];
}

async function refused(why: string | RegExp, argv: readonly string[]): Promise<void> {
  const said = await world.runFailing(argv);
  assert.ok(typeof why === 'string' ? said.includes(why) : why.test(said), said);
}

async function state(machine: string): Promise<string | undefined> {
  const { db } = world.opened;
  return (await db.row<{ state: string }>('select state from machines where name = $1', [machine]))?.state;
}

test('a sale that is not possible gives the reason and leaves nothing behind', async () => {
  await refused('the balance is 0 USD and the cycle costs 89.9 USD: nothing was sold', sell('m1'));
  await world.addBalance(ann, 100_000n);
  await refused('machine m9 not found', sell('m9'));
  await refused('no customer has this email', [...sell('m1'), '--customer', 'nobody@example.org']);
  await refused('image not found', [...sell('m1'), '--image', 'plan9']);
  await refused('--name must be at most 63 lowercase', sell('m1', '--name', 'Web'));
  await refused('the customer has no SSH key k_x', sell('m1', '--ssh-key', 'k_x'));
  await world.runOk(['machines', 'add', 'b1', '--region', 'buh', '--plan', 'r3']);
  await refused('plan r3 is not sold in buh', sell('b1'));
  await refused('the pool of zrh has no free IPv4 address: add a block with `skerryd ips add`', sell('z1'));
  await world.runOk(['ips', 'add', '--region', 'zrh', '--block', '198.51.100.0/29']);
  await refused('the pool of zrh has no free /64', sell('z1'));
  await world.runOk(['customers', 'freeze', ann.email]);
  await refused('the account is frozen', sell('m1'));
  await world.runOk(['customers', 'unfreeze', ann.email]);
  assert.deepEqual([await state('m1'), await state('z1')], ['free', 'free']);
  assert.equal((await ann.get('/me.php')).body.balance, 1_000);
});

test('the list shows the state of each machine, and machines list shows how many are free', async () => {
  await world.runOk(sell('m1', '--months', '12'));
  const list = await world.runOk(['dedicated', 'list']);
  assert.match(list, /^machine +region +plan +state +since \(UTC\) +server +customer/);
  assert.match(list, new RegExp(`^m1 +par +r1 +sold +\\S+ \\S+ +srv_\\S+ +${ann.email}$`, 'm'));
  assert.match(list, /^m2 +par +r1 +free +\S+ \S+$/m);
  assert.match(await world.runOk(['machines', 'list']), /^par +r1 +2 +1$/m);
  await refused('m1 is sold', sell('m1'));
  const off = await world.runOk(['dedicated', 'off', 'm1']);
  assert.equal(off, 'm1 is off; its server is running: power it on again');
  assert.equal(await world.runOk(['dedicated', 'on', 'm1']), 'm1 is on');
});

test('a sale beyond the server quota of the account is rejected', async () => {
  const { settings } = world.opened.service;
  const { quotas } = settings;
  const set = (value: typeof quotas) => Object.defineProperty(settings, 'quotas', { value });
  set({ ...quotas, servers: 1 });
  try {
    await refused('the server limit of SKERRY_QUOTAS (1): nothing was sold', sell('m2'));
  } finally {
    set(quotas);
  }
});

test('a machine moves only to the next state, after a confirmation', async () => {
  const wipe = ['dedicated', 'wipe', 'm1'];
  await refused('m1 is sold: wipe it after its server is deleted', [...wipe, '--method', 'dd', '-y']);
  await refused('m2 is free: no wipe is due', ['dedicated', 'wipe', 'm2', '--method', 'dd', '-y']);
  await refused('m2 is not sold', ['dedicated', 'off', 'm2']);
  await world.opened.db.run(`update machines set state = 'wiping' where name = 'm2'`);
  const again = ['dedicated', 'wipe', 'm2'];
  await refused('pass either --method with how the disks were wiped, or --free', again);
  await refused('but not both', [...again, '--method', 'dd', '--free', '-y']);
  await refused('nothing was changed: pass --yes', [...again, '--method', 'dd']);
  assert.equal(await world.runOk([...again, '--method', 'dd'], false), 'nothing was changed');
  await refused('the method must be one line', [...again, '--method', 'a\nb', '-y']);
  await refused('m2 is not wiped yet', [...again, '--free', '-y']);
  assert.match(await world.runOk(['status']).catch(String), /NOTE +dedicated +m2: wipe and test it/);
  assert.match(
    await world.runOk([...again, '--method', 'nvme format, ses=1'], true),
    /^m2 is wiped and tested/,
  );
  await refused('m2 is already wiped and tested', [...again, '--method', 'dd', '-y']);
  assert.equal(await world.runOk([...again, '--free'], true), 'm2 is free');
  const log = await world.runOk(['audit', '--resource', 'm2']);
  assert.match(log, /machine\.wipe +m2 +ok .* nvme format, ses=1$/m);
  assert.match(log, /machine\.free +m2 +ok /);
});

test('manual commands are rejected where a driver controls the machines', async () => {
  const { compute } = world.opened.service;
  const { capabilities } = compute;
  const reached = { ...capabilities, dedicated: capabilities.vps };
  Object.defineProperty(compute, 'capabilities', { value: reached, configurable: true });
  try {
    for (const argv of [sell('m2'), ['dedicated', 'off', 'm1'], ['dedicated', 'wipe', 'm2', '--free', '-y']])
      await refused(`the compute driver (${compute.name}) manages dedicated machines`, argv);
    assert.match(await world.runOk(['dedicated', 'list']), /^m1 +par +r1 +sold /m);
  } finally {
    Object.defineProperty(compute, 'capabilities', { value: capabilities, configurable: true });
  }
});

/** Sells the machine in a process with this SKERRY_CRASH_AT. */
async function sellInProcess(machine: string, crashAt: string): Promise<ProcessEnd> {
  const child = spawn(process.execPath, [SKERRYD, ...sell(machine)], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...world.environment, SKERRY_CRASH_AT: crashAt },
  });
  const [stdout, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { stdout, signal };
}

interface ProcessEnd {
  readonly stdout: string;
  readonly signal: NodeJS.Signals | null;
}

/** Reads everything that a sale changes: the machine, the balance, servers, and events. */
async function readSale(machine: string): Promise<readonly unknown[]> {
  const { db } = world.opened;
  const count = async (of: string) =>
    Number((await db.row<{ n: bigint }>(`select count(*) as n from ${of}`))?.n);
  return [
    await state(machine),
    (await ann.get('/me.php')).body.balance,
    await count('servers'),
    await count(`events where type in ('server.created', 'server.running')`),
  ];
}

test('a fulfil command that is killed at any place has sold everything or nothing', FULL_ONLY, async (t) => {
  await world.runOk(['ips', 'add', '--region', 'par', '--block', '203.0.113.0/28']);
  await world.runOk(['ips', 'add', '--region', 'par', '--block', '2001:db8:8::/60']);
  await world.runOk(['machines', 'add', 'k', '--region', 'par', '--plan', 'r1']);
  await world.addBalance(ann, 100_000n);
  const listed = (await sellInProcess('k', LIST_PLACES)).stdout;
  const places = parsePlaces(listed);
  const commit = places.findIndex((place) => /^after commit\(.*\bservers\b/.test(place));
  assert.ok(commit > 0, listed);
  t.diagnostic(`${places.length} places`);
  for (const [index, place] of places.entries()) {
    const machine = `k${index}`;
    await world.runOk(['machines', 'add', machine, '--region', 'par', '--plan', 'r1']);
    const before = await readSale(machine);
    assert.equal((await sellInProcess(machine, place)).signal, 'SIGKILL', place);
    const now = await readSale(machine);
    if (index < commit) {
      assert.deepEqual(now, before, place);
    } else {
      assert.deepEqual([now[0], now[3]], ['sold', Number(before[3]) + 2], place);
      await refused(`${machine} is sold`, sell(machine));
    }
  }
});
