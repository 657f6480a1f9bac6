/** Regions. */
import { getRegion, listRegions } from '../../domain/catalogue/offers.ts';
import { BY_ID } from '../../spec/lists.ts';
import { Region } from '../../spec/schemas/plan.ts';
import { listRoute, type Route, route } from './route.ts';

export const REGION_ROUTES: readonly Route[] = [
  listRoute({
    id: 'regions.list',
    path: '/regions',
    scope: 'read',
    summary: 'List regions',
    list: { ...BY_ID, filters: { country: {} } },
    reply: Region,
    run: ({ service, page }) => listRegions(service, page),
  }),
  route({
    id: 'regions.get',
    method: 'GET',
    path: '/regions/{id}',
    scope: 'read',
    summary: 'Retrieve a region',
    status: 200,
    errorStatuses: [404],
    reply: Region,
    run: ({ service, params }) => getRegion(service, params.id),
  }),
];
