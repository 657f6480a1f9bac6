/** `hosts`: manages the inventory of hosts. */
import type { Command } from 'commander';
import { addHost, drainHost, type HostSize, resizeHost } from '../../domain/inventory/hosts.ts';
import { removeHost, revokeHost } from '../../domain/inventory/remote-hosts.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { OperatorContext } from '../context.ts';
import { parseConcurrency, parsePositiveInt } from '../options.ts';
import { addHostDoctor } from './doctor.ts';
import { addInvite } from './invite.ts';
import { addLost } from './lost.ts';
import { addHostMoves, moveEverythingAway } from './moves.ts';
import { addPlacementOptions, addSetPlacement, type PlacementOptions, readPlacement } from './placement.ts';
import { addHostViews } from './views.ts';

interface HostOptions extends PlacementOptions {
  readonly region: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
}

export function addHosts(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const hosts = program.command('hosts').description('Manage the hosts that run virtual servers');
  const add = hosts
    .command('add')
    .argument('<name>', 'Name in the compute driver; with QEMU, one of SKERRY_QEMU_HOSTS')
    .requiredOption('--region <code>', 'Region code, such as par')
    .requiredOption('--cpu <cores>', 'Physical cores', parsePositiveInt)
    .requiredOption('--ram-mb <MiB>', 'Memory for servers', parsePositiveInt)
    .requiredOption('--disk-gb <GiB>', 'Disk space for servers', parsePositiveInt)
    .description('Add a host');
  addPlacementOptions(add).action(async (name: string, options: HostOptions) => {
    const { service, register } = await resources.service();
    const { region: regionId, cpu, ramMb, diskGb } = options;
    const host = { name, regionId, cpu, ramMb, diskGb, ...readPlacement(options) };
    await recordCommand(service, { operation: 'hosts.add', target: name }, () =>
      addHost(service, host, register),
    );
    terminal.out(`host ${name} accepts servers in ${regionId}`);
  });
  addInvite(hosts, context);
  hosts
    .command('resize')
    .argument('<name>')
    .option('--cpu <cores>', 'Physical cores', parsePositiveInt)
    .option('--ram-mb <MiB>', 'Memory for servers', parsePositiveInt)
    .option('--disk-gb <GiB>', 'Disk space for servers', parsePositiveInt)
    .description('Change the capacity of a host')
    .action(async (name: string, size: HostSize) => {
      if (Object.keys(size).length === 0)
        throw new OperatorError('pass at least one of --cpu, --ram-mb, and --disk-gb');
      const { service } = await resources.service();
      const { cpu, ramMb, diskGb } = await recordCommandOn(
        service,
        'hosts.resize',
        { kind: 'host', name },
        () => resizeHost(service, name, size),
      );
      terminal.out(`host ${name} has ${cpu} cores, ${ramMb} MiB and ${diskGb} GiB for servers`);
    });
  addSetPlacement(hosts, context);
  addDrain(hosts, context);
  addHostMoves(hosts, context);
  addStates(hosts, context);
  addLost(hosts, context);
  addHostViews(hosts, context);
  addHostDoctor(hosts, context);
}

interface DrainOptions {
  readonly move?: boolean;
  readonly concurrency: number;
  readonly wait: boolean;
}

function addDrain(hosts: Command, { resources, terminal }: OperatorContext): void {
  hosts
    .command('drain')
    .argument('<name>')
    .option(
      '--move',
      'Move its servers, volumes, and snapshots to other hosts, and wait until they have left',
    )
    .option('--concurrency <count>', 'Moves at a time', parseConcurrency, 2)
    .option('--no-wait', 'Do not wait for the moves')
    .description('Place no new servers on a host')
    .action(async (name: string, { move = false, concurrency, wait }: DrainOptions) => {
      const { service } = await resources.service();
      const target = { kind: 'host', name } as const;
      if (move) return await moveEverythingAway(service, terminal, name, { atOnce: concurrency, wait });
      const changed = await recordCommandOn(service, 'hosts.drain', target, () =>
        drainHost(service, name, true),
      );
      terminal.out(`host ${name} is drained and accepts no new servers${changed ? '' : ' (unchanged)'}`);
    });
}

function addStates(hosts: Command, { resources, terminal }: OperatorContext): void {
  hosts
    .command('undrain')
    .argument('<name>')
    .description('Place servers on a host again')
    .action(async (name: string) => {
      const { service } = await resources.service();
      const target = { kind: 'host', name } as const;
      const changed = await recordCommandOn(service, 'hosts.undrain', target, () =>
        drainHost(service, name, false),
      );
      terminal.out(`host ${name} accepts servers${changed ? '' : ' (unchanged)'}`);
    });
  for (const [verb, about, change, state] of [
    ['remove', 'Remove an empty host', removeHost, 'is removed'],
    ['revoke', 'Never call a host on another machine again', revokeHost, 'is revoked and drained'],
  ] as const) {
    hosts
      .command(verb)
      .argument('<name>')
      .description(about)
      .action(async (name: string) => {
        const { service } = await resources.service();
        const target = { kind: 'host', name } as const;
        await recordCommandOn(service, `hosts.${verb}`, target, () => change(service, name));
        terminal.out(`host ${name} ${state}`);
      });
  }
}
