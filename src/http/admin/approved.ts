/** Runs acts that a second person approved, as the person who asked. */
import type { Service } from '../../domain/context.ts';
import type { CarryOut } from '../../domain/staff/approvals.ts';
import { performAct } from '../../domain/staff/perform.ts';
import { adminRouteOf } from './routes.ts';

/** Whether an answer is a request for approval: nothing was done yet. */
export function isApproval(answer: object | undefined): boolean {
  return (answer as { readonly object?: unknown } | undefined)?.object === 'approval';
}

export function createCarryOut(service: Service): CarryOut {
  const carryOut: CarryOut = async ({ actor, act, params, body }) => {
    const route = adminRouteOf(act.operation);
    return await performAct(service, actor, act, () =>
      route.run({ service, carryOut, actor, params, query: {}, body }),
    );
  };
  return carryOut;
}
