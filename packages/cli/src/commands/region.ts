import type { Region } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { arg, text } from '../options.ts';
import { type Column, fields, hidden } from '../output/format.ts';

const COLUMNS: readonly Column<Region>[] = [
  ...fields<Region>('id', 'name', 'country', 'available', 'ipv4_pool_remaining'),
  ...hidden(fields<Region>('pop_id', 'tor_onion')),
];

const list = listCommand({
  name: 'region list',
  aliases: ['ls'],
  about: 'List regions',
  operations: ['regions.list'],
  options: { country: text('code', 'Filter by country code, such as FR') },
  columns: COLUMNS,
  example: 'skerry region list',
  list: (skerry, query) => skerry.regions.list(query),
});

const describe = command({
  name: 'region describe',
  aliases: ['get', 'show'],
  about: 'Show a region',
  operations: ['regions.get'],
  args: { region: arg('Code of the region', { completionKind: 'region' }) },
  columns: COLUMNS,
  example: 'skerry region describe par',
  run: async ({ skerry, output }, { region }) => {
    output.show(await skerry.regions.get(region), COLUMNS);
  },
});

export const REGION_COMMANDS: readonly Command[] = [list, describe];
