import type { Region } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { given, LISTS, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import type { Column } from '../../output/columns.ts';

const COLUMNS: readonly Column<Region>[] = [
  { name: 'id', of: (region) => region.id },
  { name: 'name', of: (region) => region.name },
  { name: 'country', of: (region) => region.country },
  { name: 'available', of: (region) => region.available },
  { name: 'ipv4_pool_remaining', of: (region) => region.ipv4_pool_remaining },
  { name: 'pop_id', of: (region) => region.pop_id, hidden: true },
  { name: 'tor_onion', of: (region) => region.tor_onion, hidden: true },
];

const list = command({
  name: 'region list',
  aliases: ['ls'],
  about: 'List regions: where servers can be',
  does: ['regions.list'],
  options: { country: text('code', 'Only in this country: FR, say.'), ...LISTS },
  columns: COLUMNS,
  example: 'skerry region list',
  run: async (context, { sort, limit, ...filter }) => {
    const query = given({ filter: given(filter), sort }) as object;
    await showList(context, context.skerry.regions.list(query), limit, COLUMNS);
  },
});

const describe = command({
  name: 'region describe',
  aliases: ['get', 'show'],
  about: 'Show all of a region',
  does: ['regions.get'],
  args: { region: arg('Code.', { completes: 'region' }) },
  columns: COLUMNS,
  example: 'skerry region describe par',
  run: async ({ skerry, output }, { region }) => {
    output.show(await skerry.regions.get(region), COLUMNS);
  },
});

export const REGION_COMMANDS: readonly Command[] = [list, describe];
