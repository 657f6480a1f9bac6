/** The front page: what is sold, how it is paid, what is known of a customer. */
import type { Coin } from '../spec/coins.ts';
import { BONUS_TIERS_USD, CYCLE_MONTHS, LIMITS } from '../spec/limits.ts';
import { DOCS_PATHS, PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Region } from '../spec/schemas/region.ts';
import { copyable, section, table, usd } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import {
  formatCycle,
  formatDiscount,
  formatDisk,
  formatMemory,
  formatTraffic,
  planLink,
  type SoldPlan,
} from './plans.ts';
import { sandboxWalkthrough } from './sandbox-walkthrough.ts';

export interface HomeData {
  readonly site: string;
  readonly baseUrl: string;
  readonly sandbox: boolean;
  /** The cheapest of each kind, cheapest first. */
  readonly plans: readonly SoldPlan[];
  readonly regions: readonly Region[];
  /** Those that this host takes. */
  readonly coins: readonly Pick<Coin, 'code' | 'network'>[];
  readonly signedIn: boolean;
  readonly rateLockMinutes: number;
  readonly graceDays: number;
}

export function homeView(data: HomeData): View {
  const { site, signedIn, baseUrl, sandbox } = data;
  return {
    title: 'Servers, paid in coins, without an identity check',
    body: html`${
      sandbox &&
      html`<div class="banner warn"><p><strong>This is a sandbox.</strong> Its coins, blocks and machines are simulated; nothing here costs or earns money.</p></div>
<details><summary>Walk through it with curl: sign up, pay with simulated coins, deploy</summary>
${sandboxWalkthrough(baseUrl)}</details>`
    }
<p>${site} rents out virtual and dedicated servers${inRegions(data.regions)}. An account is an e-mail address and a password; nothing else is
asked. You top up a balance in cryptocurrency, and servers are paid from it for 1, 3, 6 or 12 months.</p>
<p>${signedIn ? html`<a class="button" href="${PANEL_PATHS.servers}">Your servers</a>` : html`<a class="button" href="${PANEL_PATHS.signUp}">Sign up</a>`} <a class="button plain" href="${PANEL_PATHS.plans}">Plans and prices</a></p>
${plansSection(data)}
${section('How it works', HOW_IT_WORKS)}
${section('How it is paid', paymentSection(data))}
${section('What is known of you', privacySection(data))}`,
  };
}

function inRegions(regions: readonly Region[]): string {
  if (regions.length === 0) return '';
  return ` in ${new Intl.ListFormat('en', { type: 'conjunction' }).format(regions.map(({ name }) => name))}`;
}

function plansSection({ plans: cheapest }: HomeData): Html | null {
  if (cheapest.length === 0) return null;
  const longest = CYCLE_MONTHS.at(-1) ?? 12;
  return section(
    'The smallest plans',
    html`${table({
      caption: 'What the smallest plans have and cost',
      columns: [
        'Plan',
        { name: 'A month', class: 'number' },
        { name: `A month, paid for ${longest}`, class: 'number' },
        'Processors',
        'Memory',
        'NVMe disk',
        'Traffic a month',
      ],
      rows: cheapest.map((plan) => [
        planLink(plan.id),
        usd(plan.price_usd_month),
        usd(plan.prices.find(({ months }) => months === longest)?.month ?? plan.price_usd_month),
        `${plan.cpu}, ${plan.category === 'vps' ? 'virtual' : 'a machine of your own'}`,
        formatMemory(plan),
        formatDisk(plan),
        formatTraffic(plan),
      ]),
    })}
<p><a href="${PANEL_PATHS.plans}">All plans, by region and with what is in stock</a></p>`,
    'plans',
  );
}

const HOW_IT_WORKS = html`<ol>
<li><strong>Sign up</strong> with an e-mail address and a password. You are shown a recovery code once: keep it, it gets you back in.</li>
<li><strong>Top up</strong> from ${usd(Number(LIMITS.topupMinCents) / 100)}: choose a coin, and pay to an address made for you alone.</li>
<li><strong>Deploy</strong>: plan, region, image, your SSH key. The server runs a minute or two later.</li>
</ol>
<p>Everything can be done on these pages, with scripts or without, and over a <a href="${DOCS_PATHS.api}">REST API</a>.
<a href="${DOCS_PATHS.guides}/getting-started">The first server, step by step</a>.</p>`;

function paymentSection({ coins: acceptedCoins, rateLockMinutes, graceDays }: HomeData): Html {
  const coins = acceptedCoins.map(
    ({ code, network }) => html`<li><strong>${code}</strong> on ${network}</li>\n`,
  );
  return html`<p>Payment is in advance, from a balance in US dollars. Nobody can charge you more than is on it, and there are no debts.</p>
<div class="columns"><div>
<h3>Coins</h3>
${coins.length > 0 ? html`<ul>${coins}</ul>` : html`<p>None can be paid in right now.</p>`}
<p>The exchange rate is fixed for ${rateLockMinutes} minutes. What arrives is credited: also when it is less, more, in parts or late.</p>
</div><div>
<h3>Bonus</h3>
${table({
  caption: 'Bonus by amount',
  columns: [
    'Top up at least',
    { name: 'Bonus', class: 'number' },
    { name: 'On the balance', class: 'number' },
  ],
  rows: BONUS_TIERS_USD.map(([from, bonus]) => [usd(from), usd(bonus), usd(from + bonus)]),
})}
<h3>Cycles</h3>
${table({
  caption: 'Discount by cycle',
  columns: ['Cycle', { name: 'Discount', class: 'number' }],
  rows: CYCLE_MONTHS.map((months) => [formatCycle(months), formatDiscount(months)]),
})}
</div></div>
<h3>What is given back, and what is not</h3>
<ul>
<li>A server that cannot be installed, or is destroyed before it ever ran, is paid back to the balance in full.</li>
<li>A server that ran is not paid back. Stopping it does not stop its cycle.</li>
<li>The balance pays for servers and cannot be paid out. Whoever deletes the account gives it up.</li>
<li>A cycle that cannot be paid suspends the server. It resumes when the balance suffices, and is destroyed after ${graceDays} days; mails warn before.</li>
</ul>
<p><a href="${DOCS_PATHS.guides}/payments">More on payments</a></p>`;
}

const RETENTION_ROWS: readonly (readonly [what: string, howLong: string])[] = [
  ['E-mail address, a hash of the password', 'until you delete the account'],
  ['Sessions', `${LIMITS.sessionIdleHours} hours without use, ${LIMITS.sessionMaxDays} days at most`],
  ['What you changed, when, and from which country', `${LIMITS.auditRetentionDays} days`],
  ['Events and measurements of your servers', `${LIMITS.eventRetentionDays} days`],
  ['Mails that were sent', `their text goes at once; that there was one, ${LIMITS.mailRetentionDays} days`],
  ['Root passwords and user data', 'until the install is done'],
  ['Ledger and payments', 'for good; after you delete the account under a number that names nobody'],
];

function privacySection({ regions }: HomeData): Html {
  const torRegions = regions.filter((region) => region.tor_onion !== null);
  return html`<ul>
<li>No name, no telephone number, no document is asked for, at no step.</li>
<li>IP addresses of visitors are not stored, neither in the database nor in logs. Of an address only the country is noted, where something is changed.</li>
<li>These pages work without scripts and without pictures, in Tor Browser at its safest, and ask nothing of any other site.</li>
<li>Give an OpenPGP key, and every mail to you is encrypted with it. A one-time code can be asked for at each sign-in.</li>
</ul>
${table({ caption: 'What is kept, and how long', columns: ['What', 'Kept'], rows: RETENTION_ROWS })}
${
  torRegions.length > 0 &&
  html`<h3>Onion addresses</h3>
<ul>${torRegions.map((region) => html`<li><a href="${resourcePath(PANEL_PATHS.regions, region.id)}">${region.name}</a>: ${copyable(region.tor_onion ?? '')}</li>\n`)}</ul>`
}`;
}
