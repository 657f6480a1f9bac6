import { drainHost } from '../../../domain/inventory/hosts.ts';
import { listHostObjects, readHostObject } from '../../../domain/staff/hosts.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { listOf } from './lists.ts';

function draining(id: 'hosts.drain' | 'hosts.undrain', path: string, isDraining: boolean): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    run: async ({ service, params }) => {
      const { id: name } = params as { readonly id: string };
      const changed = await drainHost(service, name, isDraining);
      return { ...(await readHostObject(service, name)), changed };
    },
  });
}

export const HOST_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'hosts.list',
    method: 'GET',
    path: '/hosts',
    run: async ({ service }) => listOf(await listHostObjects(service), false),
  }),
  adminRoute({
    id: 'hosts.get',
    method: 'GET',
    path: '/hosts/{id}',
    run: ({ service, params }) => readHostObject(service, params.id),
  }),
  draining('hosts.drain', '/hosts/{id}/drain', true),
  draining('hosts.undrain', '/hosts/{id}/undrain', false),
];
