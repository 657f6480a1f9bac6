import type { Region } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { arg, text } from '../options.ts';
import type { Column } from '../output/format.ts';

const COLUMNS: readonly Column<Region>[] = [
  { name: 'id', value: (region) => region.id },
  { name: 'name', value: (region) => region.name },
  { name: 'country', value: (region) => region.country },
  { name: 'available', value: (region) => region.available },
  { name: 'ipv4_pool_remaining', value: (region) => region.ipv4_pool_remaining },
  { name: 'pop_id', value: (region) => region.pop_id, hidden: true },
  { name: 'tor_onion', value: (region) => region.tor_onion, hidden: true },
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
