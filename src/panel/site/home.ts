/** The front page: the service, its prices, payment, and privacy. */
import { type Coin, getCoin } from '../../spec/coins.ts';
import { BONUS_TIERS_USD, CYCLE_MONTHS, LIMITS } from '../../spec/limits.ts';
import { DOCS_PATHS, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import { regionComponent } from '../../spec/public-status.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import { coinName, coinUnit } from '../money/coin-names.ts';
import { buttonLink, copyable, section, table } from '../parts/components.ts';
import { formatMonths, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import type { MeasuredComponent } from './availability.ts';
import { planCard, priceSwitch, regionCard, type SwitchMonths } from './offer-cards.ts';
import { formatDiscount, type SoldPlan } from './plans.ts';

export interface HomeData {
  readonly site: string;
  readonly baseUrl: string;
  readonly sandbox: boolean;
  /** The cheapest plans of each category, cheapest first. */
  readonly plans: readonly SoldPlan[];
  /** Of the prices on the cards. */
  readonly months: SwitchMonths;
  /** All plans, for the regions. */
  readonly allPlans: readonly SoldPlan[];
  readonly regions: readonly Region[];
  /** The latest measurements. */
  readonly components: readonly MeasuredComponent[];
  /** The coins that this host accepts. */
  readonly coins: readonly Pick<Coin, 'code' | 'network'>[];
  readonly signedIn: boolean;
  readonly rateLockMinutes: number;
  readonly graceDays: number;
}

export function homeView(data: HomeData): View {
  const { site, signedIn, baseUrl, sandbox } = data;
  return {
    title: 'Pay for servers with cryptocurrency, without an identity check',
    body: html`<div class="hero"><p>${site} rents virtual and dedicated servers${inRegions(data.regions)}. To
sign up, you only need an email address and a password. Top up a balance with cryptocurrency, and it pays for
your servers for 1, 3, 6, or 12 months at a time.</p>
<p class="row">${
      signedIn ? buttonLink('Your servers', PANEL_PATHS.servers) : buttonLink('Sign up', PANEL_PATHS.signUp)
    }${buttonLink('Plans and prices', PANEL_PATHS.plans, 'plain')}</p></div>
${
  sandbox &&
  html`<div class="banner warn"><p><strong>This is a sandbox.</strong> Coins, blocks, and servers are
simulated; nothing costs or earns real money.</p></div>
<details><summary>Try it with curl: sign up, pay with simulated coins, deploy</summary>
${sandboxWalkthrough(baseUrl)}</details>`
}
${plansSection(data)}
${regionsSection(data)}
${section('How it works', HOW_IT_WORKS)}
${section('Payment', paymentSection(data))}
${section('Privacy', privacySection(data))}`,
  };
}

function inRegions(regions: readonly Region[]): string {
  if (regions.length === 0) return '';
  return ` in ${new Intl.ListFormat('en', { type: 'conjunction' }).format(regions.map(({ name }) => name))}`;
}

function plansSection({ plans: cheapest, months }: HomeData): Html | null {
  if (cheapest.length === 0) return null;
  return section(
    'Smallest virtual and dedicated plans',
    html`${priceSwitch(months)}
<div class="cards prices">${cheapest.map((plan) => planCard(plan, months))}</div>
<p><a href="${PANEL_PATHS.plans}">All plans, regions, and availability</a></p>`,
    'plans',
  );
}

function regionsSection({ regions, allPlans, components }: HomeData): Html | null {
  if (regions.length === 0) return null;
  const measured = new Map(components.map((one) => [one.component, one]));
  const cards = regions.map((region) =>
    regionCard(region, allPlans, measured.get(regionComponent(region.id))),
  );
  return section(
    'Regions',
    html`<div class="cards prices">${cards}</div>
<p><a href="${PANEL_PATHS.status}">Status, and availability of the last 90 days</a></p>`,
  );
}

/** Such as `2`, or `2, 6 from $1,000.00`. */
function formatConfirmations(code: string): string {
  const [[, least] = [0, 1], ...steps] = [...getCoin(code).confirmations].sort(([a], [b]) => a - b);
  return [String(least), ...steps.map(([fromUsd, count]) => `${count} from ${usd(fromUsd)}`)].join(', ');
}

const HOW_IT_WORKS = html`<ol class="steps">
<li><strong>Sign up</strong> Enter an email address and a password. We show you a recovery code once. Save it
to regain access later.</li>
<li><strong>Top up</strong> Choose a coin and pay at least ${usd(Number(LIMITS.topupMinCents) / 100)} to an
address that is reserved for you.</li>
<li><strong>Deploy</strong> Choose a plan, region, image, and your SSH key. Your server is ready in a minute
or two.</li>
</ol>
<p>You can do everything in this panel, with or without JavaScript, or through the
<a href="${DOCS_PATHS.api}">REST API</a>, which has an <a href="${DOCS_PATHS.openApi}">OpenAPI document</a>.
For AI assistants, <a href="${DOCS_PATHS.llms}">llms.txt</a> lists the docs.
<a href="${DOCS_PATHS.guides}/getting-started">Deploy your first server, step by step</a>.</p>`;

function paymentSection({ coins: acceptedCoins, rateLockMinutes, graceDays }: HomeData): Html {
  const coins = acceptedCoins.map(({ code, network }) => [
    html`${coinName(code)} <span class="soft">${coinUnit(code)}</span>`,
    network,
    formatConfirmations(code),
  ]);
  return html`<p>You prepay from a balance in US dollars. We can never charge more than your balance, and
you can’t owe us money.</p>
<div class="columns"><div>
<h3>Coins</h3>
${
  coins.length > 0
    ? table({ caption: 'Coins', columns: ['Coin', 'Network', 'Confirmations'], rows: coins })
    : html`<p>No coins are accepted right now.</p>`
}
<p>The exchange rate is locked for ${rateLockMinutes} minutes. We credit what you send, even if it is less
or more than requested, split, or late.</p>
</div><div>
<h3>Bonus</h3>
${table({
  caption: 'Bonus by amount',
  columns: ['Top-up of at least', { name: 'Bonus', class: 'number' }, { name: 'Credited', class: 'number' }],
  rows: BONUS_TIERS_USD.map(([from, bonus]) => [usd(from), usd(bonus), usd(from + bonus)]),
})}
<h3>Billing cycles</h3>
${table({
  caption: 'Discount by billing cycle',
  columns: ['Billing cycle', { name: 'Discount', class: 'number' }],
  rows: CYCLE_MONTHS.map((months) => [formatMonths(months), formatDiscount(months)]),
})}
</div></div>
<h3>Refunds</h3>
<ul>
<li>If we can’t install a server, or you delete it before it has run, we refund its full price to your
balance.</li>
<li>We don’t refund servers that have run. Shutting a server down does not pause its billing cycle.</li>
<li>Your balance pays for servers and can’t be paid out. You lose it if you delete your account.</li>
<li>If your balance doesn’t cover a renewal, the server is suspended. It resumes once your balance covers
it, and is deleted after ${graceDays} days. We email you before that.</li>
</ul>
<p><a href="${DOCS_PATHS.guides}/payments">More about payments</a></p>`;
}

const RETENTION_ROWS: readonly (readonly [data: string, kept: string])[] = [
  ['Email address and password hash', 'Until you delete your account'],
  ['Sessions', `${LIMITS.sessionIdleHours} hours after the last use, ${LIMITS.sessionMaxDays} days at most`],
  ['Audit log: changes, times, and countries', `${LIMITS.auditRetentionDays} days`],
  ['Server events and metrics', `${LIMITS.eventRetentionDays} days`],
  [
    'Support tickets and their files',
    `Encrypted, ${LIMITS.ticketRetentionDays} days after the ticket closes. Tickets with no new messages ` +
      `for ${LIMITS.ticketIdleDays} days close automatically`,
  ],
  ['Emails that we sent', `The text until it is sent, a record of it for ${LIMITS.mailRetentionDays} days`],
  ['Root passwords and user data', 'Until the installation is done'],
  ['Orders that you have not placed', `${LIMITS.orderDraftDays} days, encrypted, without passwords`],
  ['Saved filters and preferences', 'Until you delete them or your account'],
  ['Ledger and payments', 'Permanently, under an anonymous number once you delete your account'],
];

function privacySection({ regions }: HomeData): Html {
  const torRegions = regions.filter((region) => region.tor_onion !== null);
  const onionLinks = torRegions.map((region) => {
    const page = resourcePath(PANEL_PATHS.regions, region.id);
    return html`<li><a href="${page}">${region.name}</a>: ${copyable(region.tor_onion ?? '')}</li>\n`;
  });
  return html`<ol class="six">
<li><strong>No identity check.</strong> We never ask for a name, a phone number, or an ID document.</li>
<li><strong>No IP addresses.</strong> We don’t store IP addresses in our database or logs. For each change
to your account, we record only the country that it came from.</li>
<li><strong>No payment provider.</strong> You pay to an address that is reserved for you. No card, bank, or
exchange account is involved on our side.</li>
<li><strong>No trackers.</strong> The panel loads nothing from other sites, and works without JavaScript and
images, in Tor Browser’s safest mode.</li>
<li><strong>No leftovers.</strong> Root passwords and user data are deleted once a server is installed, and
your personal data when you delete your account.</li>
<li><strong>Your keys.</strong> Add an OpenPGP key to encrypt all emails to you, and passkeys or one-time
codes to protect your sign-in.</li>
</ol>
<h3>Data retention</h3>
${table({ caption: 'Data retention', columns: ['Data', 'Retention'], rows: RETENTION_ROWS })}
${
  torRegions.length > 0 &&
  html`<h3>Onion addresses</h3>
<ul>${onionLinks}</ul>`
}`;
}

function sandboxWalkthrough(baseUrl: string): Html {
  return html`<p>In the panel: sign up, top up, pay to the address shown with the two commands in step 4,
then deploy.</p>
<p>1. Fetch a CSRF token and store its cookie:</p>
<pre tabindex="0"><code>CSRF=$(curl -s -c jar ${baseUrl}/csrf.php | grep -oE '[0-9a-f]{64}')</code></pre>
<p>2. Create an account. The response contains a recovery code that is shown only once. Save it.</p>
<pre tabindex="0"><code>curl -b jar -c jar ${baseUrl}/auth-api.php -d _token=$CSRF -d action=signup \\
  -d email=you@example.org -d password='a long password' -d password_confirm='a long password'</code></pre>
<p>3. Request a payment address, and check your top-up and your balance:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/topup-api.php -d _token=$CSRF -d action=create \\
  -d amount=50 -d coin=LTC
curl -b jar "${baseUrl}/topup-status.php?ref=ORDER_REF"
curl -b jar ${baseUrl}/me.php</code></pre>
<p>4. Pay to the address and mine blocks. Only a sandbox supports this:</p>
<pre tabindex="0"><code>curl ${baseUrl}/sandbox/payments \\
  --json '{"coin":"LTC","address":"ADDRESS","amount":"AMOUNT"}'
curl ${baseUrl}/sandbox/blocks --json '{"coin":"LTC","count":6}'</code></pre>
<p>5. Deploy a server. The response contains a link to its page:</p>
<pre tabindex="0"><code>curl -b jar ${baseUrl}/deploy-api.php -d _token=$CSRF -d product=vps -d plan=s1 \\
  -d region=rek -d os=debian-12 -d billing=1 -d root_password='another long one'
curl -b jar ${baseUrl}/servers</code></pre>`;
}
