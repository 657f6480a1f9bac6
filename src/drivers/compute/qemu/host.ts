/** This machine as a host of guests. Every part of the driver receives it. */

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

  /** Runs a program in the network namespace of the guests' interfaces. */
  runInNet(program: string, args: readonly string[], options?: CommandOptions): Promise<string> {
    const [first = program, ...rest] = this.inNet(program, args);
    return run(first, rest, options);
  }

  /** Returns the command line for that namespace. `ip netns exec` is no option: it hides cgroups. */
  inNet(program: string, args: readonly string[]): string[] {
    const { netns } = this.options;
    if (netns === null) return [program, ...args];
    return ['nsenter', `--net=/run/netns/${netns}`, program, ...args];
  }

  /** Runs calls for one machine one at a time, across all processes that manage this host. */
  withMachineLock<T>(machineId: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.withLock(this.layout.lock(`machine-${machineId}`), work);
  }

  /** Serializes work on the whole host, such as its packet filter. */
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
