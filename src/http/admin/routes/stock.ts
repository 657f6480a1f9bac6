/** Addresses and images: the stock that servers take from. */
import { Type } from 'typebox';
import { publishAllNames } from '../../../domain/dns/zones.ts';
import { addBlock, blockAddresses } from '../../../domain/inventory/blocks.ts';
import { checkTime, listPools, readAddress } from '../../../domain/staff/addresses.ts';
import { listCustomImageObjects, listImageObjects, readImageObject } from '../../../domain/staff/images.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

/** The longest IPv6 block in text. */
const RANGE_MAX_CHARS = 50;
const TIME_MAX_CHARS = 40;
const RANGE = Type.Object(
  {
    range: Type.String({
      ...{ minLength: 1, maxLength: RANGE_MAX_CHARS },
      title: 'Address or block',
      description: 'Such as 203.0.113.7 or 203.0.113.0/28.',
    }),
  },
  CLOSED,
);

function blocking(id: 'addresses.block' | 'addresses.unblock', path: string, blocked: boolean): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    body: RANGE,
    unlogged: ['range'],
    run: async ({ service, body }) => {
      const { changed, assigned } = await blockAddresses(service, body.range.trim(), blocked);
      return { object: 'address_change', changed, assigned };
    },
  });
}

const ADDRESS_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'addresses.list',
    method: 'GET',
    path: '/addresses',
    run: async ({ service }) => listOf(await listPools(service), false),
  }),
  adminRoute({
    id: 'addresses.get',
    method: 'GET',
    path: '/addresses/find',
    query: Type.Object(
      {
        address: Type.String({ maxLength: RANGE_MAX_CHARS }),
        at: Type.Optional(Type.String({ maxLength: TIME_MAX_CHARS })),
      },
      CLOSED,
    ),
    run: async ({ service, query: { address = '', at } }) =>
      await readAddress(service, address, at === undefined ? null : checkTime(at)),
  }),
  adminRoute({
    id: 'addresses.add',
    method: 'POST',
    path: '/addresses',
    status: 201,
    body: Type.Object(
      {
        region: Type.String({ minLength: 1, maxLength: 100 }),
        block: Type.String({
          ...{ minLength: 1, maxLength: RANGE_MAX_CHARS },
          description: 'IPv4 /16 to /32, or IPv6 /32 to /64. A server gets one /64.',
        }),
        gateway: Type.Optional(
          Type.String({
            maxLength: RANGE_MAX_CHARS,
            description: 'Default: the first address of an IPv4 block, fe80::1 for IPv6.',
          }),
        ),
      },
      CLOSED,
    ),
    unlogged: ['block', 'gateway'],
    run: async ({ service, body: { region: regionId, block, gateway = null } }) => {
      const added = await addBlock(service, { regionId, block: block.trim(), gateway });
      return { object: 'address_change', added };
    },
  }),
  blocking('addresses.block', '/addresses/block', true),
  blocking('addresses.unblock', '/addresses/unblock', false),
  adminRoute({
    id: 'dns.publish',
    method: 'POST',
    path: '/dns/publish',
    run: async ({ service }) => ({ object: 'dns_publication', servers: await publishAllNames(service) }),
  }),
];

const IMAGE_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'images.list',
    method: 'GET',
    path: '/images',
    run: async ({ service }) => listOf(await listImageObjects(service), false),
  }),
  adminRoute({
    id: 'images.get',
    method: 'GET',
    path: '/images/{id}',
    run: ({ service, params }) => readImageObject(service, params.id),
  }),
  adminRoute({
    id: 'custom_images.list',
    method: 'GET',
    path: '/custom_images',
    query: Type.Object(
      {
        customer: Type.Optional(Type.String({ maxLength: 255 })),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const found = await listCustomImageObjects(service, { ...given(query), limit: pageSize(limit) });
      return listOf(found.images, found.hasMore);
    },
  }),
];

export const STOCK_ROUTES: readonly AdminRoute[] = [...ADDRESS_ROUTES, ...IMAGE_ROUTES];
