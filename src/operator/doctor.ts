/** `doctor`: whether this machine and these settings can sell servers, in plain words. */
import type { Command } from 'commander';
import { checkReverseDns } from '../domain/dns/check.ts';
import { examineInventory, sumPromised } from '../domain/doctor/inventory.ts';
import type { Finding } from '../domain/status.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { ExpectedResources, HostFinding } from '../ports/compute.ts';
import { checkChains } from './chains.ts';
import { type OperatorResources, ProblemsFound } from './context.ts';
import { checkSettings } from './going-live.ts';

const LEVEL_LABELS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;
const WIDTHS = { level: 6, what: 24 };

export interface DoctorOptions {
  readonly resources: OperatorResources;
  /** A line on standard output. */
  readonly out: (line: string) => void;
  /** What the driver finds, as it finds it. */
  readonly examine: (promised: ExpectedResources) => AsyncIterable<HostFinding>;
}

export function addDoctor(program: Command, { resources, out, examine }: DoctorOptions): void {
  program
    .command('doctor')
    .description(
      'say what lacks to sell servers for real: settings, coins, this machine; boots one to prove the rest, and ends with 1 when something is wrong',
    )
    .action(async () => {
      let hasProblem = false;
      const report = ({ level, subject, message }: Finding) => {
        hasProblem ||= level === 'look';
        out(`${LEVEL_LABELS[level].padEnd(WIDTHS.level)}${subject.padEnd(WIDTHS.what)}${message}`);
      };
      for (const finding of checkSettings(resources.settings())) report(finding);
      const { findings, promised } = await checkService(resources);
      for (const finding of findings) report(finding);
      // Each as it is found: a boot takes its time.
      for await (const finding of examine(promised)) report(finding);
      if (hasProblem) throw new ProblemsFound();
    });
}

/** Before the first start there is no database, and much to see already. */
async function checkService(
  resources: OperatorResources,
): Promise<{ readonly findings: Finding[]; readonly promised: ExpectedResources }> {
  try {
    const open = await resources.service();
    const { service } = open;
    const database: Finding = { level: 'ok', subject: 'database', message: 'answers' };
    const coins = await checkChains(open);
    const inventory = await examineInventory(service);
    const findings = [database, ...coins, ...inventory, ...(await checkReverseDns(service))];
    return { findings, promised: await sumPromised(service) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const subject = /^SKERRY_(?!DATA_DIR)/.test(error.message) ? 'settings' : 'database';
    const findings: Finding[] = [{ level: 'look', subject, message: error.message }];
    return { findings, promised: { ramMb: 0, diskGb: 0, unusedAddresses: [] } };
  }
}
