/**
 * The time from `POST /servers` to SSH, compared with a bare boot of the same QEMU command line with a new
 * disk on the same network. Both end when the guest's SSH server greets a client outside of the host. Both
 * alternate, so that other load affects them equally. Needs root and everything that the tests of real
 * machines need.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../src/drivers/compute/qemu/command.ts';
import { tinyMissing } from '../test/drivers/compute/qemu/support/tiny-image.ts';
import { RealWorld } from '../test/real/real-world.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const ROUNDS = 3;
/** A realistic client poll, with no noticeable load on the host. */
const POLL_INTERVAL_MS = 100;
const WAIT_FOR_SSH_SCRIPT =
  'until exec 3<>"/dev/tcp/$1/22" && read -r -t 2 l <&3 && [[ $l == SSH-* ]]; ' +
  'do sleep 0.03; done 2>/dev/null';

export async function benchReal(): Promise<Figure[]> {
  const missing = tinyMissing();
  if (missing !== null || process.getuid?.() !== 0) {
    throw new CannotMeasure(`real machines: ${missing ?? 'requires root'}`);
  }
  const world = await RealWorld.open();
  try {
    const [image, key] = [await world.imageId(), await world.addKey()];
    const times = { ordered: [] as number[], bare: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      const order = { name: `bench-${round}`, plan: 's1', region: 'par', image, ssh_keys: [key] };
      const ordered = await timeOrder(world, order);
      times.ordered.push(ordered.ms);
      times.bare.push(await timeBare(world, ordered));
      await world.api.delete(`/servers/${ordered.id}`);
      await world.eventually(
        'the server is deleted',
        async () => (await world.api.get('/servers')).body.data.length === 0,
      );
    }
    const [ordered, bare] = [median(times.ordered), median(times.bare)];
    process.stderr.write(`POST /servers to SSH ${ordered.toFixed(0)} ms, bare boot ${bare.toFixed(0)} ms\n`);
    return [
      {
        name: 'POST /servers to SSH ÷ bare boot of the same QEMU command',
        value: ordered / bare,
        unit: '×',
        limit: 1.2,
        goal: 1.1,
        bound: 'max',
      },
    ];
  } finally {
    await world.close();
  }
}

interface OrderedServer {
  readonly id: string;
  readonly address: string;
  readonly ms: number;
}

async function timeOrder(world: RealWorld, order: object): Promise<OrderedServer> {
  const startedAt = performance.now();
  const { status, body, text } = await world.api.post('/servers', order);
  if (status !== 201) throw new Error(text);
  for (;;) {
    const { body: server } = await world.api.get(`/servers/${body.id}`);
    if (server.ipv4) {
      await waitForSsh(world, server.ipv4.address);
      return { id: body.id, address: server.ipv4.address, ms: performance.now() - startedAt };
    }
    await pause(POLL_INTERVAL_MS);
  }
}

/**
 * Stops the server through the API, which keeps its network, then runs its QEMU command line with a new disk.
 */
async function timeBare(world: RealWorld, { id, address }: OrderedServer): Promise<number> {
  const qemuArguments = (await readQemuArguments(world)) ?? [];
  await world.api.post(`/servers/${id}/stop`);
  await world.waitForStatus(id, 'stopped');
  // After the guest shuts down, QEMU runs until the service cleans it up.
  await world.eventually('QEMU has exited', async () => (await readQemuArguments(world)) === null);
  const disk = join(world.folder, 'bare.qcow2');
  const [, originalDisk = ''] = /"filename":"([^"]+\/disk-1\.qcow2)"/.exec(qemuArguments.join(' ')) ?? [];
  const diskInfo = JSON.parse(await run('qemu-img', ['info', '--output=json', originalDisk])) as {
    'full-backing-filename': string;
    'virtual-size': number;
  };
  const base = [
    '-b',
    diskInfo['full-backing-filename'],
    '-F',
    'qcow2',
    disk,
    String(diskInfo['virtual-size']),
  ];
  await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...base]);
  const folder = join(world.folder, 'bare');
  await run('mkdir', ['-p', folder]);
  const bareArguments = qemuArguments
    .filter((word) => word !== '-S')
    .map((word) => word.replace(originalDisk, disk).replace(/\/run\/skerry\/[^,]*\//, `${folder}/`));
  const startedAt = performance.now();
  const [program = '', ...args] = ['nsenter', `--net=/run/netns/${world.net.router}`, ...bareArguments];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await waitForSsh(world, address);
    return performance.now() - startedAt;
  } finally {
    await killAndWait(child);
  }
}

async function killAndWait(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

/** Returns the command line of the only running guest; null if none runs. */
async function readQemuArguments(world: RealWorld): Promise<string[] | null> {
  for (const pid of (await world.net.runInRouter('ip', ['netns', 'pids', world.net.router]))
    .trim()
    .split('\n')) {
    const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);
    if (argv[0]?.startsWith('qemu-system')) return argv;
  }
  return null;
}

async function waitForSsh(world: RealWorld, address: string): Promise<void> {
  await world.net.runOutside('timeout', ['120', 'bash', '-c', WAIT_FOR_SSH_SCRIPT, 'wait', address], {
    timeoutMs: 130_000,
  });
}
