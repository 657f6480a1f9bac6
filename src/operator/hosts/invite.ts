/** `hosts invite`: adds a host on another machine. */
import type { Command } from 'commander';
import { addInvitedHost, checkInvitation } from '../../domain/inventory/remote-hosts.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { OperatorContext } from '../context.ts';
import { parsePositiveInt } from '../options.ts';
import { addPlacementOptions, type PlacementOptions, readPlacement } from './placement.ts';

interface InviteOptions extends PlacementOptions {
  readonly region: string;
  readonly address: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
}

export function addInvite(hosts: Command, { resources, terminal }: OperatorContext): void {
  const invite = hosts
    .command('invite')
    .argument('<name>', 'Name of the new host')
    .requiredOption('--region <code>', 'Region code, such as par')
    .requiredOption('--address <host:port>', 'Address at which this machine reaches it')
    .requiredOption('--cpu <cores>', 'Physical cores', parsePositiveInt)
    .requiredOption('--ram-mb <MiB>', 'Memory for servers', parsePositiveInt)
    .requiredOption('--disk-gb <GiB>', 'Disk space for servers', parsePositiveInt)
    .description('Add a host on another machine, and wait until it joins');
  addPlacementOptions(invite).action(async (name: string, options: InviteOptions) => {
    const { region: regionId, address, cpu, ramMb, diskGb } = options;
    const { service, inviter } = await resources.service();
    const host = { name, regionId, address, cpu, ramMb, diskGb, ...readPlacement(options) };
    await checkInvitation(service, host);
    if (inviter === undefined) throw new OperatorError('no machine can join this service');
    const { code, controlPlane, waitForHost } = await inviter.create();
    terminal.out('On the new machine, run as root within 15 minutes:');
    terminal.out(`  skerryd host join ${name} --control-plane ${controlPlane} --code ${code}`);
    await recordCommand(service, { operation: 'hosts.invite', target: name }, async () =>
      addInvitedHost(service, host, await waitForHost(host)),
    );
    terminal.out(`host ${name} joined and accepts servers in ${regionId}`);
  });
}
