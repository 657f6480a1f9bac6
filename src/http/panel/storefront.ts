/** What anybody may look at: what is sold, how the service stands, what the operator says of himself. */
import { getPlan } from '../../domain/catalogue/plans.ts';
import { getRegion } from '../../domain/catalogue/regions.ts';
import { soldIn } from '../../domain/catalogue/sold.ts';
import { listCoins } from '../../domain/topups/offer.ts';
import { type HomeData, homeView } from '../../panel/home.ts';
import { plansView, planView, type SoldPlan } from '../../panel/plans.ts';
import { regionsView, regionView } from '../../panel/regions.ts';
import { contactView, termsView } from '../../panel/site.ts';
import { type CycleMonths, isCycleMonths } from '../../spec/limits.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import { PLAN_CATEGORIES } from '../../spec/schemas/plan.ts';
import { field } from '../form.ts';
import { baseUrlOf } from './base-url.ts';
import { orderingClosed, readOffers, readRegions, soldPlan } from './offers.ts';
import type { Look, PanelPage } from './page.ts';
import { STATUS_PAGE } from './status.ts';

export const STOREFRONT_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.home, access: 'anyone', show: async (look) => homeView(await homeData(look)) },
  {
    path: PANEL_PATHS.plans,
    access: 'anyone',
    shows: ['plans.list', 'regions.list'],
    show: async (look) => {
      const category = categoryOf(field(look.query, 'category'));
      const offers = await readOffers(look.service, category === '' ? {} : { category });
      const region = field(look.query, 'region');
      return plansView({
        ...offers,
        chosen: {
          category,
          region: offers.regions.some(({ id }) => id === region) ? region : '',
          months: monthsOf(field(look.query, 'months')),
        },
        closed: await orderingClosed(look.edge),
        forms: look.forms,
      });
    },
  },
  {
    path: `${PANEL_PATHS.plans}/{id}`,
    access: 'anyone',
    shows: ['plans.get'],
    show: async ({ service, params, edge }) => {
      const plan = await getPlan(service, params.id ?? '');
      const [sold, regions] = [await soldIn(service), await readRegions(service)];
      const closed = await orderingClosed(edge);
      return planView({ plan: soldPlan(service, plan, sold.get(plan.id) ?? []), regions, closed });
    },
  },
  {
    path: PANEL_PATHS.regions,
    access: 'anyone',
    show: async ({ service }) => regionsView({ regions: await readRegions(service) }),
  },
  {
    path: `${PANEL_PATHS.regions}/{id}`,
    access: 'anyone',
    shows: ['regions.get'],
    show: async ({ service, params, edge, signedIn }) => {
      const region = await getRegion(service, params.id ?? '');
      const { plans } = await readOffers(service);
      return regionView({ region, plans, closed: await orderingClosed(edge), signedIn: signedIn !== null });
    },
  },
  STATUS_PAGE,
  {
    path: PANEL_PATHS.terms,
    access: 'anyone',
    show: ({ edge }) => termsView({ terms: edge.settings.terms }),
  },
  {
    path: PANEL_PATHS.contact,
    access: 'anyone',
    show: ({ edge }) => contactView({ contact: edge.settings.contact }),
  },
];

async function homeData(look: Look): Promise<HomeData> {
  const { service, edge } = look;
  const { plans, regions } = await readOffers(service);
  return {
    site: edge.service.settings.siteName,
    baseUrl: baseUrlOf(look),
    sandbox: service.settings.mode === 'sandbox',
    plans: PLAN_CATEGORIES.flatMap((category) =>
      cheapest(plans.filter((plan) => plan.category === category)),
    ),
    regions,
    coins: listCoins(service).filter(({ open }) => open),
    signedIn: look.signedIn !== null,
    rateLockMinutes: service.settings.rateLockMinutes,
    graceDays: service.settings.graceDays,
  };
}

function cheapest(plans: readonly SoldPlan[]): readonly SoldPlan[] {
  return [...plans].sort((one, other) => one.price_usd_month - other.price_usd_month).slice(0, 2);
}

/** Whatever the address says that there is not is passed over: an address is often an old one. */
function categoryOf(word: string): string {
  return PLAN_CATEGORIES.find((category) => category === word) ?? '';
}

function monthsOf(word: string): CycleMonths {
  const months = Number(word);
  return isCycleMonths(months) ? months : 1;
}
