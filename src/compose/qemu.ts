/** QEMU driver of this machine, from the settings. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { QemuCompute } from '../drivers/compute/qemu/driver.ts';
import type { QemuOptions } from '../drivers/compute/qemu/host.ts';
import type { Logger } from '../kernel/logger.ts';

function qemuOptions(config: Config): Omit<QemuOptions, 'log'> {
  const names = config.SKERRY_QEMU_HOSTS ?? hostname().toLowerCase();
  return {
    dir: config.SKERRY_QEMU_DIR ?? join(config.SKERRY_DATA_DIR, 'qemu'),
    hosts: names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    accelerator: config.SKERRY_QEMU_ACCELERATOR,
    netns: config.SKERRY_QEMU_NETNS,
  };
}

/** Returns the driver of real machines, or null if they are simulated. */
export function createQemuCompute(config: Config, log: Logger): QemuCompute | null {
  return config.SKERRY_COMPUTE === 'qemu' ? new QemuCompute({ ...qemuOptions(config), log }) : null;
}
