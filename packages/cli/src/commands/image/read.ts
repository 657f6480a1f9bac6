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
  help: 'A name in the list is what --image of other commands takes.',
  operations: ['images.list'],
  options: {
    family: text('family', 'Only of this family: debian, say.'),
    arch: text('arch', 'Only for this processor.', { choices: ARCHES }),
    type: text('type', 'Only official ones, or only your own.', { choices: TYPES }),
    ...LIST_OPTIONS,
  },
  columns: IMAGE_COLUMNS,
  example: 'skerry image list --family debian',
  run: async (context, { sort, limit, ...filter }) => {
    const query = omitUndefined({ filter: omitUndefined(filter), sort }) as object;
    // Unless asked otherwise by name: the service's order, by id, says nothing to a person.
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
  about: 'Show all of an image',
  operations: ['images.get', 'images.list'],
  args: { image: arg('Id, name, or family for its newest.', { completionKind: 'image' }) },
  columns: IMAGE_COLUMNS,
  example: 'skerry image describe debian-13',
  run: async ({ skerry, output }, { image }) => {
    output.show(await findImage(skerry, image), IMAGE_COLUMNS);
  },
});

const remove = command({
  name: 'image delete',
  aliases: ['rm'],
  about: 'Delete an image of your own',
  help: 'Servers that were installed from it keep running.',
  operations: ['images.delete', 'images.get', 'images.list'],
  args: { image: arg('Name or id.', { completionKind: 'image' }) },
  options: { yes: YES_OPTION },
  example: 'skerry image delete rescue --yes',
  run: async ({ skerry, terminal }, { image, yes }) => {
    const { id, name } = await findImage(skerry, image);
    await confirm(terminal, yes, `delete image ${name ?? ''} (${id})`);
    await skerry.images.delete(id);
    terminal.note(`${name ?? id} is deleted.`);
  },
});

export const IMAGE_READ: readonly Command[] = [list, describe, remove];
