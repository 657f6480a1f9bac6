/** `hosts set`, and the options of other commands that decide which servers a host takes. */
import type { Command } from 'commander';
import { changeHostPlacement, type HostPlacement } from '../../domain/inventory/host-placement.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { OperatorContext } from '../context.ts';
import { parseReserve } from '../options.ts';

export interface PlacementOptions extends Partial<Omit<HostPlacement, 'tags'>> {
  readonly tag?: readonly string[];
}

export function addPlacementOptions(command: Command): Command {
  return command
    .option('--tag <tag...>', 'Tags that plans may ask for, such as nvme')
    .option('--reserve-ram-mb <MiB>', 'Memory to keep for servers that leave other hosts', parseReserve)
    .option('--reserve-disk-gb <GiB>', 'Disk space to keep for servers that leave other hosts', parseReserve);
}

/** Returns only what was given. */
export function readPlacement(options: PlacementOptions): Partial<HostPlacement> {
  const { tag: tags, reserveRamMb, reserveDiskGb } = options;
  return {
    ...(tags === undefined ? {} : { tags }),
    ...(reserveRamMb === undefined ? {} : { reserveRamMb }),
    ...(reserveDiskGb === undefined ? {} : { reserveDiskGb }),
  };
}

interface SetOptions extends PlacementOptions {
  /** False with --no-tags. */
  readonly tags: boolean;
}

export function addSetPlacement(hosts: Command, { resources, terminal }: OperatorContext): void {
  addPlacementOptions(hosts.command('set').argument('<name>'))
    .option('--no-tags', 'Remove all tags')
    .description('Set the tags of a host, and what it keeps for servers that leave other hosts')
    .action(async (name: string, { tags: keepsTags, ...options }: SetOptions) => {
      const change = { ...readPlacement(options), ...(keepsTags ? {} : { tags: [] }) };
      if (Object.keys(change).length === 0) {
        throw new OperatorError(
          'pass at least one of --tag, --no-tags, --reserve-ram-mb, and --reserve-disk-gb',
        );
      }
      const { service } = await resources.service();
      const { tags, reserveRamMb, reserveDiskGb } = await recordCommandOn(
        service,
        'hosts.set',
        { kind: 'host', name },
        () => changeHostPlacement(service, name, change),
      );
      const reserve = formatReserve(reserveRamMb, reserveDiskGb) || 'none';
      terminal.out(`host ${name}: tags ${tags.join(' ') || 'none'}, reserve ${reserve}`);
    });
}

/** Returns an empty text for no reserve. */
export function formatReserve(ramMb: number, diskGb: number): string {
  return ramMb === 0 && diskGb === 0 ? '' : `${ramMb} MiB, ${diskGb} GiB`;
}
