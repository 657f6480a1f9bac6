/** `hosts lost` and `hosts fenced`: a host that does not come back. */
import type { Command } from 'commander';
import { describeLoss, fenceHost, loseHost } from '../../domain/inventory/lost-hosts.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { LostServers } from '../../spec/states.ts';
import type { HostContents } from '../../store/inventory/lost-hosts.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount } from '../format/table.ts';

interface LostOptions {
  readonly refund?: true;
  readonly rebuild?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

export function addLost(hosts: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  hosts
    .command('lost')
    .argument('<name>')
    .option('--refund', 'Refund the unused paid time of its servers, and delete them')
    .option('--rebuild', 'Install its servers again on other hosts, from their images')
    .option('--dry-run', 'Only print what is on it')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Give up a host that does not come back, with all data on its disks')
    .action(async (name: string, options: LostOptions) => await lose(context, name, options));
  hosts
    .command('fenced')
    .argument('<name>')
    .description('Confirm that a lost host is off or disconnected for good, and release its addresses')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const released = await recordCommandOn(service, 'hosts.fence', { kind: 'host', name }, () =>
        fenceHost(service, name),
      );
      const rest = formatCount(service.settings.addressRestDays, 'day');
      const count = formatCount(released, 'address', 'addresses');
      terminal.out(`host ${name} is fenced; ${count} will be available in ${rest}`);
    });
}

async function lose({ resources, terminal }: OperatorContext, name: string, options: LostOptions) {
  const servers = chooseServers(options);
  const { service, endSimulatedHost } = await resources.service();
  const contents = await describeLoss(service, name);
  for (const line of describeContents(contents)) terminal.out(line);
  if (options.dryRun) return;
  if (!options.yes) {
    if (!terminal.ask) throw new OperatorError('nothing was changed: pass --yes to give up the host');
    const question = `Give up ${name} for good? The data on its disks is lost.`;
    if (!(await terminal.ask(question))) return terminal.out('nothing was changed');
  }
  await recordCommandOn(service, 'hosts.lose', { kind: 'host', name }, async () => {
    await endSimulatedHost?.(name);
    await loseHost(service, name, servers);
  });
  terminal.out(`host ${name} is lost; see skerryd status for what is left to do`);
  if (contents.fenced_at === null)
    terminal.out(
      `when it is off for good, run skerryd hosts fenced ${name}: its addresses are held until then`,
    );
}

function chooseServers({ refund, rebuild }: LostOptions): LostServers {
  if (refund === rebuild) throw new OperatorError('pass either --refund or --rebuild');
  return refund ? 'refund' : 'rebuild';
}

function describeContents(host: HostContents): string[] {
  const { held_servers: held } = host;
  const lines = [
    `host ${host.name} has ${formatCount(host.servers, 'server')}, ` +
      `${formatCount(host.volumes, 'volume')}, and ${formatCount(host.snapshots, 'snapshot')}`,
  ];
  if (held > 0n) lines.push(`${formatCount(held, 'server')} under a legal hold: kept until it is lifted`);
  if (host.shared_disks > 0n)
    lines.push(
      `${formatCount(host.shared_disks, 'server')} on shared storage: restarted elsewhere with the disk`,
    );
  if (host.shared_volumes > 0n)
    lines.push(`it had ${formatCount(host.shared_volumes, 'shared volume')} last: the data is kept`);
  return lines;
}
