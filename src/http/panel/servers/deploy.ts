/** Ordering a server on one page, which shows the total first, from the same form. */
import { quote } from '../../../domain/billing/quotes/quote.ts';
import { listGroups } from '../../../domain/firewall/read.ts';
import { findClosure } from '../../../domain/rules/rules.ts';
import { monthlyUsd } from '../../../domain/servers/billing/price.ts';
import { createServerWithPassword } from '../../../domain/servers/deploy/create.ts';
import { isSoldByHand } from '../../../domain/servers/hardware.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { centsToUsd, mulDiv } from '../../../kernel/money.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { type DeployData, deployView } from '../../../panel/servers/deploy.ts';
import type { DeployQuote } from '../../../panel/servers/deploy-total.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths, isCycleMonths } from '../../../spec/limits.ts';
import { DEPLOY_PASSWORD_PATH, DEPLOY_PATH, DEPLOY_TOTAL_PATH, serverPagePath } from '../../../spec/paths.ts';
import type { Plan } from '../../../spec/schemas/plan.ts';
import { type Server, ServerBody } from '../../../spec/schemas/server.ts';
import { regionIn } from '../../admission/admission.ts';
import { type Form, field } from '../../form.ts';
import { createChecker } from '../../v1/validation.ts';
import {
  listAllPlans,
  listAllRegions,
  listDetachedVolumes,
  listNewestSnapshots,
  listOwnSshKeys,
  listUsableImages,
  readAllPages,
} from '../choices.ts';
import {
  bodyReader,
  checkedIds,
  encodeUserData,
  isChecked,
  lines,
  number,
  pairs,
  text,
} from '../field-readers.ts';
import {
  type CustomForm,
  customForm,
  type FormResult,
  type PageContext,
  type PanelPage,
  restForm,
} from '../page-types.ts';

const FIELD_READERS = {
  name: text,
  plan: text,
  region: text,
  image: text,
  billing_months: number,
  tags: lines,
  labels: pairs,
  auto_renew: isChecked,
  start: (form: Form) => (form.has('stay_off') ? false : undefined),
  backups: (form: Form) => (form.has('backups') ? { every: 'day' } : undefined),
  firewall_groups: checkedIds,
  volumes: checkedIds,
  user_data_b64: encodeUserData,
};
const FIELD_NAMES = { user_data_b64: 'user_data' };

const { ssh_keys: _, ...withoutKeys } = ServerBody.properties;
const checkWithoutKeys = createChecker({
  ...ServerBody,
  properties: withoutKeys,
  required: ['name', 'plan', 'region', 'image'],
});
const readWithoutKeys = bodyReader(FIELD_READERS);

const redirectToOrdered = (server: Server): FormResult => ({
  to: serverPagePath(server.id),
  notice: 'server_ordered',
});

const deployWithPasswordForm = customForm<Server>({
  audit: 'server.create',
  rest: 'servers.create',
  regionOf: (form) => regionIn(readWithoutKeys(form)),
  fieldNames: FIELD_NAMES,
  hasOwnRemedy: true,
  run: async (call) => {
    const order = readWithoutKeys(call.form) as Omit<ServerBody, 'ssh_keys'>;
    const items = checkWithoutKeys(order);
    if (items.length > 0) invalidRequest(items);
    const password = field(call.form, 'root_password');
    return await createServerWithPassword(call.edge.service, call.customer(), order, password);
  },
  done: redirectToOrdered,
});

/** Changes nothing: shows the page again with the choices and their total. */
const showTotalForm: CustomForm = {
  audit: null,
  rest: 'quotes.create',
  skipIdempotency: true,
  run: async ({ form }) => ({
    shown: Object.fromEntries([...form].filter(([name]) => !/^_|password/.test(name))),
  }),
};

export const DEPLOY_PAGES: readonly PanelPage[] = [
  {
    path: DEPLOY_PATH,
    access: 'customer',
    readOperations: [
      'plans.list',
      'regions.list',
      'images.list',
      'snapshots.list',
      'volumes.list',
      'ssh_keys.list',
      'balance.get',
      'firewall_groups.list',
    ],
    render,
    forms: {
      deploy: restForm<Server>({
        operation: 'servers.create',
        // This button installs with keys only. A typed password means that the other button was intended.
        validate: ({ form }) =>
          field(form, 'root_password') === '' ? [] : [{ field: 'root_password', issue: 'invalid_value' }],
        body: bodyReader({ ...FIELD_READERS, ssh_keys: checkedIds }),
        fieldNames: FIELD_NAMES,
        hasOwnRemedy: true,
        done: redirectToOrdered,
      }),
    },
  },
  { path: DEPLOY_TOTAL_PATH, access: 'customer', render, forms: { deploy: showTotalForm } },
  { path: DEPLOY_PASSWORD_PATH, access: 'customer', render, forms: { deploy: deployWithPasswordForm } },
];

async function render(context: PageContext): Promise<View> {
  const { service } = context;
  const given = formInput(context);
  const [plans, regions, images, snapshots, keys, volumes, groups, rules] = await Promise.all([
    listAllPlans(context),
    listAllRegions(context),
    listUsableImages(context),
    listNewestSnapshots(context),
    listOwnSshKeys(context),
    listDetachedVolumes(context),
    readAllPages({ sort: 'name' }, (page) => listGroups(service, context.customer(), page)),
    context.edge.rules.read(),
  ]);
  const chosen = chooseOptions(given, plans);
  const data: DeployData = {
    plans,
    regions,
    images,
    snapshots,
    keys,
    volumes,
    groups,
    given,
    quote: await quoteChoice(context, chosen),
    onRequest: new Set(plans.filter((plan) => isSoldByHand(service, plan.category)).map(({ id }) => id)),
    chosen: { ...chosen, plan: chosen.plan?.id ?? null },
    monthUsd: new Map(
      plans.map(({ id, price_usd_month }) => [id, monthlyUsd(price_usd_month, chosen.months)]),
    ),
    closed: findClosure(rules, 'servers.create', service.clock.now())?.message ?? null,
    forms: context.forms,
  };
  return deployView(data);
}

/** Quotes what is chosen so far; null before a plan is chosen. */
async function quoteChoice(
  context: PageContext,
  { plan, region, months, backups }: ReturnType<typeof chooseOptions>,
): Promise<DeployQuote | null> {
  if (!plan) return null;
  const params = {
    plan: plan.id,
    billing_months: months,
    ...(region === '' ? {} : { region }),
    ...(backups ? { backups: { every: 'day' } } : {}),
  };
  const actor = { ...context.customer(), scope: 'billing' } as const;
  const request = { operation: 'server.create', resource: null, params } as const;
  const { totalCents, balance, price, refusal } = await quote(context.service, actor, request);
  const { nowCents, afterCents, deficitCents, waiting } = balance;
  return {
    plan: plan.id,
    months,
    discountPercent: CYCLE_DISCOUNT_PERCENT[months],
    backupsUsd: centsToUsd(price?.backupCents ?? 0n),
    totalUsd: centsToUsd(totalCents),
    perMonthUsd: centsToUsd(mulDiv(totalCents, 1n, BigInt(months), 'half_up')),
    balanceUsd: centsToUsd(nowCents),
    afterUsd: centsToUsd(afterCents),
    waiting: { servers: waiting.servers, usd: centsToUsd(waiting.cents) },
    missingUsd: deficitCents > 0n ? centsToUsd(deficitCents + waiting.cents) : 0,
    problem: refusal === null || refusal.code === 'insufficient_balance' ? null : refusal.message,
  };
}

/** The rejected input, the input for the total, or the query of the URL. */
function formInput({ forms, shown, query }: PageContext): Form {
  if (forms.refused) return forms.values;
  return shown ? new Map(Object.entries(shown.texts)) : query;
}

/** Selects the plan, region, and cycle: the given ones, or else available ones. */
function chooseOptions(given: Form, plans: readonly Plan[]) {
  const plan =
    plans.find(({ id }) => id === field(given, 'plan')) ??
    plans.find(({ available_in }) => available_in.length > 0) ??
    null;
  const typed = Number(field(given, 'billing_months'));
  const months: CycleMonths = isCycleMonths(typed) ? typed : 1;
  const region = field(given, 'region') || plan?.available_in[0] || '';
  return { plan, region, months, backups: given.has('backups') };
}
