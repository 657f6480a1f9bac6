/** The catalog: plans and regions. */
import { getPlan, getRegion, listPlans, listRegions } from '../../../domain/catalogue/offers.ts';
import { BY_ID } from '../../../spec/lists.ts';
import { PLAN_CATEGORIES, Plan, Region } from '../../../spec/schemas/plan.ts';
import { listRoute, type Route, route } from '../route.ts';

export const PLAN_ROUTES: readonly Route[] = [
  listRoute({
    id: 'plans.list',
    path: '/plans',
    scope: 'read',
    summary: 'List plans',
    list: { ...BY_ID, filters: { category: { allowed: PLAN_CATEGORIES } } },
    reply: Plan,
    run: ({ service, page }) => listPlans(service, page),
  }),
  route({
    id: 'plans.get',
    method: 'GET',
    path: '/plans/{id}',
    scope: 'read',
    summary: 'Retrieve a plan',
    reply: Plan,
    run: ({ service, params }) => getPlan(service, params.id),
  }),
];

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
    reply: Region,
    run: ({ service, params }) => getRegion(service, params.id),
  }),
];
