import { Type } from 'typebox';
import { addHost, drainHost } from '../../../domain/inventory/hosts.ts';
import { inviteHost } from '../../../domain/inventory/invite-host.ts';
import { listHostObjects, readHostForStaff, readHostObject } from '../../../domain/staff/hosts.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { HOST_ACT_ROUTES, NAME, PLACEMENT, readPlacement, SIZE, WORD } from './host-acts.ts';
import { CLOSED, listOf } from './lists.ts';

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

const NEW_HOST = {
  name: NAME,
  region: Type.String(WORD),
  cores: SIZE.cores,
  ram_mb: SIZE.ram_mb,
  disk_gb: SIZE.disk_gb,
  ...PLACEMENT,
};

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
    run: ({ service, params }) => readHostForStaff(service, params.id),
  }),
  adminRoute({
    id: 'hosts.add',
    method: 'POST',
    path: '/hosts',
    status: 201,
    body: Type.Object(NEW_HOST, CLOSED),
    run: async ({ service, hosts, body }) => {
      const { name, region: regionId, cores: cpu, ram_mb: ramMb, disk_gb: diskGb } = body;
      await addHost(service, { name, regionId, cpu, ramMb, diskGb, ...readPlacement(body) }, hosts.register);
      return await readHostObject(service, name);
    },
  }),
  adminRoute({
    id: 'hosts.invite',
    method: 'POST',
    path: '/hosts/invite',
    status: 201,
    body: Type.Object(
      {
        ...NEW_HOST,
        address: Type.String({
          maxLength: 260,
          description: 'Host name or IP address, and port, at which this machine reaches it.',
        }),
      },
      CLOSED,
    ),
    unlogged: ['address'],
    run: async ({ service, hosts, body }) => {
      const { name, region: regionId, address, cores: cpu, ram_mb: ramMb, disk_gb: diskGb } = body;
      const host = { name, regionId, address, cpu, ramMb, diskGb, ...readPlacement(body) };
      const { code, controlPlane } = await inviteHost(service, hosts.inviter, host);
      const command = `skerryd host join ${name} --control-plane ${controlPlane} --code ${code}`;
      return { object: 'host_invitation', host: name, code, control_plane: controlPlane, command };
    },
  }),
  draining('hosts.drain', '/hosts/{id}/drain', true),
  draining('hosts.undrain', '/hosts/{id}/undrain', false),
  ...HOST_ACT_ROUTES,
];
