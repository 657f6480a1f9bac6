/** Deploy on the session surface: SPEC "Deploy rules", checked in the order of SPEC's table. */
import { randomBytes } from 'node:crypto';
import { fail } from '../../../kernel/fail.ts';
import { base32 } from '../../../kernel/ids.ts';
import { convertCents } from '../../../kernel/money.ts';
import { CYCLE_MONTHS, type CycleMonths, isCycleMonths } from '../../../spec/limits.ts';
import { findPlan, findRegionBySessionCode } from '../../../store/catalogue/catalogue.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { findImageForOs } from '../../catalogue/offers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { baseImageProblem, requiresBaseImage } from '../../images/installable.ts';
import { eurPerUsd } from '../../rates/rates.ts';
import { deploy } from './deploy.ts';
import { hashRootPassword, requireRootPassword } from './inputs.ts';

/** The form's fields as typed; a missing one is an empty string. */
export interface DeployForm {
  readonly product: string;
  readonly plan: string;
  readonly region: string;
  readonly os: string;
  readonly billing: string;
  readonly rootPassword: string;
}

export interface SessionDeployment {
  readonly serverNo: bigint;
  /**
   * One month without discount, in euro cents, at the rate stored with the order. Displayed, never charged.
   */
  readonly monthlyEurCents: bigint;
  /** The whole cycle, with its discount. */
  readonly totalEurCents: bigint;
}

const CATEGORIES = { vps: 'vps', dedi: 'dedicated' } as const;

/** Refuses with the code of the first invalid field, then as `deploy` does. */
export async function deploySession(
  service: Service,
  actor: CustomerActor,
  form: DeployForm,
): Promise<SessionDeployment> {
  const category = Object.hasOwn(CATEGORIES, form.product)
    ? CATEGORIES[form.product as keyof typeof CATEGORIES]
    : fail('bad_product', { allowed: Object.keys(CATEGORIES) });
  const plan = await findPlan(service.db, form.plan);
  if (!plan || plan.category !== category) fail('bad_plan');
  const region = await findRegionBySessionCode(service.db, form.region);
  if (!region) fail('bad_region');
  const image = await findImageForOs(service.db, form.os, { imported: requiresBaseImage(service, category) });
  if (!image) fail('bad_os');
  const imageProblem = baseImageProblem(service, plan, image);
  if (imageProblem !== undefined) fail('bad_os', {}, imageProblem);
  const billingMonths = parseBilling(form.billing);
  requireRootPassword(form.rootPassword);
  const ordered = { plan, regionId: region.id, billingMonths };
  const rootPasswordHash = await hashRootPassword(service, actor, ordered, form.rootPassword);
  const eurRate = await eurPerUsd(service);
  const describe = (server: ServerRow): SessionDeployment => ({
    serverNo: server.public_no,
    monthlyEurCents: convertCents(server.price_cents_month, eurRate),
    totalEurCents: convertCents(server.price_cents_cycle, eurRate),
  });
  const { server: deployed } = await deploy(
    service,
    actor,
    {
      name: generateServerName(plan.id),
      plan,
      regionId: region.id,
      imageId: image.id,
      imageType: 'official',
      sshKeys: [],
      tags: [],
      labels: {},
      billingMonths,
      autoRenew: true,
      rootPasswordHash,
      userData: null,
      eurPerUsd: eurRate,
    },
    { respond: describe },
  );
  return describe(deployed);
}

function parseBilling(text: string): CycleMonths {
  const months = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return isCycleMonths(months) ? months : fail('bad_billing', { allowed: CYCLE_MONTHS });
}

/** Returns a valid host name that reveals little, such as `s1-k3m7qz`. */
export function generateServerName(planId: string): string {
  return `${planId.toLowerCase().replace(/[^a-z0-9-]/g, '')}-${base32(randomBytes(4)).slice(0, 6)}`;
}
