/** Images: reading. Uploads are in image-upload.ts. */
import { getImage, listImages } from '../../domain/images/read.ts';
import { BY_ID } from '../../spec/lists.ts';
import { ARCHES, IMAGE_TYPES, Image } from '../../spec/schemas/image.ts';
import { listRoute, type Route, route } from './route.ts';

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
    status: 200,
    errorStatuses: [404],
    reply: Image,
    run: ({ service, actor, params }) => getImage(service, actor, params.id),
  }),
];
