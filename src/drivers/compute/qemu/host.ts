/** This machine as a host of guests: what every part of the driver is handed. */

import { type CommandOptions, run } from './command.ts';
import { Layout } from './layout.ts';
import { Locks } from './lock.ts';
import { macAddress, tapName } from './names.ts';
import type { QemuOptions } from './options.ts';

export class QemuHost {
  readonly options: QemuOptions;
  readonly layout: Layout;
  readonly #locks = new Locks();

  constructor(options: QemuOptions) {
    this.options = options;
    this.layout = new Layout(options.dir);
  }

  get log(): QemuOptions['log'] {
    return this.options.log;
  }

  run(program: string, args: readonly string[], options?: CommandOptions): Promise<string> {
    return run(program, args, options);
  }

  /** The same where the guests' interfaces are. */
  runInNet(program: string, args: readonly string[], options?: CommandOptions): Promise<string> {
    const [first = program, ...rest] = this.inNet(program, args);
    return run(first, rest, options);
  }

  /** The words of a command that runs where the guests' interfaces are. Not `ip netns exec`: it would hide cgroups. */
  inNet(program: string, args: readonly string[]): string[] {
    const { netns } = this.options;
    if (netns === null) return [program, ...args];
    return ['nsenter', `--net=/run/netns/${netns}`, program, ...args];
  }

  /** Calls for one machine are carried out one after another, in every process that drives this host. */
  withMachineLock<T>(machineId: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.withLock(this.layout.lock(`machine-${machineId}`), work);
  }

  /** What concerns the whole host, its packet filter say. */
  withHostLock<T>(
    name: 'network' | 'tend' | 'images' | 'volumes' | 'space' | 'metrics',
    work: () => Promise<T>,
  ): Promise<T> {
    return this.#locks.withLock(this.layout.lock(name), work);
  }

  tap(machineId: string): string {
    return tapName(machineId);
  }
  mac(machineId: string): string {
    return macAddress(machineId);
  }
}
