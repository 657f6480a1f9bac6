import type { Region } from '@skerry/sdk';
import type { Command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { text } from '../options.ts';
import { type Column, fields, hidden } from '../output/format.ts';
import { describeCommand } from '../resources.ts';

const COLUMNS: readonly Column<Region>[] = [
  ...fields<Region>('id', 'name', 'country', 'available', 'ipv4_pool_remaining'),
  ...hidden(fields<Region>('pop_id', 'tor_onion')),
];

const list = listCommand({
  name: 'region list',
  about: 'List regions',
  operations: ['regions.list'],
  options: { country: text('code', 'Filter by country code, such as FR') },
  columns: COLUMNS,
  example: 'skerry region list',
  list: (skerry, query) => skerry.regions.list(query),
});

const describe = describeCommand(
  {
    word: 'region',
    about: 'Code of the region',
    find: (skerry, id) => skerry.regions.get(id),
    calls: ['regions.get'],
  },
  { about: 'Show a region', columns: COLUMNS, example: 'skerry region describe par' },
);

export const REGION_COMMANDS: readonly Command[] = [list, describe];
