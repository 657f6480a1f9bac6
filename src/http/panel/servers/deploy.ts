/** Ordering a server on one page, which shows the total first, from the same form. */
import { quote } from '../../../domain/billing/quotes/quote.ts';
import { listSellingRegions } from '../../../domain/catalogue/offers.ts';
import type { CustomerActor, Service } from '../../../domain/context.ts';
import { listGroups } from '../../../domain/firewall/read.ts';
import { findClosure } from '../../../domain/rules/rules.ts';
import { monthlyUsd } from '../../../domain/servers/billing/price.ts';
import { discardOrderDraft, findOrderDraft, saveOrderDraft } from '../../../domain/servers/deploy/drafts.ts';
import { isSoldByHand } from '../../../domain/servers/hardware.ts';
import { suggestServerName } from '../../../domain/servers/suggest-name.ts';
import { centsToUsd, mulDiv } from '../../../kernel/money.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { deployView } from '../../../panel/servers/deploy.ts';
import type { DeployData, DeployQuote } from '../../../panel/servers/deploy-data.ts';
import { DRAFT_FIELD } from '../../../panel/servers/kept-orders.ts';
import { CYCLE_DISCOUNT_PERCENT, type CycleMonths, isCycleMonths } from '../../../spec/limits.ts';
import {
  DEPLOY_PATH,
  DEPLOY_TOPUP_PATH,
  DEPLOY_TOTAL_PATH,
  ORDER_QUERY,
  PANEL_FIELDS,
  topupPath,
} from '../../../spec/paths.ts';
import type { Plan } from '../../../spec/schemas/plan.ts';
import { type Form, field } from '../../form.ts';
import {
  listAllPlans,
  listAllRegions,
  listDetachedVolumes,
  listNewestSnapshots,
  listOwnSshKeys,
  listUsableImages,
  readAllPages,
} from '../choices.ts';
import { type CustomForm, customForm, type PageContext, type PanelPage } from '../page-types.ts';
import { draftFields, keptFields, orderPath, readKeptOrders } from './order-drafts.ts';
import { deployForm } from './place-order.ts';

/** Changes nothing: shows the page again with the choices and their total. */
const showTotalForm: CustomForm = {
  audit: null,
  rest: 'quotes.create',
  skipIdempotency: true,
  run: async ({ form }) => ({
    shown: Object.fromEntries(keptFields(form)),
  }),
};

/** Keeps the order, and leads to a top-up of the missing amount. */
const topupForm: CustomForm = {
  audit: 'order_draft.save',
  rest: 'quotes.create',
  run: async ({ edge: { service }, form, customer }) => {
    const actor = customer();
    const total = await quoteChoice(service, actor, chooseOptions(form, await listAllPlans({ service })));
    const id = await saveOrderDraft(service, actor, draftFields(form), field(form, DRAFT_FIELD));
    const missing = total === null || total.missingUsd <= 0 ? null : total.missingUsd.toFixed(2);
    return { to: missing === null ? orderPath(id) : topupPath(missing) };
  },
};

const discardForm = customForm({
  audit: 'order_draft.discard',
  resource: (form) => field(form, PANEL_FIELDS.key),
  run: async ({ edge, form, customer }) => {
    await discardOrderDraft(edge.service, customer(), field(form, PANEL_FIELDS.key));
    return {};
  },
  done: () => ({ to: DEPLOY_PATH, notice: 'order_discarded' }),
});

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
    forms: { deploy: deployForm, discard: discardForm },
  },
  { path: DEPLOY_TOTAL_PATH, access: 'customer', render, forms: { deploy: showTotalForm } },
  { path: DEPLOY_TOPUP_PATH, access: 'customer', render, forms: { deploy: topupForm } },
];

async function render(context: PageContext): Promise<View> {
  const { service } = context;
  const given = await formInput(context);
  const draft = field(given, DRAFT_FIELD);
  const [plans, regions, images, snapshots, keys, volumes, groups, rules, soldIn] = await Promise.all([
    listAllPlans(context),
    listAllRegions(context),
    listUsableImages(context),
    listNewestSnapshots(context),
    listOwnSshKeys(context),
    listDetachedVolumes(context),
    readAllPages({ sort: 'name' }, (page) => listGroups(service, context.customer(), page)),
    context.edge.rules.read(),
    listSellingRegions(service),
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
    draft: draft === '' ? null : draft,
    keptOrders: draft === '' ? await readKeptOrders(context) : [],
    soldIn,
    suggestedName: given.has('name') ? '' : await suggestServerName(service, context.customer()),
    quote: await quoteChoice(service, context.customer(), chosen),
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
  service: Service,
  customer: CustomerActor,
  { plan, region, months, backups }: ReturnType<typeof chooseOptions>,
): Promise<DeployQuote | null> {
  if (!plan) return null;
  const params = {
    plan: plan.id,
    billing_months: months,
    ...(region === '' ? {} : { region }),
    ...(backups ? { backups: { every: 'day' } } : {}),
  };
  const actor = { ...customer, scope: 'billing' } as const;
  const request = { operation: 'server.create', resource: null, params } as const;
  const { totalCents, balance, price, refusal } = await quote(service, actor, request);
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

/** The fields that a link to the form fills in. */
const LINKED_FIELDS = new Set(['plan', 'region', 'billing_months', 'image', 'name', 'backups']);

/** The rejected input, the input for the total, a kept order, or the URL's query. */
async function formInput({ forms, shown, query, service, customer }: PageContext): Promise<Form> {
  if (forms.refused?.name === 'deploy') return forms.values;
  if (shown) return new Map(Object.entries(shown.texts));
  const draft = await findOrderDraft(service, customer(), field(query, ORDER_QUERY));
  if (draft) return new Map([...draft.fields, [DRAFT_FIELD, draft.id]]);
  // Anyone can write a link: it must not bring its own key or user data.
  return new Map([...query].filter(([name]) => LINKED_FIELDS.has(name)));
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
