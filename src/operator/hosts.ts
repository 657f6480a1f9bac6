/** `hosts add`, `hosts resize`, `hosts drain`, `hosts undrain`, `hosts list`. */
import type { Command } from 'commander';
import { addHost, drainHost, type HostSize, resizeHost } from '../domain/inventory/hosts.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { listHosts } from '../store/hosts.ts';
import type { OperatorContext } from './context.ts';
import { parsePositiveInt } from './options.ts';
import { formatTable } from './table.ts';

interface HostOptions {
  readonly region: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
}

export function addHosts(program: Command, { resources, terminal }: OperatorContext): void {
  const hosts = program.command('hosts').description('the hosts that carry virtual servers');
  hosts
    .command('add')
    .argument('<name>', 'as the compute driver knows it: with QEMU one of SKERRY_QEMU_HOSTS')
    .requiredOption('--region <code>', 'such as par')
    .requiredOption('--cpu <cores>', 'physical cores', parsePositiveInt)
    .requiredOption('--ram-mb <MiB>', 'memory for servers', parsePositiveInt)
    .requiredOption('--disk-gb <GiB>', 'disk for servers', parsePositiveInt)
    .description('add a host')
    .action(async (name: string, { region, ...size }: HostOptions) => {
      const { service, register } = await resources.service();
      await addHost(service, { name, regionId: region, ...size }, register);
      terminal.out(`host ${name} takes servers in ${region}`);
    });
  hosts
    .command('resize')
    .argument('<name>')
    .option('--cpu <cores>', 'physical cores', parsePositiveInt)
    .option('--ram-mb <MiB>', 'memory for servers', parsePositiveInt)
    .option('--disk-gb <GiB>', 'disk for servers', parsePositiveInt)
    .description('say that a host has more or less than when it was added')
    .action(async (name: string, size: HostSize) => {
      if (Object.keys(size).length === 0)
        throw new OperatorError('say what changes: --cpu, --ram-mb or --disk-gb');
      const { service } = await resources.service();
      const { cpu, ramMb, diskGb } = await resizeHost(service, name, size);
      terminal.out(`host ${name} has ${cpu} cores, and ${ramMb} MiB and ${diskGb} GiB for servers`);
    });
  for (const [verb, draining] of [
    ['drain', true],
    ['undrain', false],
  ] as const) {
    hosts
      .command(verb)
      .argument('<name>')
      .description(draining ? 'place no new servers on a host' : 'place servers on a host again')
      .action(async (name: string) => {
        const { service } = await resources.service();
        const changed = await drainHost(service, name, draining);
        const state = draining ? 'is drained: it takes no new servers' : 'takes servers';
        terminal.out(`host ${name} ${state}${changed ? '' : ' (as before)'}`);
      });
  }
  hosts
    .command('list')
    .description('print hosts and what is used of them')
    .action(async () => {
      const { service } = await resources.service();
      const rows = (await listHosts(service.db)).map((host) => [
        host.name,
        host.region_id,
        String(host.cpu),
        `${host.used_ram_mb}/${host.ram_mb}`,
        `${host.used_disk_gb}/${host.disk_gb}`,
        String(host.servers),
        host.draining ? 'drained' : '',
      ]);
      const heading = ['host', 'region', 'cpu', 'ram_mb used', 'disk_gb used', 'servers', ''];
      for (const line of formatTable([heading, ...rows])) terminal.out(line);
    });
}
