import type { Image } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { findImage, imageName } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { IMAGE_COLUMNS } from './columns.ts';

const ARCHES = ['amd64', 'arm64'] as const;
const TYPES = ['official', 'custom'] as const;

const list = command({
  name: 'image list',
  aliases: ['ls'],
  about: 'List images',
  help: 'Names in the list are valid values of --image in other commands.',
  operations: ['images.list'],
  options: {
    family: text('family', 'Filter by family, such as debian'),
    arch: text('arch', 'Filter by architecture', { choices: ARCHES }),
    type: text('type', 'Filter by type', { choices: TYPES }),
    ...LIST_OPTIONS,
  },
  columns: IMAGE_COLUMNS,
  example: 'skerry image list --family debian',
  run: async (context, { sort, limit, ...filter }) => {
    const query = omitUndefined({ filter: omitUndefined(filter), sort }) as object;
    // Sort by name by default: the service's order, by ID, means nothing to a person.
    const order = sort === undefined ? byName : undefined;
    await showList(context, context.skerry.images.list(query), limit, IMAGE_COLUMNS, order);
  },
});

function byName(one: Image, other: Image): number {
  return imageName(one).localeCompare(imageName(other), 'en', { numeric: true });
}

const describe = command({
  name: 'image describe',
  aliases: ['get', 'show'],
  about: 'Show an image',
  operations: ['images.get', 'images.list'],
  args: { image: arg('ID, name, or family for the newest version', { completionKind: 'image' }) },
  columns: IMAGE_COLUMNS,
  example: 'skerry image describe debian-13',
  run: async ({ skerry, output }, { image }) => {
    output.show(await findImage(skerry, image), IMAGE_COLUMNS);
  },
});

const remove = command({
  name: 'image delete',
  aliases: ['rm'],
  about: 'Delete a custom image',
  help: 'Servers that were installed from it are not affected.',
  operations: ['images.delete', 'images.get', 'images.list'],
  args: { image: arg('Name or ID', { completionKind: 'image' }) },
  options: { yes: YES_OPTION },
  example: 'skerry image delete rescue --yes',
  run: async ({ skerry, terminal }, { image, yes }) => {
    const { id, name } = await findImage(skerry, image);
    await confirm(terminal, yes, `delete image ${name ?? ''} (${id})`);
    await skerry.images.delete(id);
    terminal.note(`Image ${name ?? id} deleted.`);
  },
});

export const IMAGE_READ: readonly Command[] = [list, describe, remove];
