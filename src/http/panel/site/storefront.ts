/** Public pages: the offers, and the operator's own texts. */
import { getPlan, getRegion, listSellingRegions } from '../../../domain/catalogue/offers.ts';
import { readAvailability } from '../../../domain/health/availability.ts';
import { readPublishedReport } from '../../../domain/staff/legal/report.ts';
import { listCoins } from '../../../domain/topups/offer.ts';
import { fail } from '../../../kernel/fail.ts';
import { type HomeData, homeView } from '../../../panel/site/home.ts';
import { SWITCH_MONTHS } from '../../../panel/site/offer-cards.ts';
import { plansView, planView, type SoldPlan } from '../../../panel/site/plans.ts';
import { regionsView, regionView } from '../../../panel/site/regions.ts';
import { contactView, privacyView, termsView } from '../../../panel/site/site.ts';
import { styleguideView } from '../../../panel/site/styleguide.ts';
import { transparencyView } from '../../../panel/site/transparency.ts';
import { type CycleMonths, isCycleMonths } from '../../../spec/limits.ts';
import { PANEL_PATHS, STYLEGUIDE_PATH } from '../../../spec/paths.ts';
import { PLAN_CATEGORIES } from '../../../spec/schemas/plan.ts';
import { resolveBaseUrl } from '../../base-url.ts';
import { field } from '../../form.ts';
import type { SitePage } from '../../settings.ts';
import { hasContact } from '../assets.ts';
import { type PageContext, type PanelPage, page } from '../page-types.ts';
import { readOffers, readOrderingClosed, readRegions, toSoldPlan } from './offers.ts';

export const STOREFRONT_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.home,
    access: 'anyone',
    render: async (context) => homeView(await loadHomeData(context)),
  },
  {
    path: PANEL_PATHS.plans,
    access: 'anyone',
    readOperations: ['plans.list', 'regions.list'],
    render: async (look) => {
      const category = parseCategory(field(look.query, 'category'));
      const offers = await readOffers(look.service, category === '' ? {} : { category });
      const region = field(look.query, 'region');
      return plansView({
        ...offers,
        chosen: {
          category,
          region: offers.regions.some(({ id }) => id === region) ? region : '',
          months: parseMonths(field(look.query, 'months')),
        },
        closed: await readOrderingClosed(look.edge),
        hasContact: hasContact(look.edge),
        forms: look.forms,
      });
    },
  },
  page({
    path: `${PANEL_PATHS.plans}/{id}`,
    access: 'anyone',
    readOperations: ['plans.get'],
    render: async ({ service, params, edge }) => {
      const plan = await getPlan(service, params.id);
      const [soldByPlan, regions] = [await listSellingRegions(service), await readRegions(service)];
      const closed = await readOrderingClosed(edge);
      const sold = toSoldPlan(service, plan, soldByPlan.get(plan.id) ?? []);
      return planView({ plan: sold, regions, closed, hasContact: hasContact(edge) });
    },
  }),
  {
    path: PANEL_PATHS.regions,
    access: 'anyone',
    render: async ({ service }) => regionsView({ regions: await readRegions(service) }),
  },
  page({
    path: `${PANEL_PATHS.regions}/{id}`,
    access: 'anyone',
    readOperations: ['regions.get'],
    render: async ({ service, params, edge, signedIn }) => {
      const region = await getRegion(service, params.id);
      const { plans } = await readOffers(service);
      return regionView({
        region,
        plans,
        closed: await readOrderingClosed(edge),
        hasContact: hasContact(edge),
        signedIn: signedIn !== null,
      });
    },
  }),
  {
    path: PANEL_PATHS.terms,
    access: 'anyone',
    redirect: ({ edge }) => urlOf(edge.settings.site.terms),
    render: ({ edge }) => termsView({ terms: textOf(edge.settings.site.terms) }),
  },
  {
    path: PANEL_PATHS.privacy,
    access: 'anyone',
    redirect: ({ edge }) => urlOf(edge.settings.site.privacy),
    render: ({ edge }) => privacyView({ privacy: textOf(edge.settings.site.privacy) }),
  },
  {
    path: PANEL_PATHS.contact,
    access: 'anyone',
    render: ({ edge }) => contactView({ contact: edge.settings.site.contact }),
  },
  {
    path: PANEL_PATHS.transparency,
    access: 'anyone',
    render: async ({ service }) => transparencyView(await readPublishedReport(service)),
  },
  {
    path: STYLEGUIDE_PATH,
    access: 'anyone',
    render: ({ service, forms }) =>
      service.settings.mode === 'sandbox' ? styleguideView(forms) : fail('not_found'),
  },
];

function urlOf(own: SitePage | null): string | null {
  return own !== null && 'url' in own ? own.url : null;
}

function textOf(own: SitePage | null): string | null {
  return own !== null && 'text' in own ? own.text : null;
}

async function loadHomeData(context: PageContext): Promise<HomeData> {
  const { service, edge } = context;
  const { plans, regions } = await readOffers(service);
  return {
    site: edge.service.settings.siteName,
    baseUrl: resolveBaseUrl(context),
    sandbox: service.settings.mode === 'sandbox',
    plans: PLAN_CATEGORIES.flatMap((category) =>
      cheapest(plans.filter((plan) => plan.category === category)),
    ),
    months: SWITCH_MONTHS.find((months) => String(months) === field(context.query, 'months')) ?? 1,
    allPlans: plans,
    regions,
    components: await readAvailability(service, { withDays: false }),
    coins: listCoins(service).filter(({ open }) => open),
    signedIn: context.signedIn !== null,
    rateLockMinutes: service.settings.rateLockMinutes,
    graceDays: service.settings.graceDays,
  };
}

function cheapest(plans: readonly SoldPlan[]): readonly SoldPlan[] {
  return [...plans].sort((a, b) => a.price_usd_month - b.price_usd_month).slice(0, 2);
}

/** Ignores an unknown category, because links are often old. */
function parseCategory(text: string): string {
  return PLAN_CATEGORIES.find((category) => category === text) ?? '';
}

function parseMonths(text: string): CycleMonths {
  const months = Number(text);
  return isCycleMonths(months) ? months : 1;
}
