/**
 * The service with hosts on other machines, as an operator adds them: each is a process of its own, with a
 * network namespace for its guests. A program of the operator routes addresses to the host that has them.
 */
import assert from 'node:assert/strict';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../src/drivers/compute/qemu/command.ts';
import { Layout } from '../../src/drivers/compute/qemu/layout.ts';
import { connectNamespace } from '../drivers/compute/qemu/support/wires.ts';
import { freePort } from '../support/free-port.ts';
import { type Environment, type StartedProcess, startUntil } from '../support/skerryd-process.ts';
import { RealWorld } from './real-world.ts';

const SIZE = ['--cpu', '8', '--ram-mb', '8192', '--disk-gb', '200'];

/** The program of the docs: it adds routes to its own host, and removes only those. */
const routeProgram = (outside: string, { 4: four, 6: six }: Readonly<Record<4 | 6, string>>) => `#!/bin/bash
set -eu
outside() { nsenter --net=/run/netns/${outside} ip "$@"; }
wanted=" $(tr '\\n' ' ') "
for prefix in $wanted; do
  case $prefix in
    *:*) outside -6 route replace "$prefix" via ${six} ;;
    *) outside route replace "$prefix" via ${four} ;;
  esac
done
outside route show via ${four} | while read -r address _; do
  [[ $wanted == *" $address/32 "* || $address == default ]] || outside route delete "$address" via ${four}
done
outside -6 route show via ${six} | while read -r prefix _; do
  [[ $wanted == *" $prefix "* || $prefix == default ]] || outside -6 route delete "$prefix" via ${six}
done
`;

/** One of the other machines. */
export class FleetHost {
  readonly name: string;
  readonly netns: string;
  readonly env: Environment;
  readonly #listen: readonly string[];
  #running: StartedProcess | undefined;

  constructor(name: string, machine: { netns: string; env: Environment; listen: readonly string[] }) {
    this.name = name;
    this.netns = machine.netns;
    this.env = machine.env;
    this.#listen = machine.listen;
  }

  async start(command: readonly string[] = ['run']): Promise<void> {
    this.#running = await startUntil(
      ['host', ...command, ...this.#listen],
      this.env,
      /^skerry host \S+ (listens) /m,
    );
  }

  /** The machine is gone, with its guests. */
  async vanish(): Promise<void> {
    await this.stop('SIGKILL');
    const pids = await run('ip', ['netns', 'pids', this.netns]);
    for (const pid of pids.split('\n').filter((line) => line !== '')) process.kill(Number(pid), 'SIGKILL');
  }

  /** Its guests keep running. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#running?.stop(signal);
    this.#running = undefined;
  }
}

export class FleetWorld {
  readonly world: RealWorld;
  readonly #hosts: FleetHost[] = [];

  private constructor(world: RealWorld) {
    this.world = world;
  }

  /** The service's own machine takes no servers. */
  static async open(settings: Environment = {}): Promise<FleetWorld> {
    const world = await RealWorld.open(settings);
    await world.operator('hosts', 'drain', 'vm-1');
    return new FleetWorld(world);
  }

  /** Makes a machine, and types the command there that the invitation prints. */
  async addHost(name: string): Promise<FleetHost> {
    const { world } = this;
    const folder = join(world.folder, name);
    await mkdir(folder);
    const number = this.#hosts.length + 1;
    const netns = `${world.net.router.slice(0, -1)}h${number}`;
    const { host: gateway } = await connectNamespace(world.net, netns, number);
    const program = join(folder, 'route');
    await writeFile(program, routeProgram(world.net.outside, gateway));
    await chmod(program, 0o755);
    const [address, peerAddress] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const env = {
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_LOG_LEVEL: 'warn',
      SKERRY_QEMU_ACCELERATOR: 'tcg',
      SKERRY_QEMU_DIR: join(folder, 'qemu'),
      SKERRY_QEMU_NETNS: netns,
      SKERRY_QEMU_ROUTES: 'command',
      SKERRY_QEMU_ROUTE_COMMAND: program,
    };
    const host = new FleetHost(name, {
      ...{ netns, env },
      listen: ['--listen', address, '--peer-listen', peerAddress],
    });
    this.#hosts.push(host);
    const inviting = await startUntil(
      ['hosts', 'invite', name, '--region', 'par', '--address', address, ...SIZE],
      world.env,
      /^ +skerryd host (join .*)$/m,
    );
    await host.start(inviting.found.split(' '));
    const { code, stderr } = await inviting.ended;
    assert.equal(code, 0, stderr);
    return host;
  }

  async close(): Promise<void> {
    for (const host of this.#hosts) await host.stop('SIGTERM');
    await this.world.close();
    for (const { netns, env } of this.#hosts) {
      const pids = await run('ip', ['netns', 'pids', netns]).catch(() => '');
      for (const pid of pids.split('\n').filter((line) => line !== '')) process.kill(Number(pid), 'SIGKILL');
      await run('ip', ['netns', 'delete', netns]).catch(() => undefined);
      await rm(new Layout(env.SKERRY_QEMU_DIR ?? '').runDir, { recursive: true, force: true });
    }
  }
}
