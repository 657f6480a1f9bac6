/** `dns check`, `dns zones`, `dns publish`. */
import type { Command } from 'commander';
import { checkReverseDns } from '../domain/dns/check.ts';
import { type BlockZone, createMissingZones, listBlockZones, publishAllNames } from '../domain/dns/zones.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { DnsError } from '../ports/dns.ts';
import type { OperatorContext } from './context.ts';
import { reportFindings } from './format/findings.ts';
import { formatCount } from './format/table.ts';

interface ZonesOptions {
  readonly create?: true;
  readonly nameserver: readonly string[];
}

export function addDns(program: Command, { resources, terminal }: OperatorContext): void {
  const dns = program.command('dns').description('Manage reverse DNS');
  dns
    .command('check')
    .description('Check the name server and its zones; exits 1 if anything needs attention')
    .action(async () => {
      const { service } = await resources.service();
      const findings = await checkReverseDns(service);
      reportFindings(findings, terminal);
    });
  dns
    .command('zones')
    .option('--create', 'Create the missing zones')
    .option('--nameserver <name>', 'Name server of the new zones; repeatable', collect, [])
    .description('List the zones that the address pool needs')
    .action(async ({ create, nameserver }: ZonesOptions) => {
      if ((create === true) !== nameserver.length > 0) {
        throw new OperatorError('pass --create and --nameserver together: new zones need name servers');
      }
      const { service } = await resources.service();
      if (create) {
        const created = await refuseOnDnsError(createMissingZones(service, nameserver));
        terminal.out(`${formatCount(created.length, 'zone')} created`);
      }
      const zones = await refuseOnDnsError(listBlockZones(service));
      terminal.table(['region', 'block', 'zone', 'exists'], zones.map(zoneColumns));
    });
  dns
    .command('publish')
    .description('Publish every name again, for example on a new name server')
    .action(async () => {
      const { service } = await resources.service();
      const act = { operation: 'dns.publish', target: null } as const;
      const count = await recordCommand(service, act, () => publishAllNames(service));
      terminal.out(`publishing the names of ${formatCount(count, 'server')}`);
    });
}

/** Reports errors of the name server or its settings as the operator's to fix. */
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
  const missing = isShared ? 'MISSING: smaller than a /24, see docs/operators/networking.md' : 'MISSING';
  return [region, block, zone, coveredBy === null ? missing : coveredBy === zone ? 'yes' : `in ${coveredBy}`];
}
