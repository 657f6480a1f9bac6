/** Images as a program names them: an ID, `debian-13`, a family for its newest version, or a snapshot. */
import type { Image, Server } from '@skerry/sdk';
import { Failure } from '../rpc/failure.ts';
import type { Value, Values } from '../rpc/values.ts';
import type { Call } from './resource.ts';

function isImageId(text: string): boolean {
  return /^(?:img|custom|snap)_/.test(text);
}

/** Returns the ID of the newest image of that name. */
export async function findImage({ skerry, signal }: Call, text: string): Promise<string> {
  if (isImageId(text)) return text;
  const images = await skerry.images.list({}, { signal }).all();
  const matches = images.filter((image) => image.deprecated_at === null && isNamed(image, text));
  const [newest] = matches.sort((a, b) => b.released_at.localeCompare(a.released_at));
  if (!newest) throw new Failure(`image: no available image is named "${text}"`);
  if (newest.type === 'custom' && matches.length > 1) {
    throw new Failure(`image: more than one image is named "${text}"; use an ID`);
  }
  return newest.id;
}

function isNamed({ type, name, family, version, variant }: Image, text: string): boolean {
  if (type === 'custom') return text === name;
  return text === family || text === [family, version, variant].filter(Boolean).join('-');
}

/**
 * The program's name of the image, as long as that image is installed. A server made from a snapshot has the
 * image of the server that the snapshot was made of.
 */
export function imageOf({ image }: Server, state: Values): Value {
  const { image: given } = state;
  const isNamed = typeof given === 'string' && (given.startsWith('snap_') || !isImageId(given));
  return isNamed && state.imageId === image ? given : image;
}
