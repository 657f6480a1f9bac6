/**
 * Two hosts in network namespaces of their own, called over TLS, and clients in a third namespace, which is
 * connected to both and learns by BGP which of them has an address. BIRD runs in all three.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type PeerListener,
  type PeerTransfers,
  startPeerListener,
} from '../../../../../src/drivers/compute/host/peer-listener.ts';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import {
  type Announcement,
  QemuHost,
  type QemuOptions,
} from '../../../../../src/drivers/compute/qemu/host.ts';
import { withQmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { requireRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import type { ComputeDriver, MachineSpec, VolumeSpec } from '../../../../../src/ports/compute.ts';
import type { MachineMoves, Move, MovedMachine, MoveProgress } from '../../../../../src/ports/moves.ts';
import { machineSpec } from '../../compute-world.ts';
import { type HostWorld, hostWorld } from '../../host/host-world.ts';
import { hostConfiguration, routerConfiguration, startBird, stopBird } from './bird.ts';
import { LINK, LINK_V6 } from './net-fixture.ts';
import { type QemuWorld, qemuWorld } from './qemu-world.ts';
import { connectNamespace, type Wire } from './wires.ts';

/** For a guest without KVM that is busy. */
const SSH_MAX_MS = 120_000;
const SSH_PATIENCE = ['-o', 'ConnectTimeout=100'];

/** A move of a busy guest takes seconds on an idle machine. */
const MOVE_MAX_MS = 240_000;

const FIRST_WIRE: Wire = {
  host: { 4: LINK.router, 6: LINK_V6.router },
  outside: { 4: LINK.outside, 6: LINK_V6.outside },
};

/** One of the two hosts. */
export interface Side {
  /** Its name in the inventory. */
  readonly name: string;
  readonly driver: ComputeDriver & { readonly moves: MachineMoves };
  readonly host: QemuHost;
  readonly listener: PeerListener;
}

export interface MoveWorld {
  readonly world: QemuWorld;
  readonly one: Side;
  readonly three: Side;
  /** Starts a guest on the first host, and waits until it answers. */
  start(id: string, wanted?: Partial<MachineSpec>): Promise<MachineSpec>;
  /** A move with a key of its own. */
  createMove(spec: MachineSpec, from: Side, to: Side): Move;
  /** Makes room on the target, and sends until it is `sent` or `failed`. */
  send(move: Move, machine: MovedMachine): Promise<MoveProgress>;
  /** The whole move, as the control plane does it. */
  move(spec: MachineSpec, from: Side, to: Side, volumes?: readonly VolumeSpec[]): Promise<MoveProgress>;
  /** Runs a command in the guest, wherever it runs. */
  ssh(spec: MachineSpec, command: string): Promise<string>;
  /** The state of QEMU on both hosts, and the route of the clients, for the message of a failure. */
  describe(spec: MachineSpec): Promise<string>;
  close(): Promise<void>;
}

export async function moveWorld(): Promise<MoveWorld> {
  const listeners = [await openListener(), await openListener()] as const;
  const [first, second] = listeners;
  const dir = await mkdtemp(join(tmpdir(), `skerry-qemu-${process.pid}-`));
  const bird = (name: string) => join(dir, `bird-${name}`);
  const announcement = (name: string): Announcement => ({
    by: 'bird',
    file: join(bird(name), 'skerry-routes.conf'),
    socket: join(bird(name), 'bird.ctl'),
  });
  for (const name of ['one', 'three']) await mkdir(bird(name));
  const world = await qemuWorld({ peerAddress: first.address, announcement: announcement('one') });
  first.transfers = world.driver.transfers;
  const netns = `${world.net.router.slice(0, -1)}b`;
  const options: QemuOptions = {
    dir: join(dir, 'data'),
    hosts: ['three'],
    accelerator: 'tcg',
    netns,
    peerAddress: second.address,
    announcement: announcement('three'),
    log: createLogger('silent'),
  };
  const driver = openQemuCompute(options);
  second.transfers = driver.transfers;
  const wire = await connectNamespace(world.net, netns, 1);
  await driver.images.add(world.tiny.disk, { sha256: null });
  const { router, outside } = world.net;
  const daemons = [
    await startBird(outside, bird('router'), routerConfiguration(LINK.outside, [FIRST_WIRE, wire])),
    await startBird(router, bird('one'), await hostConfiguration(FIRST_WIRE, bird('one'))),
    await startBird(netns, bird('three'), await hostConfiguration(wire, bird('three'))),
  ];
  const served = [await hostWorld(world.driver), await hostWorld(driver)] as const;
  const [near, far] = served.map((each) => overTls(each));
  assert.ok(near && far);
  const one: Side = { name: 'one', driver: near, host: world.host, listener: first.listener };
  const host = new QemuHost(options);
  const three: Side = { name: 'three', driver: far, host, listener: second.listener };
  const sideOf = (name: string) => (name === 'one' ? one : three);
  let moves = 0;
  const createMove: MoveWorld['createMove'] = (spec, from, to) => ({
    ...{ id: `move-${moves++}`, machineId: spec.id, from: from.name, to: to.name, key: randomBytes(32) },
  });
  const describe: MoveWorld['describe'] = async ({ id, ipv4 }) => {
    const sides = [one, three].map(async ({ name, host }) => {
      const told = await withQmp(host, id, async (qmp) =>
        qmp ? [await qmp.execute('query-status'), await qmp.execute('query-migrate')] : 'no QEMU',
      );
      return `${name}: ${JSON.stringify(told)}`;
    });
    const route = world.net.runOutside('ip', ['route', 'get', ipv4.address]);
    return (await Promise.all([...sides, route])).join('\n');
  };
  const send: MoveWorld['send'] = async (move, machine) => {
    const endpoint = await sideOf(move.to).driver.moves.receive(move, machine);
    const deadline = performance.now() + MOVE_MAX_MS;
    for (;;) {
      const progress = await sideOf(move.from).driver.moves.send(move, endpoint);
      if (progress.state !== 'copying') return progress;
      if (performance.now() > deadline) assert.fail(`still copying: ${await describe(machine.spec)}`);
    }
  };
  return {
    ...{ world, one, three, createMove, send, describe },
    start: async (id, wanted = {}) => {
      const spec = machineSpec({ id, host: 'one', ...world.machine, ...wanted });
      await world.driver.ensure(spec);
      await world.sshWithRetry(id, 'true');
      // The guest answers. How the end of an install is noticed is tested elsewhere.
      const record = await requireRecord(world.host.layout, id);
      await writeRecord(world.host.layout, { ...record, installingSince: null });
      return spec;
    },
    move: async (spec, from, to, volumes = []) => {
      const move = createMove(spec, from, to);
      const progress = await send(move, { spec: { ...spec, host: to.name }, volumes });
      const isSent = progress.state === 'sent';
      await (isSent ? to.driver.moves.takeOver(move) : from.driver.moves.keep(move));
      await (isSent ? from.driver.moves.forget(move, 'from') : to.driver.moves.forget(move, 'to'));
      return progress;
    },
    ssh: async (spec, command) =>
      await world.net.runOutside(
        'ssh',
        [...SSH_PATIENCE, ...world.sshArguments(spec.ipv4.address), command],
        {
          timeoutMs: SSH_MAX_MS,
        },
      ),
    close: async () => {
      for (const daemon of daemons) await stopBird(daemon, 'SIGKILL');
      for (const id of await driver.list()) await driver.remove(id).catch(() => undefined);
      for (const each of served) await each.close();
      await world.close();
      for (const { listener } of listeners) await listener.close();
      await run('ip', ['netns', 'delete', netns]).catch(() => undefined);
      for (const folder of [dir, host.layout.runDir]) await rm(folder, { recursive: true, force: true });
    },
  };
}

function overTls({ driver }: HostWorld): Side['driver'] {
  return { ...driver, moves: driver.moves ?? assert.fail('the host cannot move machines') };
}

interface OpenedListener {
  readonly listener: PeerListener;
  readonly address: string;
  /** Set once its driver is open. */
  transfers: PeerTransfers | null;
}

async function openListener(): Promise<OpenedListener> {
  const listen = { host: '127.0.0.1', port: 0 };
  const listener = await startPeerListener({
    listen,
    transfers: { find: (id) => opened.transfers?.find(id) },
  });
  const opened: OpenedListener = { listener, address: `127.0.0.1:${listener.port}`, transfers: null };
  return opened;
}
