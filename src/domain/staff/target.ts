/** The public id of the target of an act of staff, however it is named. */
import { Failure, fail } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isCoinCode } from '../../spec/coins.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { SWITCHES } from '../../spec/switches.ts';
import { findPlanPrice } from '../../store/catalogue/catalogue.ts';
import { findMachine } from '../../store/inventory/machines.ts';
import { findCouponId } from '../billing/coupons/manage.ts';
import { requireOfficialImage } from '../catalogue/images.ts';
import { readRegionObject } from '../catalogue/plans.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';
import { readCannedAnswer } from '../customers/tickets/canned.ts';
import { findServerForOperator } from '../servers/operator/find.ts';
import { findTopupForOperator } from '../topups/operator.ts';
import { readAbuseTemplate } from './abuse/templates.ts';
import { readHostObject } from './hosts.ts';
import { readStaff } from './people.ts';
import { recordCommand } from './perform.ts';
import { requireWorkName } from './work/name.ts';

export type TargetKind =
  | 'customer'
  | 'server'
  | 'topup'
  | 'host'
  | 'machine'
  | 'coin'
  | 'coupon'
  | 'plan'
  | 'region'
  | 'image'
  | 'staff'
  | 'staffToken'
  | 'ticket'
  | 'cannedAnswer'
  | 'abuseReport'
  | 'abuseTemplate'
  | 'flood'
  | 'incident'
  | 'announcement'
  | 'mailing'
  | 'legalOrder'
  | 'policy'
  | 'maintenanceWindow'
  | 'switch'
  | 'work';

type Deps = Pick<Service, 'db'>;

const FINDERS: Readonly<Record<TargetKind, (service: Deps, name: string) => Promise<string>>> = {
  customer: async ({ db }, name) => formatId('customer', (await requireCustomer(db, name)).id),
  server: async (service, name) => formatId('server', (await findServerForOperator(service, name)).id),
  topup: async (service, name) => formatId('topup', (await findTopupForOperator(service, name)).topup.id),
  host: async (service, name) => (await readHostObject(service, name)).id,
  plan: async ({ db }, name) => ((await findPlanPrice(db, name)) === undefined ? fail('not_found') : name),
  region: async (service, name) => (await readRegionObject(service, name)).id,
  image: async ({ db }, name) => formatId('image', (await requireOfficialImage(db, name)).id),
  coin: async (_service, name) => (isCoinCode(name) ? name : fail('not_found')),
  coupon: (service, name) => findCouponId(service, name),
  machine: async ({ db }, name) => (await findMachine(db, name))?.name ?? fail('not_found'),
  staff: async (service, name) => (await readStaff(service, name)).id,
  staffToken: async (_service, name) => (parseId('staffToken', name) ? name : fail('not_found')),
  ticket: async (_service, name) => (parseId('ticket', name) ? name : fail('not_found')),
  cannedAnswer: async (service, name) => (await readCannedAnswer(service, name)).id,
  abuseReport: async (_service, name) => (parseId('abuseReport', name) ? name : fail('not_found')),
  abuseTemplate: async (service, name) => (await readAbuseTemplate(service, name)).id,
  flood: async (_service, name) => (parseId('flood', name) ? name : fail('not_found')),
  incident: async (_service, name) => (parseId('incident', name) ? name : fail('not_found')),
  announcement: async (_service, name) => (parseId('announcement', name) ? name : fail('not_found')),
  mailing: async (_service, name) => (parseId('mailing', name) ? name : fail('not_found')),
  legalOrder: async (_service, name) => (parseId('legalOrder', name) ? name : fail('not_found')),
  policy: async (_service, name) => (parseId('policy', name) ? name : fail('not_found')),
  maintenanceWindow: async (_service, name) =>
    parseId('maintenanceWindow', name) ? name : fail('not_found'),
  work: async (_service, name) => {
    requireWorkName(name);
    return name;
  },
  switch: async (_service, name) => (Object.hasOwn(SWITCHES, name) ? name : fail('not_found')),
};

/** Null if there is no such resource: the verb refuses the act. */
export async function findTarget(service: Deps, kind: TargetKind, name: string): Promise<string | null> {
  try {
    return await FINDERS[kind](service, name);
  } catch (error) {
    if (error instanceof OperatorError || error instanceof Failure) return null;
    throw error;
  }
}

/** Records a command on the machine about a resource, under its public id. */
export async function recordCommandOn<Result>(
  service: Pick<Service, 'db' | 'clock' | 'log'>,
  operation: StaffOperation,
  { kind, name, reason = null }: { readonly kind: TargetKind; readonly name: string; reason?: string | null },
  verb: () => Promise<Result>,
): Promise<Result> {
  const target = await findTarget(service, kind, name);
  return await recordCommand(service, { operation, target, reason }, verb);
}
