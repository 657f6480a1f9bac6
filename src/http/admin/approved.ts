/** Runs acts that a second person approved, as the person who asked. */
import type { Service } from '../../domain/context.ts';
import type { CarryOut } from '../../domain/staff/approvals.ts';
import { performAct } from '../../domain/staff/perform.ts';
import { type HostAccess, loggedDetails } from './route.ts';
import { adminRouteOf } from './routes.ts';

/** Whether an answer is a request for approval: nothing was done yet. */
export function isApproval(answer: object | undefined): boolean {
  return (answer as { readonly object?: unknown } | undefined)?.object === 'approval';
}

export function createCarryOut(service: Service, hosts: HostAccess): CarryOut {
  const carryOut: CarryOut = async ({ actor, act, params, body }) => {
    const route = adminRouteOf(act.operation);
    const logged = { ...act, details: loggedDetails(route, act.details) };
    return await performAct(service, actor, logged, () =>
      route.run({ service, hosts, carryOut, actor, params, query: {}, body }),
    );
  };
  return carryOut;
}
