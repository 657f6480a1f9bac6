/** `dns check`, `dns zones`, `dns publish`. */
import type { Command } from 'commander';
import { checkReverseDns } from '../domain/dns/check.ts';
import { type BlockZone, createMissingZones, listBlockZones, publishAllNames } from '../domain/dns/zones.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { DnsError } from '../ports/dns.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import { formatCount, formatTable } from './table.ts';

const LEVEL_LABELS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;

interface ZonesOptions {
  readonly create?: true;
  readonly nameserver: readonly string[];
}

export function addDns(program: Command, { resources, terminal }: OperatorContext): void {
  const dns = program.command('dns').description('reverse DNS: names of addresses');
  dns
    .command('check')
    .description('ask the server of names, and look for zones that are missing; ends with 1 where one is')
    .action(async () => {
      const { service } = await resources.service();
      const findings = await checkReverseDns(service);
      for (const line of formatTable(
        findings.map(({ level, subject, message }) => [LEVEL_LABELS[level], subject, message]),
      )) {
        terminal.out(line);
      }
      if (findings.some(({ level }) => level === 'look')) throw new ProblemsFound();
    });
  dns
    .command('zones')
    .option('--create', 'make those that are missing')
    .option('--nameserver <name>', 'who serves the new ones, again for each', collect, [])
    .description('print the zones that the pool of addresses needs')
    .action(async ({ create, nameserver }: ZonesOptions) => {
      if ((create === true) !== nameserver.length > 0) {
        throw new OperatorError('--create and --nameserver go together: new zones name who serves them');
      }
      const { service } = await resources.service();
      if (create) {
        const created = await refuseOnDnsError(createMissingZones(service, nameserver));
        terminal.out(`${formatCount(created.length, 'zone')} made`);
      }
      const zones = await refuseOnDnsError(listBlockZones(service));
      for (const line of formatTable([['region', 'block', 'zone', 'is there'], ...zones.map(zoneColumns)])) {
        terminal.out(line);
      }
    });
  dns
    .command('publish')
    .description('publish every name again, as on a new server of names')
    .action(async () => {
      const { service } = await resources.service();
      const count = await publishAllNames(service);
      terminal.out(`names of ${formatCount(count, 'server')} are being published`);
    });
}

/** The server of names, or its settings: the operator's to mend. */
async function refuseOnDnsError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DnsError) throw new OperatorError(error.message);
    throw error;
  }
}

function collect(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

function zoneColumns({ region, block, zone, coveredBy, isShared }: BlockZone): string[] {
  const missing = isShared ? 'MISSING: less than a /24, see docs/operators/networking.md' : 'MISSING';
  return [region, block, zone, coveredBy === null ? missing : coveredBy === zone ? 'yes' : `in ${coveredBy}`];
}
