import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Qmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import type { MachineSpec, SupervisionResult } from '../../../../../src/ports/compute.ts';
import type { QemuWorld } from './qemu-world.ts';

/** Calls the driver in a process that is killed with SIGKILL as soon as the file exists. */
export async function killWhenExists(
  world: QemuWorld,
  file: string,
  verb: 'ensure' | 'rebuild',
  wanted: MachineSpec,
): Promise<void> {
  const { log: _log, ...options } = world.host.options;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'machine-child.ts'), verb, JSON.stringify(options), JSON.stringify(wanted)],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  await world.eventually(async () => existsSync(file) || child.exitCode !== null);
  child.kill('SIGKILL');
  await ended;
}

/** Formats supervision results, one line each. */
export function formatOutcomes(tended: readonly SupervisionResult[]): string[] {
  return tended.map(({ id, outcome, message }) => `${id} ${outcome}: ${message}`);
}

/** Runs one QMP command on the machine's QEMU, which must be running. */
export async function executeQmp(
  world: QemuWorld,
  id: string,
  command: string,
  args: Readonly<Record<string, unknown>>,
): Promise<void> {
  const qmp = await Qmp.open(world.host.layout.runtimeFile(id, 'qmp'));
  assert.ok(qmp);
  try {
    await qmp.execute(command, args);
  } finally {
    qmp.close();
  }
}
