/** `dns check`, `dns zones`, `dns publish`. */
import type { Command } from 'commander';
import { checkReverseDns } from '../domain/dns/check.ts';
import { type BlockZone, createMissingZones, listBlockZones, publishAll } from '../domain/dns/zones.ts';
import { Refusal } from '../kernel/refusal.ts';
import { DnsError } from '../ports/dns.ts';
import { FoundWrong, type OperatorContext } from './context.ts';
import { counted, table } from './table.ts';

const LEVELS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;

interface ZonesOptions {
  readonly create?: true;
  readonly nameserver: readonly string[];
}

export function addDns(program: Command, { doors, terminal }: OperatorContext): void {
  const dns = program.command('dns').description('reverse DNS: names of addresses');
  dns
    .command('check')
    .description('ask the server of names, and look for zones that are missing; ends with 1 where one is')
    .action(async () => {
      const { service } = await doors.service();
      const findings = await checkReverseDns(service);
      for (const line of table(findings.map(({ level, what, says }) => [LEVELS[level], what, says]))) {
        terminal.out(line);
      }
      if (findings.some(({ level }) => level === 'look')) throw new FoundWrong();
    });
  dns
    .command('zones')
    .option('--create', 'make those that are missing')
    .option('--nameserver <name>', 'who serves the new ones, again for each', collect, [])
    .description('print the zones that the pool of addresses needs')
    .action(async ({ create, nameserver }: ZonesOptions) => {
      if ((create === true) !== nameserver.length > 0) {
        throw new Refusal('--create and --nameserver go together: new zones name who serves them');
      }
      const { service } = await doors.service();
      if (create) {
        const made = await inWords(createMissingZones(service, nameserver));
        terminal.out(`${counted(made.length, 'zone')} made`);
      }
      const zones = await inWords(listBlockZones(service));
      for (const line of table([['region', 'block', 'zone', 'is there'], ...zones.map(columns)])) {
        terminal.out(line);
      }
    });
  dns
    .command('publish')
    .description('publish every name again, as on a new server of names')
    .action(async () => {
      const { service } = await doors.service();
      const count = await publishAll(service);
      terminal.out(`names of ${counted(count, 'server')} are being published`);
    });
}

/** The server of names, or its settings: the operator's to mend. */
async function inWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DnsError) throw new Refusal(error.message);
    throw error;
  }
}

function collect(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

function columns({ region, block, zone, heldBy, isShared }: BlockZone): string[] {
  const missing = isShared ? 'MISSING: less than a /24, see the operator guide' : 'MISSING';
  return [region, block, zone, heldBy === null ? missing : heldBy === zone ? 'yes' : `in ${heldBy}`];
}
