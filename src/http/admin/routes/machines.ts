import { Type } from 'typebox';
import { type FulfilledSale, fulfillSale } from '../../../domain/inventory/fulfill.ts';
import { addMachines } from '../../../domain/inventory/hosts.ts';
import {
  putBackOnSale,
  recordMachinePower,
  recordWipe,
  removeMachine,
} from '../../../domain/inventory/manual-machines.ts';
import { listMachineObjects, type MachineQuery, readMachineObject } from '../../../domain/staff/machines.ts';
import { formatId } from '../../../kernel/ids.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import { CYCLE_MONTHS, type CycleMonths } from '../../../spec/limits.ts';
import { MACHINE_STATES } from '../../../spec/states.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { NAME, WORD } from './host-acts.ts';
import { CLOSED, given, listOf } from './lists.ts';

const STOCK_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'machines.list',
    method: 'GET',
    path: '/machines',
    query: Type.Object(
      {
        state: Type.Optional(Type.Enum([...MACHINE_STATES])),
        region: Type.Optional(Type.String(WORD)),
        plan: Type.Optional(Type.String(WORD)),
        due: Type.Optional(Type.Literal('true')),
      },
      CLOSED,
    ),
    run: async ({ service, query: { due, ...query } }) => {
      const filter = given({ ...query, due: due && true }) as MachineQuery;
      return listOf(await listMachineObjects(service, filter), false);
    },
  }),
  adminRoute({
    id: 'machines.get',
    method: 'GET',
    path: '/machines/{id}',
    run: ({ service, params }) => readMachineObject(service, params.id),
  }),
  adminRoute({
    id: 'machines.add',
    method: 'POST',
    path: '/machines',
    status: 201,
    body: Type.Object(
      {
        name: NAME,
        region: Type.String(WORD),
        plan: Type.String({ ...WORD, description: 'The dedicated plan that it is sold as.' }),
      },
      CLOSED,
    ),
    run: async ({ service, hosts, body: { name, region: regionId, plan: planId } }) => {
      await addMachines(service, { names: [name], regionId, planId }, hosts.register);
      return await readMachineObject(service, name);
    },
  }),
  adminRoute({
    id: 'machines.remove',
    method: 'POST',
    path: '/machines/{id}/remove',
    run: async ({ service, params }) => {
      await removeMachine(service, params.id);
      return { object: 'machine', id: params.id };
    },
  }),
];

const MANUAL_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'machines.fulfill',
    method: 'POST',
    path: '/machines/{id}/fulfill',
    body: Type.Object(
      {
        customer: Type.String({ maxLength: 255, description: 'Email address or ID. The customer pays now.' }),
        image: Type.String({ ...WORD, description: 'The system that you install, such as debian-13.' }),
        name: Type.Optional(
          Type.String({ ...WORD, title: 'Server name', description: 'Default: generated.' }),
        ),
        months: Type.Enum(CYCLE_MONTHS.map(String), { title: 'Months per cycle' }),
        ssh_key: Type.Optional(
          Type.String({ ...WORD, title: 'SSH key', description: 'ID of a key of the customer.' }),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      const sold = await fulfillSale(service, {
        ...{ machine: params.id, customer: body.customer, image: body.image },
        ...(body.name !== undefined && { name: body.name }),
        months: Number(body.months) as CycleMonths,
        sshKeys: body.ssh_key === undefined ? [] : [body.ssh_key],
      });
      return toSaleObject(params.id, sold);
    },
  }),
  adminRoute({
    id: 'machines.record_power',
    method: 'POST',
    path: '/machines/{id}/power',
    body: Type.Object({ power: Type.Enum(['off', 'on']) }, CLOSED),
    run: async ({ service, params, body }) => {
      const { changed } = await recordMachinePower(service, params.id, body.power);
      return { ...(await readMachineObject(service, params.id)), changed };
    },
  }),
  adminRoute({
    id: 'machines.record_wipe',
    method: 'POST',
    path: '/machines/{id}/wipe',
    body: Type.Object(
      {
        method: Type.String({
          ...{ minLength: 1, maxLength: 200 },
          description: 'How the disks were wiped before the machine was tested. The audit log keeps it.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await recordWipe(service, params.id, body.method);
      return await readMachineObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'machines.put_on_sale',
    method: 'POST',
    path: '/machines/{id}/put_on_sale',
    run: async ({ service, params }) => {
      await putBackOnSale(service, params.id);
      return await readMachineObject(service, params.id);
    },
  }),
];

/** The values to set the machine up with. */
function toSaleObject(machine: string, { server, publicKeys, balanceAfterCents }: FulfilledSale) {
  return {
    object: 'machine_sale',
    machine,
    server: formatId('server', server.id),
    name: server.name,
    ipv4: server.ipv4,
    gateway: server.ipv4_gateway,
    ipv6: server.ipv6_prefix,
    ssh_keys: publicKeys,
    price_usd: centsToUsd(server.price_cents_cycle),
    balance_usd: centsToUsd(balanceAfterCents),
  };
}

export const MACHINE_ROUTES: readonly AdminRoute[] = [...STOCK_ROUTES, ...MANUAL_ROUTES];
