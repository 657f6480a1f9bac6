/** `doctor`: whether this machine and these settings can sell servers. `status`: how the service is doing. */
import type { Command } from 'commander';
import { checkReverseDns } from '../../domain/dns/check.ts';
import { databaseFindings } from '../../domain/health/database.ts';
import { examineInventory, sumPromised } from '../../domain/health/doctor.ts';
import { type Finding, readStatus } from '../../domain/health/status.ts';
import { checkFiles } from '../../domain/images/store.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { ExpectedResources, HostFinding } from '../../ports/compute.ts';
import type { OperatorContext, OperatorResources } from '../context.ts';
import { reportFindings } from '../format/findings.ts';
import type { Output } from '../format/output.ts';
import { checkSettings } from '../going-live.ts';
import { checkChains, checkRates } from '../money/chains.ts';

export interface DoctorOptions {
  readonly resources: OperatorResources;
  readonly output: Pick<Output, 'table'>;
  /** Shows which check just finished; null when no one is watching. A boot test takes minutes. */
  readonly progress: ((line: string) => void) | null;
  /** Runs the driver's own checks and yields each result as it is known. */
  readonly examine: (promised: ExpectedResources) => AsyncIterable<HostFinding>;
}

export function addDoctor(program: Command, { resources, output, progress, examine }: DoctorOptions): void {
  program
    .command('doctor')
    .description(
      'Check settings, coins, and this machine, and boot a test server; exits 1 if anything needs attention',
    )
    .action(async () => {
      const settings = checkSettings(resources.settings());
      const { findings: service, promised } = await checkService(resources);
      const findings: Finding[] = [...settings, ...service];
      for await (const finding of examine(promised)) {
        progress?.(`checked: ${finding.subject}`);
        findings.push(finding);
      }
      reportFindings(findings, output);
    });
}

/** Reports a database that cannot be opened as a finding: before the first start there is none. */
async function checkService(
  resources: OperatorResources,
): Promise<{ readonly findings: Finding[]; readonly promised: ExpectedResources }> {
  try {
    const open = await resources.service();
    const { service } = open;
    const database = await databaseFindings(service);
    const coins = await checkChains(open);
    const inventory = await examineInventory(service);
    const outside = [...(await checkReverseDns(service)), ...(await checkFiles(service))];
    const findings = [...database, ...coins, ...inventory, ...outside];
    return { findings, promised: await sumPromised(service) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const subject = /^SKERRY_(?!DATA_DIR)/.test(error.message) ? 'settings' : 'database';
    const findings: Finding[] = [{ level: 'fail', subject, message: error.message }];
    return { findings, promised: { ramMb: 0, diskGb: 0, unusedAddresses: [] } };
  }
}

export function addStatus(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('status')
    .description('Show the state of the service; exits 1 if anything needs attention')
    .action(async () => {
      const open = await resources.service();
      const rates = (await checkRates(open)).filter(({ level }) => level !== 'ok');
      reportFindings([...(await readStatus(open.service)), ...rates], terminal);
    });
}
