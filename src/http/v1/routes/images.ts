/** Images: the official ones, and uploads by customers. */

import { Type } from 'typebox';
import { createImage } from '../../../domain/images/create.ts';
import { getImage, listImages } from '../../../domain/images/read.ts';
import { deleteImage } from '../../../domain/images/remove.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { BY_ID } from '../../../spec/lists.ts';
import { ARCHES, IMAGE_TYPES, Image } from '../../../spec/schemas/image.ts';
import { oneOf } from '../../../spec/schemas/parts.ts';
import { listRoute, type Route, route } from '../route.ts';

export const IMAGE_ROUTES: readonly Route[] = [
  listRoute({
    id: 'images.list',
    path: '/images',
    scope: 'read',
    summary: 'List images',
    description: 'Lists the official images and your own.',
    list: {
      ...BY_ID,
      plainFilters: true,
      filters: {
        family: {},
        arch: { allowed: ARCHES, about: 'An architecture that the image supports.' },
        type: { allowed: IMAGE_TYPES },
      },
    },
    reply: Image,
    run: ({ service, actor, page }) => listImages(service, actor, page),
  }),
  route({
    id: 'images.get',
    method: 'GET',
    path: '/images/{id}',
    scope: 'read',
    summary: 'Retrieve an image',
    reply: Image,
    run: ({ service, actor, params }) => getImage(service, actor, params.id),
  }),
];

const TextField = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.nameMaxChars, description }));

const UploadParts = Type.Object(
  {
    file: Type.String({
      contentMediaType: 'application/octet-stream',
      description: 'An ISO 9660 image, at most 4 GiB.',
    }),
    name: TextField('A name for your own records.'),
    version: TextField('Defaults to the date of the upload.'),
    variant: TextField('For example `minimal`.'),
    arch: Type.Optional(
      Type.Array(oneOf(ARCHES), {
        description: 'Defaults to `amd64`. Send one part for each, or one part separated by commas.',
      }),
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
      'Uploads an ISO 9660 image as `multipart/form-data`. A server installed from it boots it as a CD ' +
      'and is `running` once powered on. SSH keys are recorded but not injected. We cancel an upload that ' +
      'sends no data for a minute. ' +
      `An account can have ${LIMITS.imageUploadsConcurrent} uploads in progress; ` +
      'another one gets 409 `conflict_state`.',
    status: 201,
    errorStatuses: [409, 422],
    audit: 'image.create',
    starts: 'image.create',
    bucket: 'provision',
    multipart: true,
    body: UploadParts,
    example: { file: '(binary)', name: 'rescue', version: '2026.1', arch: ['amd64'] },
    reply: Image,
    run: async ({ service, actor, upload }) => {
      if (!upload) throw new Error('a multipart route was called without an upload');
      return await createImage(service, actor, upload);
    },
  }),
  route({
    id: 'images.delete',
    method: 'DELETE',
    path: '/images/{id}',
    scope: 'write',
    summary: 'Delete a custom image',
    description: 'Servers installed from it keep running. You cannot delete official images.',
    status: 204,
    errorStatuses: [409],
    audit: 'image.delete',
    reply: null,
    run: async ({ service, actor, params }) => await deleteImage(service, actor, params.id),
  }),
];
