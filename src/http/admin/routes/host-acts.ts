/** Changes of a host. */
import { Type } from 'typebox';
import type { Service } from '../../../domain/context.ts';
import { changeHostPlacement, type HostPlacement } from '../../../domain/inventory/host-placement.ts';
import { resizeHost } from '../../../domain/inventory/hosts.ts';
import { describeLoss, fenceHost, loseHost } from '../../../domain/inventory/lost-hosts.ts';
import { removeHost, revokeHost } from '../../../domain/inventory/remote-hosts.ts';
import { moveEverythingOff } from '../../../domain/servers/moves/queue.ts';
import { readHostObject } from '../../../domain/staff/hosts.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED } from './lists.ts';

const COUNT_MAX = 2_000_000_000;
const MOVES_MAX = 32;

export const WORD = { minLength: 1, maxLength: 100 } as const;
export const NAME = Type.String({ ...WORD, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' });

const count = (title: string) => Type.Integer({ minimum: 1, maximum: COUNT_MAX, title });
const reserve = (title: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: COUNT_MAX,
      title,
      description: 'Kept for servers that leave other hosts.',
    }),
  );

export const SIZE = {
  cores: count('Cores'),
  ram_mb: count('Memory for servers (MiB)'),
  disk_gb: count('Disk for servers (GiB)'),
};

export const PLACEMENT = {
  tags: Type.Optional(
    Type.String({
      minLength: 0,
      maxLength: 500,
      description: 'Separated by spaces. Plans may ask for them.',
    }),
  ),
  reserve_ram_mb: reserve('Reserved memory (MiB)'),
  reserve_disk_gb: reserve('Reserved disk (GiB)'),
};

interface PlacementBody {
  readonly tags?: string;
  readonly reserve_ram_mb?: number;
  readonly reserve_disk_gb?: number;
}

export function readPlacement(body: PlacementBody): Partial<HostPlacement> {
  const { tags, reserve_ram_mb: reserveRamMb, reserve_disk_gb: reserveDiskGb } = body;
  return {
    ...(tags !== undefined && { tags: tags.split(/\s+/).filter((tag) => tag !== '') }),
    ...(reserveRamMb !== undefined && { reserveRamMb }),
    ...(reserveDiskGb !== undefined && { reserveDiskGb }),
  };
}

function ending(
  id: 'hosts.remove' | 'hosts.revoke',
  path: string,
  verb: (service: Service, name: string) => Promise<void>,
): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    run: async ({ service, params }) => {
      const { id: name } = params as { readonly id: string };
      await verb(service, name);
      return { object: 'host', id: name };
    },
  });
}

export const HOST_ACT_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'hosts.move_all',
    method: 'POST',
    path: '/hosts/{id}/move_all',
    body: Type.Object(
      { at_once: Type.Integer({ minimum: 1, maximum: MOVES_MAX, title: 'Moves at a time' }) },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      const added = await moveEverythingOff(service, params.id, body.at_once);
      return { ...(await readHostObject(service, params.id)), moves_added: added };
    },
  }),
  adminRoute({
    id: 'hosts.resize',
    method: 'POST',
    path: '/hosts/{id}/resize',
    body: Type.Object(SIZE, CLOSED),
    run: async ({ service, params, body }) => {
      await resizeHost(service, params.id, { cpu: body.cores, ramMb: body.ram_mb, diskGb: body.disk_gb });
      return await readHostObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'hosts.set',
    method: 'PATCH',
    path: '/hosts/{id}',
    body: Type.Object(PLACEMENT, CLOSED),
    run: async ({ service, params, body }) => {
      await changeHostPlacement(service, params.id, readPlacement(body));
      return await readHostObject(service, params.id);
    },
  }),
  ending('hosts.remove', '/hosts/{id}/remove', removeHost),
  ending('hosts.revoke', '/hosts/{id}/revoke', revokeHost),
  adminRoute({
    id: 'hosts.lose',
    method: 'POST',
    path: '/hosts/{id}/lose',
    body: Type.Object(
      {
        servers: Type.Enum(['refund', 'rebuild'], {
          title: 'Its servers',
          description: 'refund deletes them and refunds unused time. rebuild installs them on other hosts.',
        }),
        confirm: Type.String({ ...WORD, title: 'Name of the host', description: 'To confirm.' }),
      },
      CLOSED,
    ),
    run: async ({ service, hosts, params, body }) => {
      if (body.confirm !== params.id) {
        invalidRequest([{ field: 'confirm', issue: 'invalid_value' }], 'Enter the name of this host.');
      }
      await describeLoss(service, params.id);
      await hosts.endSimulatedHost?.(params.id);
      await loseHost(service, params.id, body.servers);
      return await readHostObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'hosts.fence',
    method: 'POST',
    path: '/hosts/{id}/fence',
    run: async ({ service, params }) => {
      const released = await fenceHost(service, params.id);
      return { ...(await readHostObject(service, params.id)), released_addresses: Number(released) };
    },
  }),
];
