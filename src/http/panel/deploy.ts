/** Ordering a server, on one page: what it costs is shown before, by the same form. */
import { closedFor } from '../../domain/rules/rules.ts';
import { createServerWithPassword } from '../../domain/servers/create.ts';
import { isSoldByHand } from '../../domain/servers/hardware.ts';
import { monthlyUsd, quoteServer } from '../../domain/servers/quote.ts';
import { invalid } from '../../kernel/fail.ts';
import { type DeployData, deployView } from '../../panel/deploy.ts';
import type { View } from '../../panel/layout.ts';
import { type CycleMonths, isCycleMonths } from '../../spec/limits.ts';
import { DEPLOY_PASSWORD_PATH, DEPLOY_PATH, DEPLOY_TOTAL_PATH, serverPartPath } from '../../spec/paths.ts';
import type { Plan } from '../../spec/schemas/plan.ts';
import { type Server, ServerBody } from '../../spec/schemas/server.ts';
import { type Form, field } from '../form.ts';
import { checker } from '../v1/problems.ts';
import { allPlans, ownKeys, usableImages, userDataB64 } from './choices.ts';
import { body, lines, number, pairs, text, ticked, tickedIds } from './fields.ts';
import { allRegions } from './own-servers.ts';
import { type Done, type Look, type OwnForm, type PanelPage, restForm } from './page.ts';
import { regionIn } from './run-form.ts';

const READERS = {
  name: text,
  plan: text,
  region: text,
  image: text,
  billing_months: number,
  tags: lines,
  labels: pairs,
  auto_renew: ticked,
  user_data_b64: userDataB64,
};
const NAMES = { user_data_b64: 'user_data' };

const { ssh_keys: _, ...withoutKeys } = ServerBody.properties;
const checkWithoutKeys = checker({
  ...ServerBody,
  properties: withoutKeys,
  required: ['name', 'plan', 'region', 'image'],
});
const readWithoutKeys = body(READERS);

const done = (server: Server): Done => ({ to: serverPartPath(server.id), notice: 'server_ordered' });

const withPassword: OwnForm = {
  audit: 'server.create',
  rest: 'servers.create',
  regionOf: (form) => regionIn(readWithoutKeys(form)),
  names: NAMES,
  ownRemedy: true,
  run: async (call, keep) => {
    const order = readWithoutKeys(call.form) as Omit<ServerBody, 'ssh_keys'>;
    const items = checkWithoutKeys(order);
    if (items.length > 0) invalid(items);
    const within = (tx: unknown, made: object) => keep(tx as never, done(made as Server));
    const password = field(call.form, 'root_password');
    return done(await createServerWithPassword(call.edge.service, call.customer(), order, password, within));
  },
};

/** Changes nothing: the page again, with what was chosen and what it costs. */
const total: OwnForm = {
  audit: null,
  unkeyed: true,
  run: async ({ form }) => ({
    shown: Object.fromEntries([...form].filter(([name]) => !/^_|password/.test(name))),
  }),
};

export const DEPLOY_PAGES: readonly PanelPage[] = [
  {
    path: DEPLOY_PATH,
    access: 'customer',
    shows: ['plans.list', 'regions.list', 'images.list', 'ssh_keys.list', 'balance.get'],
    show,
    forms: {
      deploy: restForm<Server>({
        does: 'servers.create',
        // This button installs with keys alone: whoever typed a password meant the other one.
        first: ({ form }) =>
          field(form, 'root_password') === '' ? [] : [{ field: 'root_password', issue: 'invalid_value' }],
        body: body({ ...READERS, ssh_keys: tickedIds }),
        names: NAMES,
        ownRemedy: true,
        done,
      }),
    },
  },
  { path: DEPLOY_TOTAL_PATH, access: 'customer', show, forms: { deploy: total } },
  { path: DEPLOY_PASSWORD_PATH, access: 'customer', show, forms: { deploy: withPassword } },
];

async function show(look: Look): Promise<View> {
  const { service } = look;
  const given = givenTo(look);
  const [plans, regions, images, keys, rules] = await Promise.all([
    allPlans(look),
    allRegions(look),
    usableImages(look),
    ownKeys(look),
    look.edge.rules.read(),
  ]);
  const chosen = choose(given, plans);
  const quote =
    chosen.plan &&
    (await quoteServer(service, look.customer(), { plan: chosen.plan.id, months: chosen.months }));
  const data: DeployData = {
    ...{ plans, regions, images, keys, given, quote: quote ?? null },
    byHand: new Set(plans.filter((plan) => isSoldByHand(service, plan.category)).map(({ id }) => id)),
    chosen: { ...chosen, plan: chosen.plan?.id ?? null },
    monthUsd: new Map(
      plans.map(({ id, price_usd_month }) => [id, monthlyUsd(price_usd_month, chosen.months)]),
    ),
    closed: closedFor(rules, 'servers.create', service.clock.now())?.message ?? null,
    forms: look.forms,
  };
  return deployView(data);
}

/** What was typed and refused, what was typed to see its total, or what the address says. */
function givenTo({ forms, shown, query }: Look): Form {
  if (forms.refused) return forms.values;
  return shown ? new Map(Object.entries(shown.texts)) : query;
}

/** The plan, region and cycle that are marked: those given, else what can be had. */
function choose(given: Form, plans: readonly Plan[]) {
  const plan =
    plans.find(({ id }) => id === field(given, 'plan')) ??
    plans.find(({ available_in }) => available_in.length > 0) ??
    null;
  const typed = Number(field(given, 'billing_months'));
  const months: CycleMonths = isCycleMonths(typed) ? typed : 1;
  return { plan, region: field(given, 'region') || plan?.available_in[0] || '', months };
}
