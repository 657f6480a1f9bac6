/** Tables, counts, and facts as the operator's commands print them. */
import type { Command } from 'commander';
import type { Service } from '../../domain/context.ts';
import type { OperatorContext } from '../context.ts';
import { formatTable } from './columns.ts';

/** Formats a count with its noun: `3 servers`, `1 server`. */
export function formatCount(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 || count === 1n ? one : many}`;
}

/** Formats what is on a host: `2 servers, 1 snapshot`; empty if there is nothing. */
export function formatContents(contents: {
  readonly servers: bigint;
  readonly volumes: bigint;
  readonly snapshots: bigint;
}): string {
  const counts = [
    [contents.servers, 'server'],
    [contents.volumes, 'detached volume'],
    [contents.snapshots, 'snapshot'],
  ] as const;
  return counts
    .filter(([count]) => count > 0n)
    .map(([count, one]) => formatCount(count, one))
    .join(', ');
}

/** Formats the hint for a list that was cut at its limit. */
export function formatMoreHint(shown: number, one: string, many?: string): string {
  return `showing ${formatCount(shown, one, many)}; use --limit to see more`;
}

/** Formats one fact per line and omits those that are null. */
export function formatFacts(rows: readonly (readonly [name: string, value: string | null])[]): string[] {
  return formatTable(rows.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

/** Adds a command `list` without options, which prints a table. */
export function addList(
  parent: Command,
  { resources, terminal }: OperatorContext,
  list: {
    readonly name?: string;
    readonly about: string;
    readonly heading: readonly string[];
    readonly read: (service: Service) => Promise<readonly (readonly string[])[]>;
  },
): void {
  parent
    .command(list.name ?? 'list')
    .description(list.about)
    .action(async () => {
      const { service } = await resources.service();
      terminal.table(list.heading, await list.read(service));
    });
}
