/** Customers' own images: upload and deletion. Lists and single images are in images.ts, with the official ones. */
import { Type } from 'typebox';
import { createImage } from '../../domain/images/create.ts';
import { deleteImage } from '../../domain/images/delete.ts';
import { LIMITS } from '../../spec/limits.ts';
import { ARCHES, Image } from '../../spec/schemas/image.ts';
import { oneOf } from '../../spec/schemas/parts.ts';
import { route } from './route.ts';

const TextField = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.nameMaxChars, description }));

const UploadParts = Type.Object(
  {
    file: Type.String({
      contentMediaType: 'application/octet-stream',
      description: 'An ISO 9660 image, at most 4 GiB.',
    }),
    name: TextField('For your own records.'),
    version: TextField('The day of the upload when left out.'),
    variant: TextField('E.g. `minimal`.'),
    arch: Type.Optional(
      Type.Array(oneOf(ARCHES), { description: '`amd64` when left out; one part each, or one with commas.' }),
    ),
  },
  { additionalProperties: false },
);

export const IMAGE_UPLOAD_ROUTES = [
  route({
    id: 'images.create',
    method: 'POST',
    path: '/images',
    scope: 'write',
    summary: 'Upload an image',
    description:
      'An ISO 9660 image as `multipart/form-data`. A server that is installed from it boots it as a CD and is `running` at ' +
      'power-on: keys are recorded, not injected. An upload of which nothing comes for a minute is cut.',
    status: 201,
    errorStatuses: [409, 422],
    audit: 'image.create',
    bucket: 'provision',
    multipart: true,
    body: UploadParts,
    example: { file: '(binary)', name: 'rescue', version: '2026.1', arch: ['amd64'] },
    reply: Image,
    run: async ({ service, actor, upload, saveResponse }) => {
      if (!upload) throw new Error('a multipart route was called without its upload');
      return await createImage(service, actor, upload, saveResponse);
    },
  }),
  route({
    id: 'images.delete',
    method: 'DELETE',
    path: '/images/{id}',
    scope: 'write',
    summary: 'Delete an image of your own',
    description: 'Servers that were installed from it keep running. An official image cannot be deleted.',
    status: 204,
    errorStatuses: [404, 409],
    audit: 'image.delete',
    reply: null,
    run: async ({ service, actor, params }) => await deleteImage(service, actor, params.id ?? ''),
  }),
];
