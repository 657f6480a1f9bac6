/** `hosts doctor`: checks hosts now, from here and on the hosts themselves. */
import type { Command } from 'commander';
import pMap from 'p-map';
import type { Service } from '../../domain/context.ts';
import { sumPromised } from '../../domain/health/doctor.ts';
import { describeHost } from '../../domain/health/hosts.ts';
import type { Finding } from '../../domain/health/status.ts';
import { refreshHostFacts } from '../../domain/inventory/host-facts.ts';
import { sanitizeLine } from '../../domain/mail/templates/format.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { withTimeout } from '../../kernel/timeout.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { ComputeError } from '../../ports/compute.ts';
import { listSeenHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import type { OperatorContext } from '../context.ts';
import { reportFindings } from '../format/findings.ts';

/** Each boots a test server. */
const EXAMINED_AT_ONCE = 8;
const EXAMINATION_MAX_MS = 15 * MINUTE_MS;
const FINDING_MAX_CHARS = 1_000;

export function addHostDoctor(hosts: Command, { resources, terminal }: OperatorContext): void {
  hosts
    .command('doctor')
    .argument('[name]', 'Only this host')
    .option('--quick', 'Without the checks that a host makes itself, which boot a test server')
    .description('Check hosts; exits 1 if anything needs attention')
    .action(async (name: string | undefined, { quick = false }: { readonly quick?: boolean }) => {
      const { service } = await resources.service();
      await refreshHostFacts(service);
      const rows = await listSeenHosts(service.db, name ?? null);
      if (rows.length === 0 && name !== undefined) {
        throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
      }
      const found = rows.flatMap((row) =>
        describeHost(row).map((finding): Finding => ({ ...finding, subject: row.name })),
      );
      const examined = quick ? [] : await examineHosts(service, rows);
      reportFindings([...found, ...examined], terminal);
    });
}

/** A machine with several names in the inventory is examined once. */
async function examineHosts(service: Service, rows: readonly SeenHostRow[]): Promise<Finding[]> {
  const reachable = rows.filter((row) => !row.revoked && row.lost_at === null && row.away_since === null);
  const machines = Map.groupBy(reachable, ({ backend }) => backend ?? LOCAL_BACKEND);
  const findings = await pMap(
    machines,
    ([backend, hosts]) =>
      examineMachine(
        service,
        backend,
        hosts.map(({ name }) => name),
      ),
    { concurrency: EXAMINED_AT_ONCE },
  );
  return findings.flat();
}

async function examineMachine(
  service: Service,
  backend: string,
  names: readonly string[],
): Promise<Finding[]> {
  const subject = names.join(', ');
  const findings: Finding[] = [];
  const examine = async () => {
    const promised = await sumPromised(service, names);
    // Memory was compared with the latest facts.
    for await (const finding of service.fleet.examine(backend, { ...promised, ramMb: 0 })) {
      const text = `${finding.subject}: ${finding.message}`;
      findings.push({ ...finding, subject, message: sanitizeLine(text, FINDING_MAX_CHARS) });
    }
  };
  try {
    await withTimeout(examine(), EXAMINATION_MAX_MS);
  } catch (error) {
    const reason = error instanceof ComputeError ? error.message : 'they did not end';
    findings.push({ level: 'fail', subject, message: `its own checks were cut off: ${reason}` });
  }
  return findings;
}
