/** `doctor`: whether this machine and these settings can sell servers, in plain words. */
import type { Command } from 'commander';
import { checkReverseDns } from '../domain/dns/check.ts';
import { examineInventory, promisedBy } from '../domain/doctor/inventory.ts';
import type { Finding } from '../domain/status.ts';
import { Refusal } from '../kernel/refusal.ts';
import type { Examined, Promised } from '../ports/compute.ts';
import { examineChains } from './chains.ts';
import { FoundWrong, type OperatorDoors } from './context.ts';
import { examineSettings } from './going-live.ts';

const WORDS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;
const WIDTHS = { level: 6, what: 24 };

export interface DoctorParts {
  readonly doors: OperatorDoors;
  /** A line on standard output. */
  readonly out: (line: string) => void;
  /** What the driver finds, as it finds it. */
  readonly examine: (promised: Promised) => AsyncIterable<Examined>;
}

export function addDoctor(program: Command, { doors, out, examine }: DoctorParts): void {
  program
    .command('doctor')
    .description(
      'say what lacks to sell servers for real: settings, coins, this machine; boots one to prove the rest, and ends with 1 when something is wrong',
    )
    .action(async () => {
      let wrong = false;
      const tell = ({ level, what, says }: Finding) => {
        wrong ||= level === 'look';
        out(`${WORDS[level].padEnd(WIDTHS.level)}${what.padEnd(WIDTHS.what)}${says}`);
      };
      for (const finding of examineSettings(doors.settings())) tell(finding);
      const { findings, promised } = await readService(doors);
      for (const finding of findings) tell(finding);
      // Each as it is found: a boot takes its time.
      for await (const finding of examine(promised)) tell(finding);
      if (wrong) throw new FoundWrong();
    });
}

/** Before the first start there is no database, and much to see already. */
async function readService(
  doors: OperatorDoors,
): Promise<{ readonly findings: Finding[]; readonly promised: Promised }> {
  try {
    const open = await doors.service();
    const { service } = open;
    const database: Finding = { level: 'ok', what: 'database', says: 'answers' };
    const coins = await examineChains(open);
    const inventory = await examineInventory(service);
    const findings = [database, ...coins, ...inventory, ...(await checkReverseDns(service))];
    return { findings, promised: await promisedBy(service) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const what = /^SKERRY_(?!DATA_DIR)/.test(error.message) ? 'settings' : 'database';
    const findings: Finding[] = [{ level: 'look', what, says: error.message }];
    return { findings, promised: { ramMb: 0, diskGb: 0, unused: [] } };
  }
}
